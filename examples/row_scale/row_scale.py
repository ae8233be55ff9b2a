"""Every row scaled and shifted: a NumPy kernel, a Numba kernel, and a C kernel whose source lies beside this file.

Tune it with `assay tune examples/row_scale/row_scale.py --shape M=256,N=1000,T=float32`; without `--shape` the shapes
declared here are tuned.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import assay

Array = NDArray[Any]


@assay.op(
    "forall M, N: Dim; T: DType[float32 | float64]. (x: T[M, N], scale: T[M], shift: T[M]) -> (y: T[M, N])",
    flops="2*M*N",
    shapes=[{"M": 64, "N": 1000, "T": "float32"}, {"M": 4, "N": 30_000, "T": "float64"}],
)
def row_scale(x: Array, scale: Array, shift: Array) -> Array:
    """The reference: what is right."""
    return x * scale[:, None] + shift[:, None]


@row_scale.kernel(name="numpy")
def two_passes(x: Array, scale: Array, shift: Array, *, y: Array) -> None:
    """NumPy's way, without a temporary."""
    np.multiply(x, scale[:, None], out=y)
    np.add(y, shift[:, None], out=y)


def loops(x: Array, scale: Array, shift: Array, y: Array, *, BLOCK: int) -> None:
    """For Numba: what `args` names, then the tunables."""
    M, N = x.shape
    for start in range(0, N, BLOCK):
        for i in range(M):
            for j in range(start, min(start + BLOCK, N)):
                y[i, j] = x[i, j] * scale[i] + shift[i]


row_scale.add(assay.NumbaKernel("numba", loops, args=["x", "scale", "shift", "y"], tunables={"BLOCK": [1024, 8192]}))

row_scale.add(
    assay.CKernel(
        "vectors",
        source="row_scale.c",
        function="row_scale",
        tunables={"WIDTH": [16, 32, 64], "UNROLL": [1, 2, 4]},
        default={"WIDTH": 32, "UNROLL": 2},
        constraints=["WIDTH * UNROLL <= 128"],
        flags=["-O3", "-march=native"],
        serves="x.contiguous and scale.contiguous and shift.contiguous and y.contiguous",
    )
)
