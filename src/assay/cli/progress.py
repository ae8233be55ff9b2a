"""How a run is shown while it goes: one line written over on a terminal, lines that stay where it is piped."""

from types import TracebackType
from typing import Self

from rich.live import Live
from rich.text import Text

from assay import units
from assay.cli.screen import Screen
from assay.job import RunProgress, ShapeFailure
from assay.report import gain_text
from assay.tuning import TuneResult, shape_text

REFRESHES_PER_SECOND = 4
"""Often enough to look alive; each costs a millisecond of a core that may be measuring."""

LINES_PER_STAGE = 10
"""At most so many piped lines say how far a stage is."""

LINES_PER_NOTE = 6
"""What a compiler says first is what is wrong; the rest is in the document."""


def progress_line(now: RunProgress) -> str:
    """Where a run is, in one line: ``select, 12 timed, 20 to go, best tiled[MR=8] at 0.640, about 35 s left``."""
    at = now.at
    parts = [at.stage]
    if at.timed or at.to_go:
        parts += [f"{at.timed} {'judged' if at.stage == 'gate' else 'timed'}", f"{at.to_go} to go"]
    if at.best:
        parts.append(f"best {at.best}" if at.best_ratio is None else f"best {at.best} at {at.best_ratio:.3f}")
    if now.left_s is not None:
        parts.append(f"about {units.format_seconds(now.left_s)} left")
    return ", ".join(parts)


def shape_line(now: RunProgress) -> str:
    """Which shape of how many: ``shape 2 of 8: gemm M=256,N=256``."""
    return f"shape {now.number} of {now.shapes}: {now.at.op} {now.at.shape}"


def end_line(ended: TuneResult | ShapeFailure) -> str:
    """A shape's end in one line."""
    if isinstance(ended, ShapeFailure):
        subject = f"{ended.op} {shape_text(ended.shape)}" if ended.shape else ended.op
        return f"{subject}: failed: {str(ended.error).removeprefix(f'{ended.op}: ')}"
    return f"{ended.op} {shape_text(ended.shape)}: {gain_text(ended)}"


class PlainProgress:
    """Progress as lines that stay, each flushed: for a pipe or a file.

    Args:
        screen: where they go.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._number = 0
        self._stage = ""
        self._timed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass

    def on_progress(self, now: RunProgress) -> None:
        """Says what is new; a stage says at most `LINES_PER_STAGE` times how far it is."""
        at = now.at
        if now.number != self._number:
            self._number, self._stage = now.number, ""
            self._screen.say(shape_line(now))
        if at.note:
            self._screen.say(_indented(at.note))
        step = max(1, (at.timed + at.to_go) // LINES_PER_STAGE)
        if at.stage != self._stage or at.timed - self._timed >= step:
            self._stage, self._timed = at.stage, at.timed
            self._screen.say(f"  {progress_line(now)}")

    def on_result(self, ended: TuneResult | ShapeFailure) -> None:
        """Says how a shape ended."""
        self._screen.say(end_line(ended))


class LiveProgress:
    """Progress as one line that is written over, with what matters left above it: for a terminal.

    Args:
        screen: where it goes.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._live = Live(console=screen.console, refresh_per_second=REFRESHES_PER_SECOND, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._live.stop()

    def on_progress(self, now: RunProgress) -> None:
        """Writes the line over; a note stays above it."""
        if now.at.note:
            self._screen.say(_indented(now.at.note))
        entrant = f" · {now.at.entrant}" if now.at.entrant else ""
        line = f"{shape_line(now)}\n  {progress_line(now)}{entrant}"
        self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))

    def on_result(self, ended: TuneResult | ShapeFailure) -> None:
        """Leaves a shape's end above the line."""
        self._screen.say(end_line(ended))


def watch(screen: Screen) -> PlainProgress | LiveProgress:
    """Progress as this screen can show it."""
    return LiveProgress(screen) if screen.is_terminal else PlainProgress(screen)


def _indented(note: str) -> str:
    lines = note.splitlines()
    more = [f"… and {len(lines) - LINES_PER_NOTE} lines more"] if len(lines) > LINES_PER_NOTE else []
    return "\n".join(f"  {line}" for line in [*lines[:LINES_PER_NOTE], *more])
