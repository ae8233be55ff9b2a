"""Shapes are tuned one after another: what fails is written down, and the others go on.

The loop knows neither how a shape is decided nor what a clock is; it is handed both. It stops where the user
interrupts it, with what was decided until then.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from assay.device import Clock
from assay.errors import AssayError
from assay.job.estimate import time_left_s
from assay.job.queue import ShapeTask
from assay.job.request import RunProgress, ShapeFailure
from assay.tuning import Progress, TuneResult

NS = 1e9


class Decide(Protocol):
    """Something that tunes one shape."""

    def __call__(
        self, task: ShapeTask, budget_s: float | None, on_progress: Callable[[Progress], None], /
    ) -> TuneResult:
        """How the shape was decided.

        Args:
            task: the shape.
            budget_s: seconds it may take; None sets no limit.
            on_progress: told where the tuning is.

        Raises:
            AssayError: the shape cannot be tuned.
        """
        ...


@dataclass(slots=True)
class LoopOutcome:
    """What came of the shapes, filled as they end.

    Attributes:
        ended: each shape's end, in order.
        interrupted: whether the user ended the run; the shapes without an end were not tuned then.
    """

    ended: list[tuple[ShapeTask, TuneResult | ShapeFailure]] = field(
        default_factory=list[tuple[ShapeTask, TuneResult | ShapeFailure]]
    )
    interrupted: bool = False

    @property
    def decided(self) -> list[tuple[ShapeTask, TuneResult]]:
        """The shapes that were decided."""
        return [(task, one) for task, one in self.ended if isinstance(one, TuneResult)]


@dataclass(frozen=True, slots=True)
class Listener:
    """Whoever wants to know how a run is going.

    Attributes:
        on_progress: told where the run is.
        on_result: told each shape's end.
    """

    on_progress: Callable[[RunProgress], None] = lambda _: None
    on_result: Callable[[TuneResult | ShapeFailure], None] = lambda _: None


def tune_all(
    tasks: Sequence[ShapeTask], decide: Decide, clock: Clock, *, budget_s: float | None, listener: Listener
) -> LoopOutcome:
    """What came of each shape.

    Args:
        tasks: the shapes, in order.
        decide: tunes one.
        clock: what the budget and the time left are read from.
        budget_s: seconds for all; what is left is shared evenly by the shapes still to come. None sets no limit.
        listener: told where the run is.
    """
    outcome = LoopOutcome()
    ended_s: list[float] = []
    start_ns = clock.now_ns()
    try:
        for position, task in enumerate(tasks):
            began_ns = clock.now_ns()
            after = len(tasks) - position - 1
            watch = _Watch(listener, clock, began_ns, position + 1, len(tasks), tuple(ended_s))
            share_s = None
            if budget_s is not None:
                share_s = max(0.0, budget_s - (began_ns - start_ns) / NS) / (after + 1)
            try:
                ended: TuneResult | ShapeFailure = decide(task, share_s, watch.on_progress)
            except AssayError as error:
                ended = ShapeFailure(task.op.name, task.shape, error)
            outcome.ended.append((task, ended))
            ended_s.append((clock.now_ns() - began_ns) / NS)
            listener.on_result(ended)
    except KeyboardInterrupt:
        outcome.interrupted = True
    return outcome


@dataclass(frozen=True, slots=True)
class _Watch:
    """Turns where a shape is into where the run is."""

    listener: Listener
    clock: Clock
    began_ns: int
    number: int
    shapes: int
    ended_s: tuple[float, ...]

    def on_progress(self, at: Progress) -> None:
        left_s = time_left_s(
            self.ended_s,
            (self.clock.now_ns() - self.began_ns) / NS,
            timed=at.timed,
            to_go=at.to_go,
            shapes_left=self.shapes - self.number,
        )
        self.listener.on_progress(RunProgress(self.number, self.shapes, at, left_s))
