"""What every frontend's kernels and programs keep to, shown on one product."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
import numpy.typing as npt
import pytest

from assay.kernel import CKernel, Kernel, NumbaKernel, Place, PythonKernel, bind
from assay.kernel.c_compiler import find_compiler
from assay.signature import Call, describe, parse

Array = npt.NDArray[Any]

PRODUCT = parse("forall M, N: Dim; T: DType[float32 | float64]. (x: T[M, N], by: Float) -> (y: T[M, N])")

PRODUCT_C = """
#include <stdint.h>
void product(const ASSAY_T *x, ASSAY_T *y, double by, int64_t count) {
    for (int64_t i = 0; i < count; i += STEP)
        for (int64_t j = i; j < count && j < i + STEP; j++) y[j] = by * x[j];
}
"""


def in_python(x: Array, by: float, *, y: Array, STEP: int) -> None:
    for i in range(0, len(x), STEP):
        np.multiply(x[i : i + STEP], by, out=y[i : i + STEP])


def in_numba(x: Array, y: Array, by: float, M: int, *, STEP: int) -> None:
    for i in range(0, M, STEP):
        for k in range(i, min(i + STEP, M)):
            for j in range(x.shape[1]):
                y[k, j] = by * x[k, j]


def python_kernel() -> Kernel:
    return PythonKernel(in_python, tunables={"STEP": [1, 2]})


def numba_kernel() -> Kernel:
    pytest.importorskip("numba")
    return NumbaKernel("numba", in_numba, args=["x", "y", "by", "M"], tunables={"STEP": [1, 2]})


def c_kernel() -> Kernel:
    if find_compiler() is None:
        pytest.skip("no C compiler on this machine")
    return CKernel("c", PRODUCT_C, "product", args=["x", "y", "by", "M * N"], tunables={"STEP": [1, 2]})


KERNELS: dict[type[Kernel], Callable[[], Kernel]] = {
    PythonKernel: python_kernel,
    NumbaKernel: numba_kernel,
    CKernel: c_kernel,
}


def test_every_frontend_is_shown_here() -> None:
    assert set(KERNELS) == set(Kernel.__subclasses__())
    assert sorted(kind.frontend for kind in KERNELS) == ["c", "numba", "python"]


@pytest.fixture(params=KERNELS.values(), ids=[kind.frontend for kind in KERNELS])
def kernel(request: pytest.FixtureRequest) -> Kernel:
    return request.param().for_signature(PRODUCT)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "kernels")


def product(M: int = 3, N: int = 2, T: str = "float64") -> Call:
    return describe(PRODUCT, "product", {"M": M, "N": N, "T": T, "by": 0.5})


@pytest.mark.parametrize("T", ["float32", "float64"])
def test_a_launch_takes_inputs_then_outputs_of_any_arrays_of_its_layout(kernel: Kernel, place: Place, T: str) -> None:
    launch = kernel.build(kernel.default, product(T=T), place).launcher(product(T=T))
    for by in (0.5, 4.0):
        x, y = np.arange(6.0).reshape(3, 2).astype(T), np.full((3, 2), np.nan, T)
        assert launch(x, by, y) is None
        np.testing.assert_array_equal(y, by * x)


def test_a_bound_launch_runs_on_the_arrays_it_was_given(kernel: Kernel, place: Place) -> None:
    x, y = np.arange(6.0).reshape(3, 2), np.zeros((3, 2))
    run = bind(kernel.build(kernel.default, product(), place), product(), (x, 0.5), (y,))
    for start in (0, 1):
        x += start
        assert run() is None
        np.testing.assert_array_equal(y, 0.5 * x)


def test_one_program_serves_every_size(kernel: Kernel, place: Place) -> None:
    program = kernel.build(kernel.default, product(), place)
    for M, N in ((1, 1), (5, 4), (0, 3)):
        x, y = np.ones((M, N)), np.zeros((M, N))
        program.launcher(product(M, N))(x, 0.5, y)
        assert (y == 0.5).all()
        assert kernel.identity(kernel.default, product(M, N), place) == program.identity


def test_the_identity_is_known_before_the_build_and_differs_between_settings(kernel: Kernel, place: Place) -> None:
    identities = {kernel.identity(setting, product(), place): setting for setting in kernel.space(product().facts({}))}
    assert len(identities) == 2
    assert not place.folder.exists()
    for identity, setting in identities.items():
        assert kernel.build(setting, product(), place).identity == identity


def test_a_kernel_sent_to_another_process_is_the_same_kernel(kernel: Kernel, place: Place) -> None:
    kernel.build(kernel.default, product(), place)
    pickler: Any = cloudpickle
    sent: Kernel = pickler.loads(pickler.dumps(kernel))
    assert sent is not kernel
    assert (sent.name, sent.tunables, sent.default) == (kernel.name, kernel.tunables, kernel.default)
    assert sent.identity(sent.default, product(), place) == kernel.identity(kernel.default, product(), place)
