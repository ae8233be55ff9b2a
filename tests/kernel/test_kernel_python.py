"""Kernels that are Python callables."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from assay.errors import DeclarationError
from assay.kernel import Place, PythonKernel, bind
from assay.signature import Call, describe, parse

Array = npt.NDArray[Any]

GEMM = parse("forall M, N, K: Dim; T: DType[float32]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])")
NORM = parse("forall N: Dim. (mutated x: float64[N], w?: float64[N], eps: Float) -> (inv: float64[], top: float64[])")


@pytest.fixture
def place(own_folders: Any) -> Place:  # noqa: ANN401
    return Place(own_folders / "kernels")


def product(a: Array, b: Array, *, c: Array) -> Array:
    return np.matmul(a, b, out=c)


def gemm(M: int, N: int, K: int) -> Call:
    return describe(GEMM, "gemm", {"M": M, "N": N, "K": K})


def test_inputs_go_by_position_and_outputs_and_tunables_by_name(place: Place) -> None:
    seen: list[tuple[object, ...]] = []

    def norm(x: Array, w: Array | None, eps: float, *, top: Array, inv: Array, unroll: int) -> None:
        seen.append((x, w, eps, inv, top, unroll))
        inv[...] = eps

    kernel = PythonKernel(norm, tunables={"unroll": [2, 4]}, default={"unroll": 4})
    call = describe(NORM, "norm", {"N": 3, "eps": 0.5})
    launch = kernel.build(kernel.default, call, place).launcher(call)
    x, inv, top = np.arange(3.0), np.zeros(()), np.zeros(())
    assert launch(x, None, 0.5, inv, top) is None
    ((got_x, got_w, got_eps, got_inv, got_top, unroll),) = seen
    assert got_x is x
    assert (got_w, got_eps, unroll) == (None, 0.5, 4)
    assert got_inv is inv
    assert got_top is top
    assert inv == 0.5


def test_a_kernel_is_named_as_its_function_unless_told(place: Place) -> None:
    def blocked(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    assert PythonKernel(blocked).name == "blocked"
    assert PythonKernel(blocked, "other").name == "other"
    assert PythonKernel(np.matmul).name == "matmul"
    assert place.folder.name == "kernels"


@pytest.mark.spec("A8")
def test_declining_is_handed_on(place: Place) -> None:
    def picky(a: Array, b: Array, *, c: Array) -> object:
        if a.shape[0] > 2:
            return NotImplemented
        return np.matmul(a, b, out=c)

    kernel = PythonKernel(picky)
    for M, answer in ((2, None), (3, NotImplemented)):
        call = gemm(M, 2, 2)
        a, b, c = np.ones((M, 2), np.float32), np.ones((2, 2), np.float32), np.zeros((M, 2), np.float32)
        assert kernel.build(kernel.default, call, place).launcher(call)(a, b, c) is answer
        assert (c == 2).all() == (answer is None)


def test_a_kernel_that_returns_its_result_is_told_to_write_it(place: Place) -> None:
    def wrong(a: Array, b: Array, *, c: Array, tile: int) -> Array:
        return a @ b

    kernel = PythonKernel(wrong, tunables={"tile": [8]})
    call = gemm(2, 2, 2)
    launch = kernel.build(kernel.default, call, place).launcher(call)
    one = np.ones((2, 2), np.float32)
    with pytest.raises(DeclarationError, match=r"^wrong\[tile=8\]: returned an? ndarray; .*; write into c$"):
        launch(one, one, np.empty((2, 2), np.float32))


def test_a_bound_launch_runs_on_the_arrays_it_was_given(place: Place) -> None:
    kernel = PythonKernel(product)
    call = gemm(2, 3, 4)
    a, b, c = np.ones((2, 4), np.float32), np.ones((4, 3), np.float32), np.zeros((2, 3), np.float32)
    run = bind(kernel.build(kernel.default, call, place), call, (a, b), (c,))
    assert run() is None
    assert (c == 4).all()


def test_the_build_identity_follows_the_body_and_the_setting_and_not_the_sizes(place: Place) -> None:
    def kernel(text: str) -> PythonKernel:
        namespace: dict[str, Any] = {"np": np}
        exec(text, namespace)  # noqa: S102  # each text is one version of a kernel's file
        return PythonKernel(namespace["k"], "k", tunables={"tile": [8, 16]})

    body = "def k(a, b, *, c, tile):\n    np.matmul(a, b, out=c)\n"
    first = kernel(body)
    identity = first.identity(first.default, gemm(2, 3, 4), place)
    assert first.build(first.default, gemm(2, 3, 4), place).identity == identity
    assert first.identity(first.default, gemm(5, 6, 7), place) == identity
    moved = kernel("\n\n# a comment\n" + body)
    assert moved.identity(moved.default, gemm(2, 3, 4), place) == identity
    edited = kernel(body.replace("matmul", "dot"))
    assert edited.identity(edited.default, gemm(2, 3, 4), place) != identity
    assert first.identity(first.setting({"tile": 16}), gemm(2, 3, 4), place) != identity


def takes_no_output(a: Array, b: Array, *, tile: int) -> None:
    del a, b, tile


def takes_no_tunable(a: Array, b: Array, *, c: Array) -> None:
    del a, b, c


def takes_one_input(a: Array, *, c: Array, tile: int) -> None:
    del a, c, tile


def takes_another_output(a: Array, b: Array, *, d: Array, tile: int) -> None:
    del a, b, d, tile


@pytest.mark.parametrize("function", [takes_no_output, takes_no_tunable, takes_one_input, takes_another_output])
def test_a_function_that_does_not_take_what_it_is_called_with_is_refused_when_declared(
    function: Callable[..., object],
) -> None:
    kernel = PythonKernel(function, "k", tunables={"tile": [1, 2]})
    with pytest.raises(DeclarationError, match=r"k: its function is called as \(a, b, c=, tile=\) and takes"):
        kernel.for_signature(GEMM)
