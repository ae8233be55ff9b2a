"""`assay records` and `assay dispatch`: what past processes left in the environment in force."""

from difflib import get_close_matches

from assay.cli.screen import open_screen
from assay.errors import TargetError
from assay.ops import options_in_force
from assay.report import dispatch_document, dispatch_table, records_document, records_table
from assay.store import Environment, open_environment

KINDS = ("autotune",)


def run_records(kind: str | None, *, as_json: bool) -> int:
    """Lists the records; the exit code.

    Args:
        kind: only of this kind; None means all.
        as_json: whether a program reads.

    Raises:
        AssayError: there is no such kind, or the environment cannot be read.
    """
    if kind is not None and kind not in KINDS:
        near = get_close_matches(kind, KINDS, 1)
        remedy = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(KINDS)}"
        raise TargetError("", f"no kind of record {kind!r}", remedy)
    with open_screen(as_json=as_json) as screen:
        environment = _environment()
        records = environment.records(kind)
        screen.hand_over(records_document(records))
        if not screen.wants_document:
            screen.show(records_table(records, environment.answers(), environment.sessions()))
        for trouble in environment.trouble:
            screen.complain(trouble)
    return 0


def run_dispatch(*, as_json: bool) -> int:
    """Shows the counts; the exit code.

    Raises:
        AssayError: the environment cannot be read.
    """
    with open_screen(as_json=as_json) as screen:
        environment = _environment()
        counts = environment.counts()
        screen.hand_over(dispatch_document(counts))
        if not screen.wants_document:
            screen.show(dispatch_table(counts))
        for trouble in environment.trouble:
            screen.complain(trouble)
    return 0


def _environment() -> Environment:
    """The environment in force, to read: nothing is made or changed."""
    return open_environment(options_in_force().store, read_only=True)
