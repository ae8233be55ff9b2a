"""Kernels in Numba: compiled when they are built, once, for one setting and one set of types."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from assay.errors import BuildError, DeclarationError
from assay.kernel import NumbaKernel, Place, bind
from assay.signature import Call, check, describe, parse

numba: Any = pytest.importorskip("numba")
Array = npt.NDArray[Any]

GEMM = parse("forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])")
FILL = parse("forall N: Dim. (mutated x: float64[N], w?: float64[N], by: Float, on: Bool) -> (y: float64[N])")


def product(a: Array, b: Array, c: Array, M: int, N: int, K: int, *, step: int) -> None:  # noqa: PLR0913  # the default arguments
    for i in range(M):
        for j in range(N):
            c[i, j] = 0
        for k in range(0, K, step):
            for u in range(k, min(k + step, K)):
                for j in range(N):
                    c[i, j] += a[i, u] * b[u, j]


def constant(c: Array, which: int, row: bool) -> None:  # noqa: FBT001  # tunables may be positional
    if which == 1:
        c[0, 0] = 10
    else:
        c[0, 0] = 20
    if row:
        c[0, 0] += which


@pytest.fixture
def place(own_folders: Any) -> Place:  # noqa: ANN401
    return Place(own_folders / "kernels")


def kernel(fn: Callable[..., object] = product, **declared: Any) -> NumbaKernel:  # noqa: ANN401
    declared = {"tunables": {"step": [2, 4]}, **declared}
    return NumbaKernel("loops", fn, **declared).for_signature(GEMM)


def gemm(M: int = 3, N: int = 4, K: int = 5, T: str = "float32") -> Call:
    return describe(GEMM, "gemm", {"M": M, "N": N, "K": K, "T": T})


@pytest.mark.parametrize("T", ["float32", "float64"])
def test_tensors_then_sizes_are_passed_and_any_dtype_is_compiled_for(place: Place, T: str) -> None:
    found = kernel()
    rng = np.random.default_rng(0)
    a, b, c = rng.random((3, 5)).astype(T), rng.random((5, 4)).astype(T), np.zeros((3, 4), T)
    program = found.build(found.default, gemm(T=T), place)
    assert program.launcher(gemm(T=T))(a, b, c) is None
    np.testing.assert_allclose(c, a @ b, rtol=1e-6)
    c[...] = 0
    assert bind(program, gemm(T=T), (a, b), (c,))() is None
    np.testing.assert_allclose(c, a @ b, rtol=1e-6)


def test_tunables_are_constants_of_their_setting_by_name_in_any_order(place: Place) -> None:
    found = kernel(constant, args=["c"], tunables={"row": [False, True], "which": [1, 2]})
    c = np.zeros((3, 4), np.float32)
    seen: list[float] = []
    for setting in found.space(gemm().facts({})):
        program = found.build(setting, gemm(), place)
        program.launcher(gemm())(np.ones((3, 5), np.float32), np.ones((5, 4), np.float32), c)
        seen.append(float(c[0, 0]))
        text = "\n".join(cast("Any", program.entry.dispatcher).inspect_llvm().values())
        # The value that is stored was settled when the code was compiled: the others are not in it.
        others = {10.0, 20.0, 11.0, 22.0} - {seen[-1]}
        assert _float32_text(seen[-1]) in text
        assert not any(_float32_text(other) in text for other in others)
    assert seen == [10, 20, 11, 22]


def test_equal_builds_are_compiled_once_and_launches_compile_nothing(place: Place) -> None:
    def own(a: Array, b: Array, c: Array, *, step: int) -> None:
        c[0, 0] = a[0, 0] * b[0, 0] * step

    found = kernel(own, args=["a", "b", "c"])
    first = found.build(found.default, gemm(), place)
    dispatcher = cast("Any", first.entry.dispatcher)
    assert len(dispatcher.overloads) == 1
    for size in (1, 7):
        one, c = np.ones((size, size), np.float32), np.zeros((size, size), np.float32)
        call = gemm(size, size, size)
        again = found.build(found.default, call, place)
        assert again.identity == first.identity == found.identity(found.default, call, place)
        assert again.entry is first.entry
        again.launcher(call)(one, one, c)
        assert c[0, 0] == 2
    assert len(dispatcher.overloads) == 1
    assert found.build(found.setting({"step": 4}), gemm(), place).entry is not first.entry
    assert found.build(found.default, gemm(T="float64"), place).entry is not first.entry


def test_layouts_are_types_of_their_own(place: Place) -> None:
    found = kernel()
    wide = np.arange(30.0).reshape(5, 6)
    b, c = np.arange(20.0).reshape(5, 4), np.zeros((3, 4))
    identities: set[str] = set()
    for a in (np.arange(15.0).reshape(3, 5), np.arange(15.0).reshape(5, 3).T, wide.T[::2], wide.T[::-2]):
        call = check(GEMM, "gemm", {"a": a, "b": b, "c": c})
        program = found.build(found.default, call, place)
        identities.add(program.identity)
        program.launcher(call)(a, b, c)
        np.testing.assert_allclose(c, a @ b)
    assert len(identities) == 3  # C, F, and one for all other strides


def test_scalars_and_absent_inputs_are_passed(place: Place) -> None:
    def fill(x: Array, w: Array | None, by: float, on: bool, y: Array, N: int) -> None:  # noqa: FBT001
        for i in range(N):
            weight = 1.0
            if w is not None:
                weight = w[i]
            y[i] = by * weight if on else x[i]
            x[i] = -1.0

    found = NumbaKernel("fill", fill, args=["x", "w", "by", "on", "y", "N"]).for_signature(FILL)
    w, on, off = np.array([1.0, 2.0]), True, False
    for weight in (None, w):
        x, y = np.array([7.0, 8.0]), np.zeros(2)
        given = {"x": x, "by": 0.5, "on": True} | ({} if weight is None else {"w": weight})
        call = check(FILL, "fill", given)
        launch = found.build(found.default, call, place).launcher(call)
        launch(x, weight, 0.5, on, y)
        assert y.tolist() == ([0.5, 0.5] if weight is None else [0.5, 1.0])
        assert x.tolist() == [-1, -1]
        launch(x, weight, 3, off, y)
        assert y.tolist() == [-1, -1]


def test_read_only_arrays_are_read_and_never_written(place: Place) -> None:
    found = kernel()
    a, b, c = np.ones((3, 5), np.float32), np.ones((5, 4), np.float32), np.zeros((3, 4), np.float32)
    call = check(GEMM, "gemm", {"a": a, "b": b, "c": c})
    launch = found.build(found.default, call, place).launcher(call)
    c.flags.writeable = False
    with pytest.raises(ValueError, match=r"loops\[step=2\]: an array it writes is read-only"):
        launch(a, b, c)
    assert not c.any()
    c.flags.writeable = True
    a.flags.writeable = False
    launch(a, b, c)
    assert (c == 5).all()


@pytest.mark.spec("M14")
def test_what_does_not_compile_carries_numbas_message(place: Place) -> None:
    def wrong(c: Any) -> None:  # noqa: ANN401
        c.no_such_thing()

    found = kernel(wrong, tunables={}, args=["c"])
    with pytest.raises(BuildError) as caught:
        found.build(found.default, gemm(), place)
    said = str(caught.value)
    assert said.startswith("loops: does not compile: TypingError")
    assert "no_such_thing" in said


def test_a_function_that_returns_its_result_is_told_to_write_it(place: Place) -> None:
    def wrong(a: Array, b: Array) -> Array:
        return a

    found = kernel(wrong, tunables={}, args=["a", "b"])
    with pytest.raises(BuildError, match=r"returns array\(float32, 2d, C\); a kernel returns nothing; write into"):
        found.build(found.default, gemm(), place)


def test_the_build_identity_follows_the_body_the_setting_the_types_and_the_options(place: Place) -> None:
    def other(a: Array, b: Array, c: Array, *, step: int) -> None:
        c[0, 0] = step

    default, four = {"step": 2}, {"step": 4}
    builds = [
        (kernel(), default, gemm()),
        (kernel(), four, gemm()),
        (kernel(), default, gemm(T="float64")),
        (kernel(other, args=["a", "b", "c"]), default, gemm()),
        (kernel(fastmath=True), default, gemm()),
        (kernel(parallel=True), default, gemm()),
    ]
    assert len({one.identity(one.setting(given), call, place) for one, given, call in builds}) == len(builds)
    dispatcher = kernel(numba.njit(product))
    assert dispatcher.identity(dispatcher.default, gemm(), place) == kernel().identity(
        dispatcher.default, gemm(7), place
    )


@pytest.mark.parametrize(
    ("fn", "declared", "said"),
    [
        (product, {"tunables": {"tile": [1]}}, "its last parameters are step; expected its tunables tile"),
        (product, {"tunables": {}}, "product takes 7 arguments before its tunables, and is passed 6"),
        (product, {"args": ["a", "b", "c"]}, "product takes 6 arguments before its tunables, and is passed 3"),
        (product, {"args": ["a", "b", "c", "M", "N", "workspace"]}, "reads workspace"),
        (np.matmul, {"tunables": {}}, "is not a Python function"),
    ],
)
def test_what_a_numba_kernel_cannot_be_is_refused(
    fn: Callable[..., object], declared: dict[str, Any], said: str
) -> None:
    with pytest.raises(DeclarationError, match=said):
        kernel(fn, **declared)


def _float32_text(value: float) -> str:
    """A float32 constant as LLVM's text has it: ``float 1.000000e+01``."""
    return f"float {value:e}"
