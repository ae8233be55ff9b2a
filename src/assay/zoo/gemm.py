"""The matrix product, with a vendor's BLAS to beat where it can be beaten: few rows, small sizes, ragged edges."""

from typing import Any

import numpy as np

from assay.gate import Gate
from assay.kernel import CKernel, NumbaKernel
from assay.ops import op

Array = np.ndarray[Any, np.dtype[Any]]

SHAPES = (
    # all-MiniLM-L6-v2, encoder.layer.*.intermediate.dense: a text of 128 tokens, hidden 384 to 1536
    {"M": 128, "N": 1536, "K": 384, "T": "float32"},
    # SmolLM-135M (a Llama), model.layers.*.mlp.gate_proj while decoding: one token, hidden 576 to 1536
    {"M": 1, "N": 1536, "K": 576, "T": "float32"},
    # Whisper-tiny, decoder.layers.*.fc1: one new token in each of 5 beams, hidden 384 to 1536
    {"M": 5, "N": 1536, "K": 384, "T": "float32"},
    # ViT-B/16, encoder.layer.*.attention scores of one head: 197 tokens, 64 features; in double precision
    {"M": 197, "N": 197, "K": 64, "T": "float64"},
)


@op(
    "forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])",
    flops="2*M*N*K",
    gate=Gate(rtol={"float32": 2e-6, "float64": 5e-15}, scale="magnitude"),
    shapes=SHAPES,
)
def gemm(a: Array, b: Array) -> Array:
    """The matrix product, c = a @ b.

    The gate is relative to |a| @ |b|, the magnitude of the sums behind each element, and is 34 (float32) and 45
    (float64) units of rounding wide: any order of summation that works in blocks of some hundred products stays
    within a few.
    """
    return a @ b


@gemm.kernel(name="numpy", tier="hand-tuned")
def _numpy(a: Array, b: Array, *, c: Array) -> None:
    """The BLAS that NumPy was built with, on as many threads as it takes."""
    np.matmul(a, b, out=c)


def _blocked(  # noqa: PLR0913 - the op's arrays and sizes, then the tunables
    a: Array, b: Array, c: Array, M: int, N: int, K: int, *, DEPTH: int, STRIP: int
) -> None:
    """A block of b, DEPTH by STRIP, stays in a cache while every row of c takes it in, four rows of b at a time.

    The slices are taken outside the innermost loop, so that it has one index and is vectorised.
    """
    c[:] = 0
    for j in range(0, N, STRIP):
        wide = min(STRIP, N - j)
        for p in range(0, K, DEPTH):
            end = min(p + DEPTH, K)
            whole = p + (end - p) // 4 * 4
            for i in range(M):
                sums = c[i, j : j + wide]
                for q in range(p, whole, 4):
                    a0, a1, a2, a3 = a[i, q], a[i, q + 1], a[i, q + 2], a[i, q + 3]
                    b0, b1 = b[q, j : j + wide], b[q + 1, j : j + wide]
                    b2, b3 = b[q + 2, j : j + wide], b[q + 3, j : j + wide]
                    for s in range(wide):
                        sums[s] += (a0 * b0[s] + a1 * b1[s]) + (a2 * b2[s] + a3 * b3[s])
                for q in range(whole, end):
                    a0, b0 = a[i, q], b[q, j : j + wide]
                    for s in range(wide):
                        sums[s] += a0 * b0[s]


gemm.add(
    NumbaKernel(
        "numba",
        _blocked,
        tunables={"DEPTH": [32, 128], "STRIP": [256, 1024]},
        default={"DEPTH": 128, "STRIP": 1024},
        serves="a.contiguous and b.contiguous and c.contiguous",
    )
)

gemm.add(
    CKernel(
        "tiled",
        source="gemm_tiled.c",
        function="gemm",
        args=["a", "b", "c", "M", "N", "K", "workspace"],
        tunables={"MR": [4, 6, 8, 12], "NV": [2, 3], "KC": [128, 256, 512], "PACK": [0, 1]},
        default={"MR": 6, "NV": 2, "KC": 256, "PACK": 1},
        constraints=[
            "MR * NV >= 12",  # fewer independent sums do not cover the latency of a multiply-add
            "MR * NV + NV + 1 <= 32",  # the sums, a row of b and an element of a: all the registers there are
        ],
        flags=["-O3", "-march=native"],
        # A packed block of a (96 rows) and one of b (1024 columns, or N and a tile's padding), 512 deep at most, of
        # eight bytes an element; and room to start at a cache line.
        workspace="8*512*(96 + min(N + 48, 1024)) + 64",
        serves="a.contiguous and b.contiguous and c.contiguous",
    )
)

gemm.add(
    CKernel(
        "skinny",
        source="gemm_skinny.c",
        function="gemm",
        tunables={"UNROLL": [2, 4, 8], "STRIP": [1024, 4096]},
        default={"UNROLL": 4, "STRIP": 4096},
        flags=["-O2", "-march=native"],  # its vectors are written out: -O3 compiles three times as long for nothing
        serves="M <= 16 and a.contiguous and b.contiguous and c.contiguous",
    )
)
