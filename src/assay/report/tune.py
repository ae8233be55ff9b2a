"""How a run of tuning is shown: a table for a person, a document for a program."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from assay.ops import PlannedShape
from assay.report.others import others_text, spaced
from assay.report.table import Column, Table
from assay.tuning import EntrantResult, TuneResult, shape_text

REMEASURE = "measure again with --remeasure"
"""What to do about a refused race, which decided nothing and is kept."""


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
    kept = " (kept)" if result.kept else ""
    if result.outcome == "gain":
        ratio = ratio_text(result.ratio, result.interval)
        return f"{result.winner.label} takes {ratio} of the time of {result.default.label}{kept}"
    said = f"{result.outcome}: {result.default.label} stays, {result.reason}{kept}"
    return f"{said}; {REMEASURE}" if result.outcome == "refused" else said


def tune_table(ended: Iterable[TuneResult | Failure]) -> Table:
    """One row for each shape, in the order given: what became of it, what runs from now on, by how much.

    Args:
        ended: each shape's end.
    """
    return Table(
        columns=(
            Column("op"),
            Column("shape", wraps=True),
            Column("outcome", wraps=True),
            Column("winner", wraps=True),
            Column("ratio", wraps=True),
            Column("others", wraps=True),
        ),
        rows=tuple(_decided(one) if isinstance(one, TuneResult) else _failed(one) for one in ended),
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
        "failures": _failures(failures),
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


def plan_table(listed: Iterable[PlannedShape | Failure]) -> Table:
    """One row for each candidate of each shape that would be tuned, in the order given; why one cannot be.

    Args:
        listed: each shape.
    """
    rows: list[tuple[str, ...]] = []
    for one in listed:
        if not isinstance(one, PlannedShape):
            rows.append((one.op, spaced(shape_text(one.shape)), "-", "-", "-", f"failed: {_line(one.error)}"))
            continue
        subject = (one.op, spaced(one.shape), one.default)
        for candidate in one.candidates:
            left_out = _dropped(candidate.dropped, candidate.reason)
            rows.append((*subject, candidate.kernel, str(candidate.settings), left_out))
            subject = ("", "", "")
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
        "failures": _failures(failures),
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


def _decided(result: TuneResult) -> tuple[str, ...]:
    default, gains = result.default.label, result.outcome == "gain"
    stays = f"{default} stays; {REMEASURE}" if result.outcome == "refused" else f"{default} stays"
    return (
        result.op,
        spaced(shape_text(result.shape)),
        f"{result.outcome}, kept" if result.kept else result.outcome,
        result.winner.label if gains else stays,
        f"{ratio_text(result.ratio, result.interval)} of {default}" if gains else "-",
        others_text(result),
    )


def _failed(failure: Failure) -> tuple[str, ...]:
    return (failure.op, spaced(shape_text(failure.shape)), "failed", _line(failure.error), "-", "-")


def _line(error: Exception) -> str:
    """An error, whole, in one line that a table may break."""
    return " ".join(str(error).split())


def _failures(failures: Iterable[Failure]) -> list[dict[str, object]]:
    return [{"op": failure.op, "shape": dict(failure.shape), "error": str(failure.error)} for failure in failures]
