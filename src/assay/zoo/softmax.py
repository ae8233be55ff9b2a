"""Softmax over the last axis: memory traffic and exponentials, with rows from ten elements to a vocabulary."""

from typing import Any

import numpy as np

from assay.gate import Gate
from assay.kernel import CKernel, NumbaKernel
from assay.ops import op

Array = np.ndarray[Any, np.dtype[Any]]

SHAPES = (
    # BERT-base, encoder.layer.*.attention.self: weights of 12 heads over a text of 128 tokens
    {"B": (12, 128), "N": 128, "T": "float32"},
    # SmolLM-135M, lm_head: the distribution of the next token over a vocabulary of 49,152
    {"B": (1,), "N": 49152, "T": "float32"},
    # Whisper-tiny, decoder.layers.*.encoder_attn: 6 heads of one new token over 1,500 frames
    {"B": (6, 1), "N": 1500, "T": "float32"},
)


@op(
    "forall B: Shape; N: Dim; T: DType[float32 | float64]. (x: T[*B, N]) -> (y: T[*B, N])",
    gate=Gate(
        rtol={"float32": 5e-6, "float64": 6e-14},
        atol={"float32": 1.2e-38, "float64": 2.3e-308},
        scale="reference",
    ),
    shapes=SHAPES,
)
def softmax(x: Array) -> Array:
    """The exponentials of each row's distances from its greatest element, divided by their sum.

    A row that holds a NaN, or +inf, or -inf alone, is NaN throughout: inf - inf has no value. An element of -inf
    beside finite ones is 0.

    The gate: the distance d is rounded, and the exponential turns that absolute error into a relative one, at most
    half a unit in d's last place. Before the result underflows |d| is below 88 (float32) and 746 (float64), so that
    is 3.8e-6 and 5.7e-14 with exact arithmetic after it; 20 units of rounding (1.2e-6, 2.2e-15) are left for the
    exponential, the sum and the division. Below the smallest normal number, the absolute tolerance, anything from
    zero to it will do.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        weights = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))
        return weights / weights.sum(axis=-1, keepdims=True)


@softmax.kernel(name="numpy")
def _numpy(x: Array, *, y: Array) -> None:
    """NumPy's passes, in the output's place."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        np.subtract(x, x.max(axis=-1, keepdims=True, initial=-np.inf), out=y)
        np.exp(y, out=y)
        np.divide(y, y.sum(axis=-1, keepdims=True), out=y)


def _lanes(x: Array, y: Array, B: int, N: int, *, LANES: int) -> None:
    """Three passes a row; LANES maxima and sums at once, since one would wait for itself at every element."""
    rows, answers = x.reshape(B, N), y.reshape(B, N)
    tops, sums = np.empty(LANES, x.dtype), np.empty(LANES)
    whole = N - N % LANES
    for i in range(B):
        row, answer = rows[i], answers[i]
        tops[:] = -np.inf
        for j in range(0, whole, LANES):
            for lane in range(LANES):
                tops[lane] = max(tops[lane], row[j + lane])
        for j in range(whole, N):
            tops[j - whole] = max(tops[j - whole], row[j])
        top = tops.max()
        sums[:] = 0
        for j in range(0, whole, LANES):
            for lane in range(LANES):
                weight = np.exp(row[j + lane] - top)
                answer[j + lane] = weight
                sums[lane] += weight
        for j in range(whole, N):
            weight = np.exp(row[j] - top)
            answer[j] = weight
            sums[j - whole] += weight
        by = 1 / sums.sum()
        for j in range(N):
            answer[j] *= by


softmax.add(
    NumbaKernel(
        "numba",
        _lanes,
        tunables={"LANES": [4, 16, 64]},
        serves="x.contiguous and y.contiguous",
    )
)

softmax.add(
    CKernel(
        "rows",
        source="softmax.c",
        function="softmax",
        args=["x", "y", "B", "N"],  # B: how many rows
        tunables={"ROWS": [1, 2, 4], "UNROLL": [1, 2, 4], "WIDTH": [16, 32, 64]},
        default={"ROWS": 2, "UNROLL": 2, "WIDTH": 64},
        constraints=["ROWS * UNROLL <= 8"],  # vectors in flight: more would not stay in registers
        flags=["-O3", "-march=native"],
        serves="x.contiguous and y.contiguous",
        # Written for this op and two to four times NumPy's passes wherever it compiles: the choice before measuring.
        tier="hand-tuned",
    )
)
