"""Progress as lines that stay: which shape of how many, how far, the best so far, the time left."""

from dataclasses import replace
from io import StringIO

import pytest

from assay.cli.progress import LINES_PER_STAGE, PlainProgress, end_line, progress_line, shape_line
from assay.cli.screen import Screen
from assay.errors import TuneError
from assay.job import RunProgress, ShapeFailure
from assay.tuning import Progress

AT = Progress(
    op="gemm", shape="M=256,T=float32", stage="select", timed=12, to_go=20, best="tiled[MR=8]", best_ratio=0.64
)
NOW = RunProgress(number=2, shapes=8, at=AT, left_s=65.0)


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


def test_a_stage_of_hundreds_of_settings_says_at_most_a_few_lines(piped: Piped) -> None:
    progress = PlainProgress(Screen(piped))
    for done in range(501):
        progress.on_progress(select(done, 500 - done))
    lines = piped.getvalue().splitlines()
    assert lines[-1].startswith("  select, 500 timed, 0 to go")
    assert LINES_PER_STAGE <= len(lines) <= LINES_PER_STAGE + 2


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
    failure = ShapeFailure("gemm", {"M": 7}, TuneError("gemm", "no entrant survived"))
    assert end_line(failure) == "gemm M=7: failed: no entrant survived"
