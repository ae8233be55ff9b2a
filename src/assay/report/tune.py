"""How a run of tuning is shown: a table for a person, a document for a program."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from assay.ops import PlannedShape
from assay.report.table import Column, Table
from assay.tuning import EntrantResult, TuneResult, shape_text

MAX_REASON = 160
"""Characters of a reason a table shows; the document has it whole."""


class Failure(Protocol):
    """A shape that could not be tuned."""

    @property
    def op(self) -> str:
        """Name of the op."""
        ...

    @property
    def shape(self) -> Mapping[str, object]:
        """The indices."""
        ...

    @property
    def error(self) -> Exception:
        """Why."""
        ...


def ratio_text(ratio: float | None, interval: tuple[float, float] | None) -> str:
    """A ratio with its interval: ``0.620 (0.601-0.642)``; a dash where nothing was confirmed.

    >>> ratio_text(0.62, (0.601, 0.6418))
    '0.620 (0.601-0.642)'
    """
    if ratio is None:
        return "-"
    return f"{ratio:.3f}" if interval is None else f"{ratio:.3f} ({interval[0]:.3f}-{interval[1]:.3f})"


def gain_text(result: TuneResult) -> str:
    """A shape's end in one line: ``tiled[MR=8] takes 0.620 (0.601-0.642) of the time of numpy``."""
    if result.outcome == "gain":
        ratio = ratio_text(result.ratio, result.interval)
        said = f"{result.winner.label} takes {ratio} of the time of {result.default.label}"
    else:
        said = f"{result.outcome}: {result.default.label} stays, {result.reason}"
    return f"{said} (kept)" if result.kept else said


def tune_table(results: Iterable[TuneResult], failures: Iterable[Failure]) -> Table:
    """One row for each shape: what was in force, what won, by how much; failures last."""
    decided = [
        (
            result.op,
            _spaced(result.shape),
            result.default.label,
            result.winner.label if result.outcome == "gain" else "stays",
            ratio_text(result.ratio, result.interval) if result.outcome == "gain" else "-",
            f"{result.outcome}, kept" if result.kept else result.outcome,
            _short(result.reason.removeprefix(f"{result.winner.label}: ")),
        )
        for result in results
    ]
    failed = [
        (failure.op, _spaced(failure.shape), "-", "-", "-", "failed", _short(str(failure.error)))
        for failure in failures
    ]
    return Table(
        columns=(
            Column("op"),
            Column("shape", wraps=True),
            Column("default", wraps=True),
            Column("winner", wraps=True),
            Column("ratio"),
            Column("outcome", wraps=True),
            Column("reason", wraps=True),
        ),
        rows=tuple(decided + failed),
    )


def warning_lines(results: Iterable[TuneResult]) -> list[str]:
    """The protections that were missing, each once."""
    return list(dict.fromkeys(warning for result in results for warning in result.warnings))


def tune_document(
    results: Iterable[TuneResult], failures: Iterable[Failure], profile: Path | None, session: str, *, interrupted: bool
) -> dict[str, object]:
    """What `assay tune --json` prints."""
    return {
        "shapes": [result_document(result) for result in results],
        "failures": [
            {"op": failure.op, "shape": dict(failure.shape), "error": str(failure.error)} for failure in failures
        ],
        "profile": None if profile is None else str(profile),
        "session": session,
        "interrupted": interrupted,
    }


def result_document(result: TuneResult) -> dict[str, object]:
    """One shape of a document."""
    return {
        "op": result.op,
        "shape": dict(result.shape),
        "outcome": result.outcome,
        "reason": result.reason,
        "winner": _named(result.winner),
        "default": _named(result.default),
        "ratio": result.ratio,
        "interval": result.interval,
        "evidence": msgspec.to_builtins(result.evidence),
        "entrants": [_entrant(entrant) for entrant in result.entrants],
        "kept": result.kept,
        "warnings": list(result.warnings),
    }


def plan_table(planned: Sequence[PlannedShape], failures: Iterable[Failure]) -> Table:
    """One row for each candidate of each shape that would be tuned."""
    rows: list[tuple[str, ...]] = []
    for shape in planned:
        for position, candidate in enumerate(shape.candidates):
            first = position == 0
            rows.append(
                (
                    shape.op if first else "",
                    _breakable(shape.shape) if first else "",
                    shape.default if first else "",
                    candidate.kernel,
                    str(candidate.settings),
                    _dropped(candidate.dropped, candidate.reason),
                )
            )
    rows += [
        (failure.op, _spaced(failure.shape), "-", "-", "-", f"failed: {_short(str(failure.error))}")
        for failure in failures
    ]
    return Table(
        columns=(
            Column("op"),
            Column("shape", wraps=True),
            Column("default", wraps=True),
            Column("kernel"),
            Column("settings", "right"),
            Column("left out", wraps=True),
        ),
        rows=tuple(rows),
    )


def plan_document(
    planned: Sequence[PlannedShape], failures: Iterable[Failure], profile: Path | None
) -> dict[str, object]:
    """What `assay tune --plan --json` prints."""
    return {
        "plan": [
            {
                "op": shape.op,
                "shape": shape.shape,
                "default": shape.default,
                "candidates": [
                    {
                        "kernel": candidate.kernel,
                        "settings": candidate.settings,
                        "dropped": candidate.dropped,
                        "reason": candidate.reason,
                    }
                    for candidate in shape.candidates
                ],
            }
            for shape in planned
        ],
        "failures": [
            {"op": failure.op, "shape": dict(failure.shape), "error": str(failure.error)} for failure in failures
        ],
        "profile": None if profile is None else str(profile),
    }


def _named(entrant: EntrantResult) -> dict[str, object]:
    return {"kernel": entrant.kernel, "setting": dict(entrant.setting)}


def _entrant(entrant: EntrantResult) -> dict[str, object]:
    return {
        **_named(entrant),
        "outcome": entrant.outcome,
        "reason": entrant.reason,
        "median_ns": entrant.median_ns,
        "ratio": entrant.ratio,
    }


def _dropped(count: int, reason: str) -> str:
    if not count:
        return reason
    return f"{count} dropped: {reason}" if reason else f"{count} dropped"


def _spaced(shape: Mapping[str, object]) -> str:
    """A shape that a table may break between its indices."""
    return _breakable(shape_text(shape))


def _breakable(shape: str) -> str:
    return shape.replace(",", ", ")


def _short(reason: str) -> str:
    line = " ".join(reason.split())
    return line if len(line) <= MAX_REASON else f"{line[: MAX_REASON - 1]}…"
