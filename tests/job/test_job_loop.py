"""Shapes are tuned one after another; what fails is written down and the others go on."""

from collections.abc import Callable

import pytest

from assay.errors import BuildError, TuneError
from assay.job import Listener, RunProgress, ShapeFailure, ShapeTask, queue, tune_all
from assay.ops import op
from assay.testing.clock import FakeClock
from assay.tuning import EntrantResult, Progress, TuneResult

SECOND = 1_000_000_000


@pytest.fixture
def tasks() -> tuple[ShapeTask, ...]:
    @op("forall N: Dim; T: DType[float32]. (x: T[N]) -> (y: T[N])")
    def scale(x: object) -> object:
        return x

    queued = queue([scale], [{"N": size} for size in (1, 2, 3, 4)])
    return tuple(one for one in queued if isinstance(one, ShapeTask))


def decided(task: ShapeTask) -> TuneResult:
    entrant = EntrantResult("plain", {}, "ranked")
    return TuneResult(
        op=task.op.name,
        shape=task.shape,
        outcome="no gain",
        reason="a scripted decision",
        winner=entrant,
        default=entrant,
        ratio=None,
        interval=None,
        evidence=None,
        trials=(),
        entrants=(entrant,),
        record=None,
        kept=False,
    )


class Script:
    """Decides as it was told: an error for some sizes, a second of the clock for each."""

    def __init__(self, clock: FakeClock, errors: dict[int, BaseException] | None = None) -> None:
        self.clock = clock
        self.errors = errors or {}
        self.budgets: list[float | None] = []

    def __call__(self, task: ShapeTask, budget_s: float | None, on_progress: Callable[[Progress], None]) -> TuneResult:
        self.budgets.append(budget_s)
        size = task.shape["N"]
        assert isinstance(size, int)
        self.clock.advance(SECOND)
        on_progress(Progress(op=task.op.name, shape=f"N={size}", stage="select", timed=1, to_go=1))
        if size in self.errors:
            raise self.errors[size]
        self.clock.advance(SECOND)
        return decided(task)


def test_a_shape_that_fails_is_written_down_and_the_others_go_on(tasks: tuple[ShapeTask, ...]) -> None:
    clock = FakeClock()
    script = Script(clock, {2: TuneError("scale", "no entrant survived"), 3: BuildError("scale.c", "cc: error")})
    ended: list[TuneResult | ShapeFailure] = []
    outcome = tune_all(tasks, script, clock, budget_s=None, listener=Listener(on_result=ended.append))
    assert [result.shape["N"] for _, result in outcome.decided] == [1, 4]
    failures = [end for _, end in outcome.ended if isinstance(end, ShapeFailure)]
    assert [(dict(failure.shape), str(failure.error)) for failure in failures] == [
        ({"N": 2, "T": "float32"}, "scale: no entrant survived"),
        ({"N": 3, "T": "float32"}, "scale.c: cc: error"),
    ]
    assert ended == [end for _, end in outcome.ended]
    assert len(ended) == 4
    assert not outcome.interrupted


@pytest.mark.spec("M35")
def test_an_interrupt_ends_the_run_with_what_was_decided(tasks: tuple[ShapeTask, ...]) -> None:
    clock = FakeClock()
    outcome = tune_all(tasks, Script(clock, {3: KeyboardInterrupt()}), clock, budget_s=None, listener=Listener())
    assert outcome.interrupted
    assert [result.shape["N"] for _, result in outcome.decided] == [1, 2]
    assert len(outcome.ended) == 2


def test_a_defect_of_our_own_is_not_taken_for_a_failed_shape(tasks: tuple[ShapeTask, ...]) -> None:
    clock = FakeClock()
    with pytest.raises(ZeroDivisionError):
        tune_all(tasks, Script(clock, {1: ZeroDivisionError()}), clock, budget_s=None, listener=Listener())


def test_what_is_left_of_a_budget_is_shared_by_the_shapes_to_come(tasks: tuple[ShapeTask, ...]) -> None:
    clock = FakeClock()
    script = Script(clock)
    # Each shape takes 2 s of 7: 7/4, then (7-2)/3, (7-4)/2, and the last gets the 1 s that is left.
    tune_all(tasks, script, clock, budget_s=7.0, listener=Listener())
    assert script.budgets == [7 / 4, 5 / 3, 3 / 2, 1.0]


def test_a_budget_that_is_spent_gives_nothing_and_never_less(tasks: tuple[ShapeTask, ...]) -> None:
    clock = FakeClock()
    script = Script(clock)
    tune_all(tasks, script, clock, budget_s=2.0, listener=Listener())
    assert script.budgets == [0.5, 0.0, 0.0, 0.0]


@pytest.mark.spec("M39")
def test_progress_says_which_shape_of_how_many_and_the_time_left(tasks: tuple[ShapeTask, ...]) -> None:
    clock = FakeClock()
    seen: list[RunProgress] = []
    tune_all(tasks, Script(clock), clock, budget_s=None, listener=Listener(on_progress=seen.append))
    assert [(now.number, now.shapes, now.at.shape) for now in seen] == [
        (1, 4, "N=1"),
        (2, 4, "N=2"),
        (3, 4, "N=3"),
        (4, 4, "N=4"),
    ]
    # One of two entrants after 1 s: 1 s of the shape is left, and 2 s of each shape that follows.
    assert [now.left_s for now in seen] == [7.0, 5.0, 3.0, 1.0]
