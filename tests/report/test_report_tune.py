"""Results as a table for a person and a document for a program."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from assay.errors import TuneError
from assay.job import ShapeFailure
from assay.ops import PlannedShape
from assay.ops.tune import PlannedCandidate
from assay.report import Column, Table, gain_text, plan_table, ratio_text, tune_document, tune_table, warning_lines
from assay.store import Evidence
from assay.tuning import EntrantResult, TuneResult

DEFAULT = EntrantResult("numpy", {}, "ranked", "", 1000.0, 1.0)
WINNER = EntrantResult("tiled", {"MR": 8, "NR": 16}, "ranked", "", 620.0, 0.61)
WRONG = EntrantResult("quick", {}, "refused", "c[3, 17] is nan, reference 0.25")
GAIN = TuneResult(
    op="gemm",
    shape={"M": 256, "B": (2, 3), "T": "float32"},
    outcome="gain",
    reason="won 7 of 7 pairs",
    winner=WINNER,
    default=DEFAULT,
    ratio=0.62,
    interval=(0.601, 0.642),
    evidence=Evidence(k=7, t=7, E=31.875, margin=0.01, pairs=7, refused=0, seed=1),
    trials=(),
    entrants=(WINNER, DEFAULT, WRONG),
    record=None,
    kept=False,
    warnings=("no run-queue counter",),
)
NO_GAIN = replace(GAIN, outcome="no gain", winner=DEFAULT, reason="futile", ratio=None, interval=None, evidence=None)
REFUSED = replace(NO_GAIN, outcome="refused", reason="39 of 60 calls waited for a CPU")
FAILURE = ShapeFailure("softmax", {"N": 7}, TuneError("softmax", "no entrant survived", "mend one"))


def test_a_ratio_is_written_with_its_interval() -> None:
    assert ratio_text(0.62, (0.6014, 0.6416)) == "0.620 (0.601-0.642)"
    assert ratio_text(1.0, None) == "1.000"
    assert ratio_text(None, None) == "-"


def test_a_row_says_what_won_and_by_how_much_of_what() -> None:
    (row,) = tune_table([GAIN]).rows
    assert row == (
        "gemm",
        "M=256, B=2x3, T=float32",
        "gain",
        "tiled[MR=8, NR=16]",
        "0.620 (0.601-0.642) of numpy",
        "-",
    )


def test_without_a_gain_the_default_stays_and_no_ratio_is_claimed() -> None:
    (row,) = tune_table([replace(NO_GAIN, ratio=0.99, interval=(0.98, 1.0))]).rows
    assert row[2:5] == ("no gain", "numpy stays", "-")


def test_an_answer_kept_by_an_earlier_run_says_so() -> None:
    (row,) = tune_table([replace(GAIN, kept=True)]).rows
    assert row[2] == "gain, kept"


def test_a_refused_race_says_how_to_measure_again() -> None:
    (row,) = tune_table([replace(REFUSED, kept=True)]).rows
    assert row[2:4] == ("refused, kept", "numpy stays; measure again with --remeasure")


def test_rows_stay_in_the_order_of_the_shapes_and_a_failed_one_has_its_error_whole() -> None:
    long = replace(
        FAILURE, error=TuneError("softmax", "no entrant survived: " + "x" * 500 + "\n  line two", "mend one")
    )
    rows = tune_table([FAILURE, GAIN, long]).rows
    assert [row[0] for row in rows] == ["softmax", "gemm", "softmax"]
    assert rows[0][1:] == ("N=7", "failed", "softmax: no entrant survived; mend one", "-", "-")
    assert rows[2][3] == "softmax: no entrant survived: " + "x" * 500 + " line two; mend one"


def test_a_plan_names_its_shapes_in_their_order_and_why_one_cannot_be_tuned() -> None:
    planned = PlannedShape("gemm", "M=5,N=64", "numpy", (PlannedCandidate("numpy", 1, 0), PlannedCandidate("c", 6, 2)))
    assert plan_table([FAILURE, planned]).rows == (
        ("softmax", "N=7", "-", "-", "-", "failed: softmax: no entrant survived; mend one"),
        ("gemm", "M=5, N=64", "numpy", "numpy", "1", ""),
        ("", "", "", "c", "6", "2 dropped"),
    )


@pytest.mark.spec("M39")
def test_a_gain_is_said_with_its_error() -> None:
    assert gain_text(GAIN) == "tiled[MR=8, NR=16] takes 0.620 (0.601-0.642) of the time of numpy"
    assert gain_text(NO_GAIN) == "no gain: numpy stays, futile"
    assert gain_text(replace(NO_GAIN, kept=True)) == "no gain: numpy stays, futile (kept)"
    waited = "refused: numpy stays, 39 of 60 calls waited for a CPU"
    assert gain_text(REFUSED) == f"{waited}; measure again with --remeasure"
    assert gain_text(replace(REFUSED, kept=True)) == f"{waited} (kept); measure again with --remeasure"


def test_the_document_has_the_keys_programs_rely_on() -> None:
    document = tune_document([GAIN, NO_GAIN], [FAILURE], Path("profiles/x.json"), "abc", interrupted=False)
    read = msgspec.json.decode(msgspec.json.encode(document))
    assert read["profile"] == "profiles/x.json"
    assert read["session"] == "abc"
    assert read["interrupted"] is False
    assert read["failures"] == [{"op": "softmax", "shape": {"N": 7}, "error": "softmax: no entrant survived; mend one"}]
    gain, none = read["shapes"]
    assert gain["op"] == "gemm"
    assert gain["shape"] == {"M": 256, "B": [2, 3], "T": "float32"}
    assert gain["outcome"] == "gain"
    assert gain["winner"] == {"kernel": "tiled", "setting": {"MR": 8, "NR": 16}}
    assert gain["default"] == {"kernel": "numpy", "setting": {}}
    assert (gain["ratio"], gain["interval"]) == (0.62, [0.601, 0.642])
    assert gain["evidence"] == {"k": 7, "t": 7, "E": 31.875, "margin": 0.01, "pairs": 7, "refused": 0, "seed": 1}
    assert [(entrant["kernel"], entrant["outcome"]) for entrant in gain["entrants"]] == [
        ("tiled", "ranked"),
        ("numpy", "ranked"),
        ("quick", "refused"),
    ]
    assert gain["entrants"][2]["reason"] == "c[3, 17] is nan, reference 0.25"
    assert gain["entrants"][2]["median_ns"] is None
    assert (none["ratio"], none["interval"], none["evidence"]) == (None, None, None)


def test_a_missing_protection_is_said_once() -> None:
    assert warning_lines([GAIN, NO_GAIN]) == ["no run-queue counter"]


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 2 texts, got 1"):
        Table(columns=(Column("a"), Column("b")), rows=(("only",),))
