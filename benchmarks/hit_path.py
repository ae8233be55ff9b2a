"""What does a hit cost? The nanoseconds an op adds to a direct call of the kernel it runs.

Everything is timed in one process, in turns: the direct call (the same launcher, the same arrays, the output
preallocated) and each hit, block after block, so that a drift of the machine befalls all alike. The kernel is a stub
that does nothing, which leaves the path alone. Triton's autotuner is timed the same way over a stub of its own, on the
same arrays, where it is installed. Imports are timed in fresh interpreters.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from statistics import median, quantiles
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import psutil

import assay
from assay.device import SystemClock
from assay.ops import Op, gating
from benchmarks.document import make_parser, print_document, show
from benchmarks.imports import import_ms

CALLS = 2000
SINGLE_CALLS = 50_000
SHAPES = 10_000
Array = npt.NDArray[Any]


def stub_op() -> Op:
    """A gemm whose one kernel does nothing, ungated since it is wrong on purpose."""

    @assay.op("forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])")
    def gemm(a: Array, b: Array) -> Array:
        return a @ b

    @gemm.kernel
    def stub(a: Array, b: Array, *, c: Array) -> None:
        del a, b, c

    return gemm


def block_ns(call: Callable[[], object], calls: int) -> float:
    """Nanoseconds of one call, over a block of them, the loop included."""
    now = SystemClock().now_ns
    begin = now()
    for _ in range(calls):
        call()
    return (now() - begin) / calls


def in_turns(calls: Sequence[Callable[[], object]], rounds: int, count: int) -> list[list[float]]:
    """Each call's blocks, one of each a round, after a round that is not counted."""
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(rounds + 1):
        for place, call in enumerate(calls):
            took = block_ns(call, count)
            if turn:
                times[place].append(took)
    return times


def triton_hit(a: Array, b: Array, c: Array) -> Callable[[], object] | None:
    """A hit of Triton's autotuner over a stub kernel; None where Triton is not installed."""
    try:
        triton: Any = import_module("triton.runtime.autotuner")
    except ImportError:
        return None

    def no_bench(call: object, quantiles: object) -> list[float]:
        del call, quantiles
        return [1.0, 1.0, 1.0]

    def stub(a: object, b: object, c: object, M: int, N: int, K: int, BLOCK: int) -> None:  # noqa: PLR0913, PLR0917 - as a Triton kernel takes them
        del a, b, c, M, N, K, BLOCK

    class Stub:
        fn = staticmethod(stub)

        def run(self, *args: object, **kwargs: object) -> None:
            del args, kwargs

    names = ["a", "b", "c", "M", "N", "K", "BLOCK"]
    configs = [triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})]
    tuner: Any = triton.Autotuner(Stub(), names, configs, ["M", "N", "K"], None, None, do_bench=no_bench)
    rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
    return cast("Callable[[], object]", partial(tuner.run, a, b, c, rows, columns, inner))


def measure(rounds: int, shapes: int) -> dict[str, float | None]:
    """The figures.

    Args:
        rounds: blocks of calls of each kind.
        shapes: shapes seen before the hit is timed once more.
    """
    gemm = stub_op()
    a, b = np.ones((64, 64), np.float32), np.ones((64, 64), np.float32)
    c = np.empty((64, 64), np.float32)
    with assay.policy("off"), gating("off"):
        gemm(a, b)
        direct_launch = next(gemm.iter_kernels()).program.launcher(gemm.pathway.check_arguments((a, b), {}))
        triton = triton_hit(a, b, c)
        calls: list[Callable[[], object]] = [
            lambda: direct_launch(a, b, c),
            lambda: gemm(a, b),
            lambda: gemm(a, b, out=c),
        ]
        if triton is not None:
            triton()
            calls.append(triton)
        times = in_turns(calls, rounds, CALLS)
        single = single_calls(lambda: gemm(a, b))
        direct = median(times[0])
        before = resident_bytes()
        for size in range(1, shapes + 1):
            gemm(np.ones((size % 100 + 1, 1), np.float32), np.ones((1, size // 100 + 1), np.float32))
        bytes_per_shape = max(resident_bytes() - before, 0) / shapes
        after = in_turns([calls[0], calls[1]], rounds, CALLS)
        last_call_us = record_us(gemm)
    added = [median(block) - direct for block in times]
    triton_ns = added[3] if triton is not None else None
    return {
        "assay_numpy_ns": added[1],
        "assay_numpy_out_ns": added[2],
        "assay_torch_out_ns": None,
        "triton_numpy_ns": triton_ns,
        "triton_torch_ns": None,
        "ratio_numpy": added[1] / triton_ns if triton_ns else None,
        "ratio_torch": None,
        "assay_p99_ns": quantiles(single, n=100)[98] - direct,
        "after_10000_shapes_ns": median(after[1]) - median(after[0]),
        "bytes_per_shape": bytes_per_shape,
        "last_call_us": last_call_us,
        "import_ms": import_ms("assay"),
        "numpy_import_ms": import_ms("numpy"),
        "use_ms": import_ms("assay", "assay.op"),
        "direct_ns": direct,
    }


def single_calls(call: Callable[[], object], count: int = SINGLE_CALLS) -> list[float]:
    """The times of single calls, the clock's own cost taken off."""
    now = SystemClock().now_ns
    empty = median(block for block in (_clock_ns() for _ in range(1000)))
    times: list[float] = []
    for _ in range(count):
        begin = now()
        call()
        times.append(now() - begin - empty)
    return times


def record_us(gemm: Op, count: int = 200) -> float:
    """Microseconds to ask for the record of a call whose plan is new, so that nothing was assembled before."""
    now = SystemClock().now_ns
    times: list[float] = []
    for size in range(count):
        gemm(np.ones((size + 1, 7), np.float32), np.ones((7, 3), np.float32))
        begin = now()
        _ = gemm.last_call
        times.append((now() - begin) / 1e3)
    return median(times)


def resident_bytes() -> int:
    """Bytes of memory this process holds: what the plans cost, arrays long freed and allocators' slack included."""
    return int(psutil.Process().memory_info().rss)


def _clock_ns() -> int:
    now = SystemClock().now_ns
    begin = now()
    return now() - begin


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, shows a table, and prints the document."""
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=60, metavar="N", help="blocks of calls of each kind (default 60)")
    parser.add_argument("--shapes", type=int, default=SHAPES, metavar="N", help=f"shapes seen (default {SHAPES})")
    options = parser.parse_args(arguments)
    figures = measure(options.rounds, options.shapes)
    rows = [[name, None if value is None else f"{value:.4g}"] for name, value in figures.items()]
    show("nanoseconds a hit adds to a direct call (p50)", ["figure", "value"], rows)
    if options.json:
        print_document(figures)


if __name__ == "__main__":
    main(sys.argv[1:])
