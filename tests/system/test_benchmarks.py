"""Every benchmark prints one document as its last line, with the keys that people outside read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EVERYWHERE = {"machine", "versions", "commit", "date"}
HIT_PATH = {
    "assay_numpy_ns",
    "assay_numpy_out_ns",
    "assay_torch_out_ns",
    "triton_numpy_ns",
    "triton_torch_ns",
    "ratio_numpy",
    "ratio_torch",
    "assay_p99_ns",
    "after_10000_shapes_ns",
    "bytes_per_shape",
    "last_call_us",
    "import_ms",
    "numpy_import_ms",
}


def document(*arguments: str) -> dict[str, Any]:
    """The document a benchmark prints."""
    command = [sys.executable, "-m", *arguments, "--json"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    assert found.keys() >= EVERYWHERE
    assert set(found["machine"]) >= {"fingerprint", "mode", "cores", "load"}
    return found


def test_the_hit_path_is_timed_beside_its_peers_and_absent_ones_are_null() -> None:
    found = document("benchmarks.hit_path", "--rounds", "2", "--shapes", "20")
    assert found.keys() >= HIT_PATH
    assert found["assay_numpy_ns"] > 0
    assert found["ratio_torch"] is None
    assert (found["ratio_numpy"] is None) == (found["versions"]["triton"] is None)


def test_races_of_equals_are_counted_for_every_case_beside_the_exact_rate() -> None:
    found = document("benchmarks.race", "--simulated", "2")
    assert found["exact"] == pytest.approx(0.0266, abs=5e-5)
    assert found["races"] == 2
    assert set(found["simulated"]) == {"none", "drift", "ar1", "outliers", "bursts"}
    assert all(set(by_count) == {"2", "8", "32"} for by_count in found["simulated"].values())
