"""`assay tune`: what was typed becomes a request; what comes back becomes lines, a table, a document and a code."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.cli.codes import DONE, INTERRUPTED, WRONG_USE
from assay.cli.home import HOME
from assay.cli.progress import end_line, watch
from assay.cli.screen import Screen, open_screen
from assay.job import Listener, ShapeFailure, TuneReport, TuneRequest, plan, read_budget, read_shape, run
from assay.report import plan_document, plan_table, refused_table, tune_document, tune_table, warning_lines

UNIDENTIFIED = "the device cannot be identified: no profile would be written"


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
    if not planned.shapes:
        return _nothing(screen, planned.failures)
    if not screen.wants_document:
        screen.show(plan_table(planned.listed))
        screen.say(UNIDENTIFIED if planned.profile is None else f"would write {planned.profile}")
    return DONE


def _tune(screen: Screen, request: TuneRequest) -> int:
    with watch(screen) as progress:
        report = run(request, Listener(progress.on_progress, progress.on_result))
        if report.interrupted:
            progress.endings.release()
    _show(screen, report)
    if report.interrupted:
        screen.complain("interrupted: what was decided is kept, the profile is as it was; the same command goes on")
        return INTERRUPTED
    if report.unwritten is not None:
        screen.complain(f"{report.unwritten}; what was decided is kept, and the same command writes the profile")
        return WRONG_USE
    return DONE if report.results else _nothing(screen, report.failures)


def _show(screen: Screen, report: TuneReport) -> None:
    screen.hand_over(
        tune_document(report.results, report.failures, report.profile, report.session, interrupted=report.interrupted)
    )
    for line in (*warning_lines(report.results), *report.notes):
        screen.say(f"note: {line}")
    if report.results:
        screen.show(tune_table(report.ended))
        refused = refused_table(report.results)
        if refused.rows:
            screen.show(refused)
    if report.profile is not None and not report.interrupted:
        screen.say(f"profile: {report.profile}")


def _nothing(screen: Screen, failures: Sequence[ShapeFailure]) -> int:
    """Says why nothing could be tuned: the one reason, or each shape's."""
    if len(failures) == 1:
        screen.complain(f"nothing could be tuned: {failures[0].error}")
    else:
        lines = [f"nothing could be tuned: all {len(failures)} shapes failed", *map(end_line, failures)]
        screen.complain("\n  ".join(lines))
    return WRONG_USE
