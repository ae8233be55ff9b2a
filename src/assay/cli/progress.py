"""How a run is shown while it goes: lines written over on a terminal, lines that stay where it is piped."""

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

SAID_STAGES = ("select", "confirm")
"""The stages whose first line is piped; that a shape begins says that it is built and judged."""

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


def live_text(now: RunProgress) -> str:
    """What is written over on a terminal: the shape, how far it is, and the entrant at work."""
    at_work = f"\n  at work: {now.at.entrant}" if now.at.entrant else ""
    return f"{shape_line(now)}\n  {progress_line(now)}{at_work}"


class Endings:
    """Says how shapes ended. A failure waits until a shape was decided: a run without any ends with all of them.

    Args:
        screen: where they go.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._waiting: list[ShapeFailure] = []
        self._decided = False

    def say(self, ended: TuneResult | ShapeFailure) -> None:
        """Says how a shape ended, now or when another was decided."""
        if isinstance(ended, ShapeFailure) and not self._decided:
            self._waiting.append(ended)
            return
        self.release()
        self._screen.say(end_line(ended))

    def release(self) -> None:
        """Says the failures that wait."""
        for failure in self._waiting:
            self._screen.say(end_line(failure))
        self._waiting, self._decided = [], True


class PlainProgress:
    """Progress as lines that stay, each flushed: for a pipe or a file.

    Args:
        screen: where they go.
    """

    def __init__(self, screen: Screen) -> None:
        self.endings = Endings(screen)
        self._screen = screen
        self._number = 0
        self._said: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass

    def on_progress(self, now: RunProgress) -> None:
        """Says what is new: a shape begins, a note, the first of a stage."""
        at = now.at
        if now.number != self._number:
            self._number, self._said = now.number, set()
            self._screen.say(shape_line(now))
        if at.note:
            self._screen.say(_indented(at.note))
        if at.stage in SAID_STAGES and at.stage not in self._said:
            self._said.add(at.stage)
            self._screen.say(f"  {progress_line(now)}")

    def on_result(self, ended: TuneResult | ShapeFailure) -> None:
        """Says how a shape ended."""
        self.endings.say(ended)


class LiveProgress:
    """Progress as lines that are written over, with what matters left above them: for a terminal.

    Args:
        screen: where it goes.
    """

    def __init__(self, screen: Screen) -> None:
        self.endings = Endings(screen)
        self._screen = screen
        self._live = Live(console=screen.console, refresh_per_second=REFRESHES_PER_SECOND, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._live.stop()

    def on_progress(self, now: RunProgress) -> None:
        """Writes the lines over; a note stays above them."""
        if now.at.note:
            self._screen.say(_indented(now.at.note))
        self._live.update(Text(live_text(now), no_wrap=True, overflow="ellipsis"))

    def on_result(self, ended: TuneResult | ShapeFailure) -> None:
        """Leaves a shape's end above the lines."""
        self.endings.say(ended)


def watch(screen: Screen) -> PlainProgress | LiveProgress:
    """Progress as this screen can show it."""
    return LiveProgress(screen) if screen.is_terminal else PlainProgress(screen)


def _indented(note: str) -> str:
    lines = note.splitlines()
    more = [f"… and {len(lines) - LINES_PER_NOTE} lines more"] if len(lines) > LINES_PER_NOTE else []
    return "\n".join(f"  {line}" for line in [*lines[:LINES_PER_NOTE], *more])
