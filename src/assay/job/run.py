"""A run: every shape of a target is decided, and the profile is written once, at the end.

Answers are kept in the environment as they are decided, each in a transaction of its own. The profile is written whole
when all shapes have ended; an interrupted run leaves it as it was, and the next run finds the answers kept.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import AssayError, StoreError, TargetError
from assay.job.loop import Listener, LoopOutcome, tune_all
from assay.job.queue import ShapeTask, queue
from assay.job.request import ShapeFailure, TuneReport, TuneRequest
from assay.job.setup import Setup, set_up
from assay.job.target import resolve
from assay.ops import PlannedShape, current_regime, forget_profiles, place_here, plan_call, tune_call
from assay.store import Profile, update_profile
from assay.tuning import Progress, TuneOrder, TuneResult
from assay.worker import Limits, Worker

UNIDENTIFIED = "the device cannot be identified, so nothing was kept and no profile was written"


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What a run would tune.

    Attributes:
        listed: each shape with what would compete, or why it cannot be tuned, in the order they were given.
        profile: the profile that would be written; None where none would be.
    """

    listed: tuple[PlannedShape | ShapeFailure, ...]
    profile: Path | None

    @property
    def shapes(self) -> tuple[PlannedShape, ...]:
        """The shapes that would be tuned, in order."""
        return tuple(one for one in self.listed if isinstance(one, PlannedShape))

    @property
    def failures(self) -> tuple[ShapeFailure, ...]:
        """The shapes that cannot be tuned, in order."""
        return tuple(one for one in self.listed if isinstance(one, ShapeFailure))


def run(request: TuneRequest, listener: Listener | None = None) -> TuneReport:
    """What came of tuning every shape.

    Args:
        request: what is to be tuned, where, and how.
        listener: told where the run is.

    Raises:
        TargetError: the target, or an option, names nothing there is.
        StoreError: the environment or the profile cannot be used; each file is left as it is.
    """
    if current_regime().policy == "frozen":
        raise TargetError("policy frozen", "nothing may be written, so nothing is tuned", "choose another policy")
    queued = queue(resolve(request.target, home=request.home), request.shapes)
    tasks = [one for one in queued if isinstance(one, ShapeTask)]
    setup = set_up(request, writes=bool(tasks))
    listener = listener or Listener()
    for unfit in queued:
        if isinstance(unfit, ShapeFailure):
            listener.on_result(unfit)
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
    profile, unwritten = None, None
    if not outcome.interrupted:
        try:
            profile = _write_profile(setup, outcome.decided)
        except StoreError as trouble:
            unwritten = trouble
    return TuneReport(
        ended=_in_order(queued, outcome),
        profile=profile,
        session=setup.session,
        interrupted=outcome.interrupted,
        unwritten=unwritten,
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
    queued = queue(resolve(request.target, home=request.home), request.shapes)
    setup = set_up(request, writes=False)
    listed: list[PlannedShape | ShapeFailure] = []
    for one in queued:
        if isinstance(one, ShapeFailure):
            listed.append(one)
            continue
        try:
            listed.append(plan_call(one.op, one.call, setup.profile))
        except AssayError as error:
            listed.append(ShapeFailure(one.op.name, one.shape, error))
    return PlanReport(tuple(listed), setup.path)


def profile_after(profile: Profile, decided: Iterable[tuple[ShapeTask, TuneResult]]) -> Profile:
    """The profile with an entry for each shape that was decided, that of the winner.

    A refused race decided nothing, nor did one the budget ended before a gain was shown: an entry there is stays as it
    is, and none is made.
    """
    for task, result in decided:
        if not _is_decision(result):
            continue
        profile = profile.with_tuned(task.op.name, result.winner.kernel, task.shape, result.winner.setting, choose=True)
    return profile


def _write_profile(setup: Setup, decided: Sequence[tuple[ShapeTask, TuneResult]]) -> Path | None:
    """Writes the profile where something was decided; the file that holds the decisions, None when there is none."""
    if not decided or setup.path is None:
        return None
    if not any(_is_decision(result) for _, result in decided):
        return setup.path if setup.path.exists() else None
    slug = setup.device.fingerprint.slug
    update_profile(setup.path.parent, slug, lambda profile: profile_after(profile, decided))
    forget_profiles()
    return setup.path


def _is_decision(result: TuneResult) -> bool:
    return result.outcome == "gain" or (result.outcome != "refused" and result.complete)


def _in_order(
    queued: Iterable[ShapeTask | ShapeFailure], outcome: LoopOutcome
) -> tuple[TuneResult | ShapeFailure, ...]:
    """Each shape's end, in the order of the queue; those an interrupt left out have none."""
    ends = {id(task): end for task, end in outcome.ended}
    found = [one if isinstance(one, ShapeFailure) else ends.get(id(one)) for one in queued]
    return tuple(one for one in found if one is not None)
