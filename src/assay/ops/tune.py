"""Tuning one call of an op: what is in force, what would be tried, and the tune itself."""

from collections.abc import Callable
from dataclasses import dataclass

from assay.errors import SpaceError
from assay.kernel import Entrant
from assay.ops.arbiter import Question
from assay.ops.op import Op
from assay.ops.sources import facts_here, tell_of_dropped
from assay.signature import Call
from assay.store import Profile
from assay.tuning import Progress, Search, Subject, TuneOrder, TuneResult, exact_shape, shape_text, tune


@dataclass(frozen=True, slots=True)
class PlannedCandidate:
    """A candidate of a tune that is only planned.

    Attributes:
        kernel: its name.
        settings: how many settings it has for the shape; 0 when it is skipped.
        dropped: combinations of its tunables that its constraints drop.
        reason: why it is skipped; empty when it is not.
    """

    kernel: str
    settings: int
    dropped: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlannedShape:
    """What would be tuned.

    Attributes:
        op: the op's name.
        shape: the shape, as it is typed.
        default: the entrant in force, as text; empty when none serves the shape.
        candidates: the candidates, in order.
    """

    op: str
    shape: str
    default: str
    candidates: tuple[PlannedCandidate, ...]


def tune_call(
    op: Op,
    call: Call,
    order: TuneOrder,
    *,
    profile: Profile,
    seed: int,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> TuneResult:
    """How one call of an op is decided; what was planned for the op before is forgotten.

    Args:
        op: the op.
        call: the call.
        order: how to tune, and where to keep what comes of it.
        profile: what is in force: its entry for the call is the default that is to be beaten.
        seed: what the search draws from.
        on_progress: told where the tune is.

    Raises:
        TuneError: no entrant survived, or none serves the call.
        MeasureError: the default does not run any more, or nothing can be kept for this device.
    """
    question = _question(op, call, profile)
    default = default_in_force(question, profile)
    search = Search(strategy=order.strategy, seed=seed, budget_s=order.budget_s)
    subject = Subject(op.declaration, call, default or Entrant(""))
    result = tune(subject, order, search, on_progress)
    op.pathway.replan()
    return result


def plan_call(op: Op, call: Call, profile: Profile) -> PlannedShape:
    """What a tune of this call would try; nothing is built or timed."""
    question = _question(op, call, profile)
    default = default_in_force(question, profile)
    facts = call.facts(facts_here())
    planned: list[PlannedCandidate] = []
    for found in op.declaration.candidates:
        reason = found.refusal(call, facts_here())
        if reason is not None:
            planned.append(PlannedCandidate(found.name, 0, 0, reason))
            continue
        try:
            space = found.kernel.space(facts)
            planned.append(PlannedCandidate(found.name, len(space), sum(one.count for one in space.dropped)))
        except SpaceError as empty:
            planned.append(PlannedCandidate(found.name, 0, 0, empty.said))
    shape = shape_text(exact_shape(op.declaration, call))
    return PlannedShape(op.name, shape, str(default) if default else "", tuple(planned))


def default_in_force(question: Question, profile: Profile) -> Entrant | None:
    """The entrant to be beaten: what the profile chooses where that serves, else the unmeasured choice.

    None when nothing serves the call.
    """
    declaration, call = question.declaration, question.call
    chosen = profile.resolve(declaration.name, exact_shape(declaration, call)).choose
    candidate = declaration.candidate(chosen) if chosen is not None else None
    if candidate is not None and candidate.refusal(call, question.device) is None:
        return Entrant(candidate.name, question.setting(candidate, {}))
    return question.in_force()


def _question(op: Op, call: Call, profile: Profile) -> Question:
    found = profile.resolve(op.name, exact_shape(op.declaration, call))
    tell_of_dropped(op.declaration, found)
    return Question(op.declaration, call, facts_here(), {}, found.settings, {})
