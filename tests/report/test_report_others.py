"""The entrants that did not win: how near each other kernel came, and which were refused or failed, and why."""

from dataclasses import replace

from assay.report import others_text, refused_table
from assay.tuning import EntrantResult, TuneResult

DEFAULT = EntrantResult("numpy", {}, "ranked", "", 1000.0, 1.0)
WINNER = EntrantResult("tiled", {"MR": 8}, "ranked", "", 620.0, 0.61)
RESULT = TuneResult(
    op="gemm",
    shape={"M": 5, "T": "float32"},
    outcome="gain",
    reason="won 7 of 7 pairs",
    winner=WINNER,
    default=DEFAULT,
    ratio=0.62,
    interval=(0.601, 0.642),
    evidence=None,
    trials=(),
    entrants=(
        WINNER,
        EntrantResult("tiled", {"MR": 4}, "ranked", "", 700.0, 0.7),
        DEFAULT,
        EntrantResult("skinny", {"UNROLL": 2}, "ranked", "", 1204.0, 1.204),
        EntrantResult("skinny", {"UNROLL": 4}, "ranked", "", 1500.0, 1.5),
        EntrantResult("numba", {}, "ranked", "", 2310.0, 2.31),
        EntrantResult("quick", {"block": 1}, "skipped", "serves 'M == 1'; here M is 5"),
    ),
    record=None,
    kept=False,
)


def test_the_best_of_each_kernel_that_neither_won_nor_was_in_force_is_said_the_nearest_first() -> None:
    assert others_text(RESULT) == "skinny 1.20, numba 2.31"


def test_where_the_default_stays_the_kernel_that_raced_it_is_one_of_the_others() -> None:
    assert others_text(replace(RESULT, outcome="no gain", winner=DEFAULT)) == "tiled 0.61, skinny 1.20, numba 2.31"


def test_without_another_kernel_a_dash_is_said() -> None:
    assert others_text(replace(RESULT, entrants=(WINNER, DEFAULT))) == "-"


def test_each_kernel_that_was_refused_or_failed_has_a_row_with_how_many_of_its_settings_and_one_reason() -> None:
    out = (
        EntrantResult("tiled", {"MR": 2}, "refused", "c[3, 17] is nan, reference 0.25"),
        EntrantResult("tiled", {"MR": 3}, "failed", "cc: error: expected ';'\n  7 | int x"),
        EntrantResult("quick", {"block": 1}, "failed", "x" * 300),
    )
    table = refused_table([replace(RESULT, entrants=RESULT.entrants + out, kept=True), RESULT])
    assert table.title == "refused or failed"
    assert table.rows == (
        ("gemm", "M=5, T=float32", "tiled", "2 of 4", "refused or failed", "c[3, 17] is nan, reference 0.25"),
        ("", "", "quick", "1 of 2", "failed", "x" * 99 + "…"),
    )


def test_a_reason_of_many_lines_is_its_first() -> None:
    broken = EntrantResult("quick", {}, "failed", "cc: error: expected ';'\n  7 | int x")
    ((*_, reason),) = refused_table([replace(RESULT, entrants=(DEFAULT, broken))]).rows
    assert reason == "cc: error: expected ';'"


def test_where_nothing_was_refused_there_are_no_rows() -> None:
    assert refused_table([RESULT]).rows == ()
