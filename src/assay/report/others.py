"""How the entrants that did not win are shown: how near each other kernel came, and which were refused or failed."""

from collections.abc import Iterable

from assay.report.table import Column, Table
from assay.tuning import EntrantResult, TuneResult, shape_text

MAX_REASON = 100
"""Characters of a reason a table shows; the document has it whole."""

OUT = ("refused", "failed")
"""The outcomes of an entrant that could not run, or could not be timed."""


def others_text(result: TuneResult) -> str:
    """The best of each kernel that neither won nor was in force: ``numba 2.31, skinny 1.20``; a dash without any.

    The numbers are times over the default's, from the selecting stage, the nearest first.
    """
    best: dict[str, float] = {}
    for one in result.entrants:
        if one.outcome == "ranked" and one.ratio is not None:
            best[one.kernel] = min(one.ratio, best.get(one.kernel, one.ratio))
    near = sorted((ratio, kernel) for kernel, ratio in best.items() if kernel not in _raced(result))
    return ", ".join(f"{kernel} {ratio:.2f}" for ratio, kernel in near) or "-"


def refused_table(results: Iterable[TuneResult]) -> Table:
    """One row for each kernel of each shape some of whose settings were refused or failed; the first reason of each."""
    rows: list[tuple[str, ...]] = []
    for result in results:
        subject = (result.op, spaced(shape_text(result.shape)))
        for kernel, out in _out_by_kernel(result).items():
            entered = sum(one.kernel == kernel for one in result.entrants)
            rows.append((*subject, kernel, f"{len(out)} of {entered}", _words(out), first_line(out[0].reason)))
            subject = ("", "")
    return Table(
        columns=(
            Column("op"),
            Column("shape", wraps=True),
            Column("kernel"),
            Column("settings"),
            Column("outcome", wraps=True),
            Column("reason", wraps=True),
        ),
        rows=tuple(rows),
        title="refused or failed",
        when_empty="no kernel was refused or failed",
    )


def spaced(shape: str) -> str:
    """A shape as a table shows it: ``M=5, N=64``."""
    return shape.replace(",", ", ")


def first_line(reason: str) -> str:
    r"""The first line of a reason, shortened.

    >>> first_line("cc: error: expected ';'\n  7 | int x")
    "cc: error: expected ';'"
    """
    line = reason.strip().partition("\n")[0].rstrip()
    return line if len(line) <= MAX_REASON else f"{line[: MAX_REASON - 1]}…"


def _raced(result: TuneResult) -> tuple[str, str]:
    return (result.winner.kernel, result.default.kernel)


def _out_by_kernel(result: TuneResult) -> dict[str, list[EntrantResult]]:
    found: dict[str, list[EntrantResult]] = {}
    for one in result.entrants:
        if one.outcome in OUT:
            found.setdefault(one.kernel, []).append(one)
    return found


def _words(out: Iterable[EntrantResult]) -> str:
    outcomes = {one.outcome for one in out}
    return " or ".join(word for word in OUT if word in outcomes)
