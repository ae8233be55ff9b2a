"""`assay tune`: what was typed becomes a request; what comes back becomes lines, a table, a document and a code."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.cli.home import HOME
from assay.cli.progress import watch
from assay.cli.screen import INTERRUPTED, Screen, open_screen
from assay.job import Listener, ShapeFailure, TuneReport, TuneRequest, plan, read_budget, read_shape, run
from assay.report import plan_document, plan_table, tune_document, tune_table, warning_lines

DONE = 0
NOTHING_TUNED = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class TuneOptions:
    """What was typed, still as text.

    Attributes:
        target: the target.
        shapes: the shapes.
        device: name of the device.
        profile: the folder of profiles; None where none was named.
        budget: the budget; None where none was set.
        strategy: name of the strategy.
        seed: the seed.
        remeasure: whether kept answers are measured again.
    """

    target: str
    shapes: tuple[str, ...]
    device: str
    profile: Path | None
    budget: str | None
    strategy: str
    seed: int
    remeasure: bool


def run_tune(options: TuneOptions, *, only_plan: bool, as_json: bool) -> int:
    """Tunes, or says what would be tuned; the exit code.

    Raises:
        AssayError: something that was typed is wrong.
    """
    with open_screen(as_json=as_json) as screen:
        request = TuneRequest(
            target=options.target,
            shapes=[read_shape(text) for text in options.shapes] or None,
            home=HOME,
            device=options.device,
            budget_s=None if options.budget is None else read_budget(options.budget),
            seed=options.seed,
            strategy=options.strategy,
            remeasure=options.remeasure,
            profile=options.profile,
        )
        return _show_plan(screen, request) if only_plan else _tune(screen, request)


def _show_plan(screen: Screen, request: TuneRequest) -> int:
    planned = plan(request)
    screen.hand_over(plan_document(planned.shapes, planned.failures, planned.profile))
    if not screen.wants_document:
        screen.show(plan_table(planned.shapes, planned.failures))
        screen.say(f"profile: {planned.profile}")
    return DONE if planned.shapes else _nothing(screen, planned.failures)


def _tune(screen: Screen, request: TuneRequest) -> int:
    with watch(screen) as progress:
        report = run(request, Listener(progress.on_progress, progress.on_result))
    _show(screen, report)
    if report.interrupted:
        screen.complain("interrupted: what was decided is kept, the profile is as it was; the same command goes on")
        return INTERRUPTED
    return DONE if report.results else _nothing(screen, report.failures)


def _show(screen: Screen, report: TuneReport) -> None:
    screen.hand_over(
        tune_document(report.results, report.failures, report.profile, report.session, interrupted=report.interrupted)
    )
    for line in (*warning_lines(report.results), *report.notes):
        screen.say(f"note: {line}")
    if report.results:
        screen.show(tune_table(report.results, report.failures))
    if report.profile is not None and not report.interrupted:
        screen.say(f"profile: {report.profile}")


def _nothing(screen: Screen, failures: Sequence[ShapeFailure]) -> int:
    """Says why nothing could be tuned: the one reason, or how many there were and the first."""
    more = f" (the first of {len(failures)} shapes that failed)" if len(failures) > 1 else ""
    screen.complain(f"nothing could be tuned: {failures[0].error}{more}")
    return NOTHING_TUNED
