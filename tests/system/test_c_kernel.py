"""Kernels in C, with the compiler this machine has: built, cached, loaded and launched."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from c_product import GEMM_C, gemm, kernel, libraries, run

from assay.errors import DeclarationError
from assay.kernel import CKernel, Place, bind
from assay.kernel.c_compiler import find_compiler
from assay.signature import check, describe, parse

Array = npt.NDArray[Any]

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")

SCALED = parse(
    "forall B: Shape; N: Dim; T: DType[float32 | float64 | int32]. "
    "(x: T[*B, N], w?: T[N], by: Float, shift: Int, on: Bool = true) -> (y: T[*B, N])"
)
TURN = parse("forall N: Dim. (mutated x: float32[N]) -> (y: float32[N])")


SCALED_C = """
#include <stdint.h>
void scale(const ASSAY_T *x, const ASSAY_T *w, ASSAY_T *y, int64_t rows, int64_t N, double by, int64_t shift, int on) {
    for (int64_t i = 0; i < rows * N; i++) y[i] = on ? by * x[i] * (w ? w[i % N] : 1) + shift : -1;
}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "kernels")


@pytest.mark.parametrize("T", ["float32", "float64"])
def test_tensors_then_sizes_are_passed_and_the_dtype_and_tunables_are_macros(place: Place, T: str) -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.random((3, 5)).astype(T), rng.random((5, 4)).astype(T), np.zeros((3, 4), T)
    assert run(kernel(), place, gemm(T=T), a, b, c) is None
    np.testing.assert_allclose(c, a @ b, rtol=1e-6)


def test_one_library_serves_every_size_and_each_setting_and_dtype_has_its_own(place: Place) -> None:
    found = kernel()
    program = found.build(found.default, gemm(), place)
    for M, N, K in ((1, 1, 1), (7, 2, 3), (0, 2, 3), (2, 3, 0)):
        a, b, c = np.full((M, K), 2.0, np.float32), np.full((K, N), 3.0, np.float32), np.zeros((M, N), np.float32)
        program.launcher(gemm(M, N, K))(a, b, c)
        assert (c == 6 * K).all()
        assert found.identity(found.default, gemm(M, N, K), place) == program.identity
    assert len(libraries(place)) == 1
    others = [
        found.build(found.setting({"TILE": 16}), gemm(), place),
        found.build(found.default, gemm(T="float64"), place),
    ]
    assert len(libraries(place)) == 3
    assert len({program.identity, *(other.identity for other in others)}) == 3


def test_scalars_shapes_strides_and_absent_inputs_are_passed(place: Place) -> None:
    args = ["x", "w", "y", "B", "N", "by", "shift", "on"]
    found = CKernel("scale", SCALED_C, "scale", args=args).for_signature(SCALED)
    x, y = np.arange(12, dtype=np.float64).reshape(2, 3, 2), np.zeros((2, 3, 2))
    w, on, off = np.array([1.0, 10.0]), True, False
    for weight in (None, w):
        call = check(
            SCALED,
            "scale",
            {"x": x, "w": weight, "by": 0.5, "shift": 3} if weight is not None else {"x": x, "by": 0.5, "shift": 3},
        )
        launch = found.build(found.default, call, place).launcher(call)
        launch(x, weight, 0.5, 3, on, y)
        np.testing.assert_array_equal(y, 0.5 * x * (1 if weight is None else w) + 3)
        launch(x, weight, 0.5, 3, off, y)
        assert (y == -1).all()


def test_strided_arrays_are_passed_by_their_first_element_with_the_strides_asked_for(place: Place) -> None:
    source = """
    #include <stdint.h>
    void copy(const ASSAY_T *a, int64_t s0, int64_t s1, ASSAY_T *c, int64_t t0, int64_t t1, int64_t M, int64_t N) {
        for (int64_t i = 0; i < M; i++) for (int64_t j = 0; j < N; j++) c[i * t0 + j * t1] = a[i * s0 + j * s1];
    }
    """
    signature = parse("forall M, N: Dim; T: DType[float32 | float64]. (a: T[M, N]) -> (c: T[M, N])")
    args = ["a", "a.stride[0]", "a.stride[1]", "c", "c.stride[0]", "c.stride[1]", "M", "N"]
    found = CKernel("copy", source, "copy", args=args).for_signature(signature)
    whole = np.arange(60.0).reshape(6, 10)
    for a in (whole, whole.T, whole[::2, ::3], whole[::-1, 1:], whole[:, 3].reshape(6, 1)):
        out = np.zeros((a.shape[0] * 2, a.shape[1] * 2))[::2, 1::2]
        call = check(signature, "copy", {"a": a, "c": out})
        program = found.build(found.default, call, place)
        program.launcher(call)(a, out)
        np.testing.assert_array_equal(out, a)
        out[...] = 0
        bind(program, call, (a,), (out,))()
        np.testing.assert_array_equal(out, a)
    assert len(libraries(place)) == 1


