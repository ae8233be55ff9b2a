"""What the tests of examining share: ops, right kernels, and the verdict on a kernel."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from assay.gate import (
    Gate,
    Oracle,
    Probes,
    Recipe,
    Refused,
    Verdict,
    examine,
    make_probes,
)
from assay.signature import Call, describe, parse

Array = npt.NDArray[Any]
Kernel = Callable[..., object]

GEMM = "forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])"
MAX = "forall M, N: Dim. (x: float32[M, N]) -> (y: float32[M])"
SCALE_ = "forall N: Dim. (mutated x: float32[N], by: Float) -> (s: float32[])"
RELU_ = "forall N: Dim. (mutated x: float32[N]) -> (y: float32[N] alias x)"
SIGN = "forall N: Dim. (x: float32[N]) -> (y: bool[N])"
FILL = "forall N: Dim. (x: float32[N], write_only y: float32[N]) -> (s: float32[])"
BIAS = "forall N: Dim. (x: float32[N], b?: float32[N], by: Float) -> (y: float32[N])"
SUM_INT = "forall M, N: Dim. (x: int8[M, N]) -> (y: int32[M])"


def product(a: Array, b: Array) -> Array:
    return a @ b


def vendor(a: Array, b: Array) -> Array:
    return np.matmul(a, b)


def row_max(x: Array) -> Array:
    return cast("Array", np.max(x, axis=1))


def vendor_max(x: Array) -> Array:
    return cast("Array", np.max(x, axis=1))


def runner(kernel: Kernel) -> Callable[[Call, tuple[object, ...], tuple[object, ...]], object]:
    def run(call: Call, inputs: tuple[object, ...], outputs: tuple[object, ...]) -> object:
        return kernel(*inputs, **dict(zip(call.outputs, outputs, strict=True)))

    return run


def probes_of(signature: str, shape: Mapping[str, int | str | float], recipe: Recipe | None = None) -> Probes:
    parsed = parse(signature)
    given = {"T": "float32", **shape} if signature == GEMM else shape
    return make_probes(parsed, "op", describe(parsed, "op", given), seed=7, recipe=recipe)


def verdict(
    kernel: Kernel,
    body: Kernel = product,
    signature: str = GEMM,
    shape: Mapping[str, int | str | float] | None = None,
    gate: Gate | None = None,
    recipe: Recipe | None = None,
) -> Verdict:
    sizes: Mapping[str, int | str | float] = {"M": 32, "N": 16, "K": 8, "T": "float32"} if shape is None else shape
    probes = probes_of(signature, sizes, recipe)
    return examine(probes, Oracle(body), runner(kernel), gate or Gate(), label="gemm.k[tile=4]")


def refused(found: Verdict) -> Refused:
    assert isinstance(found, Refused), found
    return found


def usual(kernel: Kernel) -> bool:
    """The premise of every trap: on zeroed outputs of its own, once, at an ordinary shape, the kernel looks right."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((32, 8)).astype(np.float32), rng.standard_normal((8, 16)).astype(np.float32)
    right, seen = product(a, b), np.zeros((32, 16), np.float32)
    kernel(a, b, c=seen)
    return bool(np.allclose(seen, right, rtol=1e-5, atol=1e-5))


def product_of_one(x: Array) -> Array:
    return x
