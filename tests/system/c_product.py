"""A matrix product in C, what the tests of C kernels build, and where they build it."""

from pathlib import Path
from typing import Any

from assay.kernel import CKernel, Kernel, Place
from assay.signature import Call, describe, parse

GEMM = parse("forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])")
GEMM_C = """
#include <stdint.h>
void gemm(const ASSAY_T *a, const ASSAY_T *b, ASSAY_T *c, int64_t M, int64_t N, int64_t K) {
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            ASSAY_T sum = 0;
            for (int64_t k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            c[i * N + j] = sum;
        }
    (void)sizeof(char[TILE]);
}
"""


def gemm(M: int = 3, N: int = 4, K: int = 5, T: str = "float32") -> Call:
    return describe(GEMM, "gemm", {"M": M, "N": N, "K": K, "T": T})


def kernel(source: str | Path = GEMM_C, function: str = "gemm", **declared: Any) -> CKernel:  # noqa: ANN401
    declared = {"tunables": {"TILE": [8, 16]}, "flags": ["-O2"], **declared}
    return CKernel("tiled", source, function, **declared).for_signature(GEMM)


def libraries(place: Place) -> list[Path]:
    return sorted(place.folder.glob("*.so"))


def run(found: Kernel, place: Place, call: Call, *arrays: object) -> object:
    return found.build(found.default, call, place).launcher(call)(*arrays)