def test_a_bound_launch_keeps_its_arrays_and_its_library(place: Place) -> None:
    found = kernel()
    c = np.zeros((3, 4), np.float32)
    bound = bind(
        found.build(found.default, gemm(), place),
        gemm(),
        (np.full((3, 5), 2.0, np.float32), np.full((5, 4), 3.0, np.float32)),
        (c,),
    )
    assert bound() is None
    assert (c == 30).all()


@pytest.mark.spec("A8")
def test_a_nonzero_status_declines(place: Place) -> None:
    source = "int f(const float *x, float *y, long N) { if (N > 4) return 7; y[0] = x[0]; return 0; }"
    signature = parse("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    found = CKernel("picky", source, "f", returns="status").for_signature(signature)
    for size, answer in ((4, None), (5, NotImplemented)):
        x, y = np.ones(size, np.float32), np.zeros(size, np.float32)
        call = check(signature, "picky", {"x": x, "y": y})
        program = found.build(found.default, call, place)
        assert program.launcher(call)(x, y) is answer
        assert bind(program, call, (x,), (y,))() is answer
        assert y[0] == (answer is None)


def test_read_only_arrays_are_read_and_never_written(place: Place) -> None:
    found = CKernel("turn", "void f(float *x, float *y) { x[0] = 5; y[0] = 6; }", "f", args=["x", "y"])
    found = found.for_signature(TURN)
    x, y = np.zeros(2, np.float32), np.zeros(2, np.float32)
    call = check(TURN, "turn", {"x": x, "y": y})
    launch = found.build(found.default, call, place).launcher(call)
    for held in (x, y):
        held.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            launch(x, y)
        assert not x.any()
        assert not y.any()
        held.flags.writeable = True
    launch(x, y)
    assert (x[0], y[0]) == (5, 6)
    a = np.ones((3, 5), np.float32)
    a.flags.writeable = False
    c = np.zeros((3, 4), np.float32)
    run(kernel(), place, gemm(), a, np.ones((5, 4), np.float32), c)
    assert (c == 5).all()


def test_each_thread_has_scratch_memory_of_its_own(place: Place) -> None:
    source = """
    #include <stdint.h>
    void f(const double *x, double *y, int64_t N, void *workspace) {
        double *own = workspace;
        for (int round = 0; round < 200; round++) {
            for (int64_t i = 0; i < N; i++) own[i] = x[i];
            for (int64_t i = 0; i < N; i++) y[i] = own[i];
        }
        y[0] += 0 * ((uintptr_t)workspace % 64 != 0) + ((uintptr_t)workspace % 64 != 0);
    }
    """
    signature = parse("forall N: Dim. (x: float64[N]) -> (y: float64[N])")
    found = CKernel("f", source, "f", workspace="8 * N", flags=["-O1"]).for_signature(signature)
    assert str(found.args[-1] if found.args else "") == "workspace"
    wrong: list[int] = []

    def work(number: int) -> None:
        for size in (10, 5000, 100):
            x, y = np.full(size, float(number)), np.zeros(size)
            call = check(signature, "f", {"x": x, "y": y})
            program.launcher(call)(x, y)
            bind(program, call, (x,), (y,))()
            if not (y == number).all():
                wrong.append(number)

    program = found.build(found.default, describe(signature, "f", {"N": 10}), place)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_path_is_relative_to_the_file_that_declares_the_kernel() -> None:
    with pytest.raises(DeclarationError, match=str(Path(__file__).parent / "nowhere.c")):
        CKernel("k", "nowhere.c", "f")


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"args": ["a", "b", "c", "Q"]}, "reads Q, which its op does not declare"),
        ({"args": ["a", "q.stride[0]"]}, "reads q, which its op does not declare"),
        ({"args": ["a", "workspace"]}, "names workspace in args or gives its size, not both"),
        ({"args": ["a"], "workspace": "4*M"}, "names workspace in args or gives its size, not both"),
        ({"workspace": "4*Q"}, "reads Q"),
        ({"returns": "int"}, "returns 'int'; expected 'void' or 'status'"),
    ],
)
def test_what_a_c_kernel_cannot_be_is_refused(declared: dict[str, Any], said: str) -> None:
    with pytest.raises(DeclarationError, match=said):
        kernel(**declared)


def test_arguments_left_to_the_op_must_be_settled_by_it(place: Place) -> None:
    with pytest.raises(DeclarationError, match="its arguments are settled by the op it is added to"):
        CKernel("tiled", GEMM_C, "gemm", tunables={"TILE": [8]}).build(kernel().default, gemm(), place)
