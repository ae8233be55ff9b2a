"""Ops the tests of this folder call: small ones with Python kernels, fresh for each test."""

from typing import Any

import numpy as np
import numpy.typing as npt

import assay
from assay.ops import Op, dispatch

Array = npt.NDArray[Any]

GEMM = "forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])"


def bare_gemm() -> Op:
    """A matrix product without kernels."""

    @assay.op(GEMM, flops="2*M*N*K")
    def gemm(a: Array, b: Array) -> Array:
        return a @ b

    return gemm


def two_kernel_gemm() -> Op:
    """A matrix product with a general kernel, and a better one that serves multiples of 16 rows."""
    gemm = bare_gemm()

    @gemm.kernel
    def general(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    @gemm.kernel(tunables={"tile": [16, 32]}, default={"tile": 32}, serves="M % 16 == 0", tier="hand-tuned")
    def blocked(a: Array, b: Array, *, c: Array, tile: int) -> None:
        for row in range(0, a.shape[0], tile):
            np.matmul(a[row : row + tile], b, out=c[row : row + tile])

    return gemm


def matrices(rows: int, inner: int, columns: int, dtype: str = "float32") -> tuple[Array, Array]:
    """Two seeded matrices that can be multiplied."""
    rng = np.random.default_rng(rows)
    return rng.standard_normal((rows, inner)).astype(dtype), rng.standard_normal((inner, columns)).astype(dtype)


def counted(op: Op) -> dict[str, int]:
    """The op's calls by outcome, those that happened."""
    return {name: count for name, count in dispatch.histogram(op=op.name).get(("cpu", op.name), {}).items() if count}
