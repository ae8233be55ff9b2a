from typing import Any

import numpy as np
from numpy.typing import NDArray

import assay

Array = NDArray[Any]


@assay.op("forall N: Dim; T: DType[float32 | float64]. (x: T[N], y: T[N]) -> (d: T[N])")
def distance(x: Array, y: Array) -> Array:  # the body is the reference: it says what is right
    return np.sqrt(x * x + y * y)


@distance.kernel(tunables={"block": [1024, 8192, 65536]}, default={"block": 65536})
def in_blocks(x: Array, y: Array, *, d: Array, block: int) -> None:  # it writes into d, which is allocated
    for start in range(0, x.size, block):
        part = slice(start, start + block)
        np.sqrt(x[part] * x[part] + y[part] * y[part], out=d[part])


SOURCE = """
#include <math.h>
#include <stdint.h>
void distance(const ASSAY_T *x, const ASSAY_T *y, ASSAY_T *d, int64_t N) {
    for (int64_t i = 0; i < N; i++) d[i] = (ASSAY_T)sqrt(x[i] * x[i] + y[i] * y[i]);
}
"""
FLAGS = ["-O3", "-march=native", "-fno-math-errno"]
SERVES = "x.contiguous and y.contiguous and d.contiguous"
distance.add(assay.CKernel("fused", source=SOURCE, function="distance", flags=FLAGS, serves=SERVES))

if __name__ == "__main__":
    (result,) = assay.tune(distance, [{"N": 100_000, "T": "float32"}])
    print(result.outcome, "-", result.reason)
    x = np.ones(100_000, "float32")
    print(distance(x, x), distance.explain(x, x), sep="\n")
