"""Deciding at a first miss, in this process, on copies of the caller's own arrays."""

from collections.abc import Mapping

from assay.errors import AssayError
from assay.kernel import Entrant
from assay.measure import Protocol
from assay.ops.arbiter import Question
from assay.ops.regime import Regime
from assay.ops.sources import device_here, environment_or_none, kept_answer, place_here, tell_once
from assay.store import Answer
from assay.tuning import Search, Subject, TuneOrder, TuneResult, tune
from assay.worker import Inline

FIRST_MISS_BUDGET_S = 10.0
"""No further batch is begun at a first miss after this long: somebody is waiting for the call."""


def measured_answer(question: Question, regime: Regime, inputs: Mapping[str, object]) -> Answer | None:
    """The answer that measuring gives for a call, kept; None when nothing could be decided, which is said once."""
    default = question.in_force()
    if default is None:
        return None
    try:
        tune_here(question, default, regime, Search(budget_s=FIRST_MISS_BUDGET_S), inputs)
    except AssayError as failed:
        tell_once(f"{question.declaration.name}: not measured at the first miss: {failed}")
        return None
    return kept_answer(question.declaration, question.call, regime)


def tune_here(
    question: Question, default: Entrant, regime: Regime, search: Search, inputs: Mapping[str, object] | None
) -> TuneResult:
    """Tunes a call in this process.

    Args:
        question: the call.
        default: the entrant in force.
        regime: says where answers are kept.
        search: what to try.
        inputs: the caller's own inputs by name; None means they are made.

    Raises:
        TuneError: no entrant survived.
        MeasureError: the default does not run, or the environment cannot be opened.
    """
    environment = environment_or_none(regime)
    if environment is None:
        raise AssayError(question.declaration.name, "the environment cannot be opened, so nothing is measured")
    order = TuneOrder(
        device=device_here(),
        environment=environment,
        place=place_here(),
        runner=Inline(),
        protocol=Protocol(),
        dry_run=regime.dry_run,
    )
    return tune(Subject(question.declaration, question.call, default, inputs), order, search)
