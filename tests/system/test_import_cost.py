"""What `import assay` costs, in interpreters of its own."""

import subprocess
import sys

import pytest

MOST_MS = 40.0

TIMED = """
import sys, time
import numpy
before = set(sys.modules)
begun = time.perf_counter_ns()
import assay
print((time.perf_counter_ns() - begun) / 1e6)
print(*(set(sys.modules) - before))
"""

FRAMEWORKS = {
    "torch",
    "triton",
    "numba",
    "llvmlite",
    "scipy",
    "cupy",
    "ray",
    "plotly",
    "matplotlib",
    "pyopencl",
    "typer",
}


@pytest.mark.spec("X25")
def test_importing_assay_after_numpy_is_quick_and_brings_no_framework() -> None:
    costs: list[float] = []
    for _ in range(5):  # the least of five: a busy machine adds and never takes away
        done = subprocess.run([sys.executable, "-c", TIMED], check=True, capture_output=True, text=True)
        cost, loaded = done.stdout.splitlines()
        costs.append(float(cost))
        assert "assay" in loaded.split()
        assert FRAMEWORKS.isdisjoint(loaded.split())
    assert min(costs) < MOST_MS
