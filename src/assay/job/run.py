"""A run: every shape of a target is decided, and the profile is written once, at the end.

Answers are kept in the environment as they are decided, each in a transaction of its own. The profile is written whole
when all shapes have ended; an interrupted run leaves it as it was, and the next run finds the answers kept.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.errors import AssayError
from assay.job.loop import Listener, tune_all
from assay.job.queue import ShapeTask, queue
from assay.job.request import ShapeFailure, TuneReport, TuneRequest
from assay.job.setup import set_up
from assay.job.target import resolve
from assay.ops import PlannedShape, current_regime, forget_profiles, place_here, plan_call, tune_call
from assay.store import Profile
from assay.tuning import Progress, TuneOrder, TuneResult
from assay.worker import Limits, Worker

UNIDENTIFIED = "the device cannot be identified, so nothing was kept and no profile was written"


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What a run would tune.

    Attributes:
        shapes: each shape, with what would compete.
        failures: the shapes that cannot be tuned.
        profile: the profile that would be written; None where none would be.
    """

    shapes: tuple[PlannedShape, ...]
    failures: tuple[ShapeFailure, ...]
    profile: Path | None


def run(request: TuneRequest, listener: Listener | None = None) -> TuneReport:
    """What came of tuning every shape.

    Args:
        request: what is to be tuned, where, and how.
        listener: told where the run is.

    Raises:
        TargetError: the target, or an option, names nothing there is.
        StoreError: the environment or the profile cannot be used; each file is left as it is.
    """
    tasks, unfit = queue(resolve(request.target, home=request.home), request.shapes)
    setup = set_up(request, writes=bool(tasks))
    listener = listener or Listener()
    for failure in unfit:
        listener.on_result(failure)
    limits = Limits()
    with Worker(limits) as worker:

        def decide(task: ShapeTask, budget_s: float | None, on_progress: Callable[[Progress], None]) -> TuneResult:
            order = TuneOrder(
                device=setup.device,
                environment=setup.environment,
                place=place_here(),
                runner=worker,
                protocol=setup.protocol,
                strategy=request.strategy,
                budget_s=budget_s,
                remeasure=request.remeasure,
                limits=limits,
                dry_run=current_regime().dry_run,
                versions=setup.versions,
            )
            return tune_call(
                task.op, task.call, order, profile=setup.profile, seed=request.seed, on_progress=on_progress
            )

        outcome = tune_all(tasks, decide, setup.device.clock, budget_s=request.budget_s, listener=listener)
    written = None
    if outcome.decided and not outcome.interrupted and setup.path is not None:
        profile_after(setup.profile, outcome.decided).save(setup.path)
        forget_profiles()
        written = setup.path
    return TuneReport(
        results=tuple(result for _, result in outcome.decided),
        failures=(*unfit, *outcome.failures),
        profile=written,
        session=setup.session,
        interrupted=outcome.interrupted,
        notes=(*setup.environment.trouble, *(() if setup.path is not None else (UNIDENTIFIED,))),
    )


def plan(request: TuneRequest) -> PlanReport:
    """What a run would tune; nothing is built, timed, kept or written.

    Args:
        request: what would be tuned, where, and how.

    Raises:
        TargetError: the target, or an option, names nothing there is.
        StoreError: the environment or the profile cannot be used.
    """
    tasks, unfit = queue(resolve(request.target, home=request.home), request.shapes)
    setup = set_up(request, writes=False)
    shapes: list[PlannedShape] = []
    failures = list(unfit)
    for task in tasks:
        try:
            shapes.append(plan_call(task.op, task.call, setup.profile))
        except AssayError as error:
            failures.append(ShapeFailure(task.op.name, task.shape, error))
    return PlanReport(tuple(shapes), tuple(failures), setup.path)


def profile_after(profile: Profile, decided: Iterable[tuple[ShapeTask, TuneResult]]) -> Profile:
    """The profile with an entry for each shape that was tuned, that of the winner."""
    for task, result in decided:
        profile = profile.with_tuned(task.op.name, result.winner.kernel, task.shape, result.winner.setting, choose=True)
    return profile
