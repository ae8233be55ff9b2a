"""The examples, as a reader would run them: by the command, from a copy, in a folder of their own."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
PATIENCE_S = 120


@dataclass(frozen=True)
class Entrant:
    """What became of one entrant."""

    kernel: str
    outcome: str
    reason: str


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def entrants(document: str) -> list[Entrant]:
    (shape,) = json.loads(document)["shapes"]
    return [Entrant(each["kernel"], each["outcome"], each["reason"]) for each in shape["entrants"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_every_kernel_of_row_scale_is_right_at_every_setting_and_is_timed(folder: Path) -> None:
    target = "examples/row_scale/row_scale.py"
    found = entrants(run(folder, "tune", target, "--shape", "M=16,N=100,T=float32", "--json"))
    assert {each.kernel for each in found} == {"numpy", "numba", "vectors"}
    assert sum(each.kernel == "vectors" for each in found) == 8
    assert [each for each in found if each.outcome != "ranked"] == []
    assert run(folder, "explain", target, "M=16,N=100,T=float32").startswith("row_scale at M=16,N=100,T=float32\n")


def test_a_change_of_the_c_file_beside_an_op_is_a_new_decision(folder: Path) -> None:
    arguments = ("tune", "examples/row_scale/row_scale.py", "--shape", "M=4,N=40,T=float64", "--json")
    assert not json.loads(run(folder, *arguments))["shapes"][0]["kept"]
    assert json.loads(run(folder, *arguments))["shapes"][0]["kept"]
    source = folder / "examples" / "row_scale" / "row_scale.c"
    text = source.read_text()
    wrong = text.replace("for (; j < N; j++)", "for (; j < N - 1; j++)")
    assert wrong != text
    source.write_text(wrong)
    again = run(folder, *arguments)
    assert not json.loads(again)["shapes"][0]["kept"]
    assert {each.outcome for each in entrants(again) if each.kernel == "vectors"} == {"refused"}


def test_the_shapes_that_row_scale_declares_are_planned_without_being_given(folder: Path) -> None:
    planned = json.loads(run(folder, "tune", "examples/row_scale/row_scale.py", "--plan", "--json"))
    assert [shape["shape"] for shape in planned["plan"]] == ["M=64,N=1000,T=float32", "M=4,N=30000,T=float64"]
    assert planned["failures"] == []
