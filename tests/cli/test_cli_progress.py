"""Progress as lines that stay: which shape of how many, how far, the best so far, the time left."""

from dataclasses import replace
from io import StringIO

import pytest

from assay.cli.progress import PlainProgress, end_line, live_text, progress_line, shape_line
from assay.cli.screen import Screen
from assay.errors import TuneError
from assay.job import RunProgress, ShapeFailure
from assay.tuning import EntrantResult, Progress, TuneResult

AT = Progress(
    op="gemm", shape="M=256,T=float32", stage="select", timed=12, to_go=20, best="tiled[MR=8]", best_ratio=0.64
)
NOW = RunProgress(number=2, shapes=8, at=AT, left_s=65.0)
FAILURE = ShapeFailure("gemm", {"M": 7}, TuneError("gemm", "no entrant survived"))
NUMPY = EntrantResult("numpy", {}, "ranked", "", 1000.0, 1.0)
DECIDED = TuneResult(
    op="gemm",
    shape={"M": 5},
    outcome="no gain",
    reason="futile",
    winner=NUMPY,
    default=NUMPY,
    ratio=None,
    interval=None,
    evidence=None,
    trials=(),
    entrants=(NUMPY,),
    record=None,
    kept=False,
)


class Piped(StringIO):
    """A stream that counts how often it was flushed."""

    flushes = 0

    def flush(self) -> None:
        self.flushes += 1
        super().flush()


@pytest.fixture
def piped() -> Piped:
    return Piped()


def select(timed: int, to_go: int, **more: object) -> RunProgress:
    return replace(NOW, at=replace(AT, timed=timed, to_go=to_go, **more))


@pytest.mark.spec("M39")
def test_a_line_says_how_many_are_timed_and_to_go_the_best_so_far_and_the_time_left() -> None:
    assert shape_line(NOW) == "shape 2 of 8: gemm M=256,T=float32"
    assert progress_line(NOW) == "select, 12 timed, 20 to go, best tiled[MR=8] at 0.640, about 1 min 05 s left"


def test_what_is_not_known_is_not_said() -> None:
    assert progress_line(RunProgress(1, 1, Progress("gemm", "M=1", "build"), None)) == "build"


@pytest.mark.spec("M39")
def test_a_pipe_gets_plain_lines_each_flushed(piped: Piped) -> None:
    progress = PlainProgress(Screen(piped))
    progress.on_progress(NOW)
    assert piped.getvalue() == (
        "shape 2 of 8: gemm M=256,T=float32\n"
        "  select, 12 timed, 20 to go, best tiled[MR=8] at 0.640, about 1 min 05 s left\n"
    )
    assert piped.flushes >= 2
    assert "\x1b" not in piped.getvalue()


def test_a_shape_of_hundreds_of_settings_in_many_batches_says_four_lines(piped: Piped) -> None:
    progress = PlainProgress(Screen(piped))
    for batch in range(50):
        for done in range(20):
            progress.on_progress(select(20 * batch + done, 20 - done, stage="gate", entrant="tiled[MR=8]"))
        progress.on_progress(select(20 * batch + 20, 20))
    progress.on_progress(select(1000, 0, stage="confirm"))
    progress.on_result(FAILURE)
    progress.endings.release()
    lines = piped.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "shape 2 of 8: gemm M=256",
        "  select",
        "  confirm",
        "gemm M=7: failed: no entrant survived",
    ]


@pytest.mark.spec("M39")
def test_on_a_terminal_the_entrant_at_work_is_shown_below_how_far_the_shape_is() -> None:
    assert live_text(select(12, 20, stage="gate", entrant="tiled[MR=8]", best="")).splitlines() == [
        "shape 2 of 8: gemm M=256,T=float32",
        "  gate, 12 judged, 20 to go, about 1 min 05 s left",
        "  at work: tiled[MR=8]",
    ]
    assert "at work" not in live_text(NOW)


@pytest.mark.spec("M39")
def test_a_build_that_failed_has_a_line_of_its_own_however_often_progress_is_said(piped: Piped) -> None:
    progress = PlainProgress(Screen(piped))
    progress.on_progress(select(12, 20))
    progress.on_progress(select(12, 20, note="tiled[MR=3]: gemm.c:7: error: expected ';'\n   7 | int x"))
    assert piped.getvalue().splitlines()[2:] == ["  tiled[MR=3]: gemm.c:7: error: expected ';'", "     7 | int x"]


def test_of_a_long_note_the_first_lines_are_said(piped: Piped) -> None:
    progress = PlainProgress(Screen(piped))
    progress.on_progress(select(12, 20, note="\n".join(f"error {number}" for number in range(40))))
    notes = piped.getvalue().splitlines()[1:-1]
    assert notes[0] == "  error 0"
    assert notes[-2:] == ["  error 5", "  … and 34 lines more"]


def test_each_shape_begins_with_its_own_line(piped: Piped) -> None:
    progress = PlainProgress(Screen(piped))
    progress.on_progress(NOW)
    progress.on_progress(replace(NOW, number=3, at=replace(AT, shape="M=512,T=float32")))
    assert [line for line in piped.getvalue().splitlines() if line.startswith("shape")] == [
        "shape 2 of 8: gemm M=256,T=float32",
        "shape 3 of 8: gemm M=512,T=float32",
    ]


def test_a_shape_that_failed_ends_with_its_reason() -> None:
    assert end_line(FAILURE) == "gemm M=7: failed: no entrant survived"


def test_a_failure_is_said_when_a_shape_was_decided_and_at_once_from_then_on(piped: Piped) -> None:
    progress = PlainProgress(Screen(piped))
    progress.on_result(FAILURE)
    assert piped.getvalue() == "", "when nothing can be tuned, the complaint says it"
    progress.on_result(DECIDED)
    progress.on_result(FAILURE)
    failed = "gemm M=7: failed: no entrant survived"
    assert piped.getvalue().splitlines() == [failed, "gemm M=5: no gain: numpy stays, futile", failed]
