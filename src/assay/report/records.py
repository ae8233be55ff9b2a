"""How kept records are shown: what each tune decided, from how much work, and whether it was stored."""

from collections.abc import Iterable

import msgspec

from assay import units
from assay.kernel import Entrant, Setting
from assay.report.others import spaced
from assay.report.table import Column, Table
from assay.store import Answer, KeptRecord, Session
from assay.tuning import shape_text


def records_table(records: Iterable[KeptRecord], answers: Iterable[Answer], sessions: Iterable[Session]) -> Table:
    """One row for each record, oldest first.

    Args:
        records: what was kept.
        answers: where the shapes, the outcomes and the winners' names are looked up.
        sessions: where the dates are looked up.
    """
    decided = {(answer.key, answer.checksum): answer for answer in answers}
    started = {session.id: session.started for session in sessions}
    return Table(
        columns=(
            Column("session"),
            Column("op"),
            Column("shape", wraps=True),
            Column("outcome", wraps=True),
            Column("tried", "right"),
            Column("wall", "right"),
            Column("stored", wraps=True),
        ),
        rows=tuple(
            (
                _minute(started.get(kept.session, "")) or kept.session,
                kept.body.entry.key.op,
                *_decision(kept, decided.get((kept.body.entry.key, kept.body.entry.checksum))),
                str(len(kept.body.trials)),
                units.format_seconds(kept.body.wall),
                _fate(kept),
            )
            for kept in records
        ),
        when_empty="no records in this environment yet",
    )


def records_document(records: Iterable[KeptRecord]) -> dict[str, object]:
    """What `assay records --json` prints: each record's fields beside its place in its session."""
    return {"records": [_flat(kept) for kept in records]}


def _flat(kept: KeptRecord) -> dict[str, object]:
    place: dict[str, object] = msgspec.to_builtins(kept)
    body: dict[str, object] = msgspec.to_builtins(kept.body)
    del place["body"]
    return {**place, **body}


def _decision(kept: KeptRecord, answer: Answer | None) -> tuple[str, str]:
    """Shape and outcome, by the answer; without it, what the record itself can say."""
    if answer is None:
        key = kept.body.entry.key
        return key.label.removeprefix(f"{key.op} "), f"kernel {kept.body.winner}"
    ratio = "" if answer.ratio is None else f" {answer.ratio:.3f}"
    winner = Entrant(answer.winner.kernel, Setting.of(answer.winner.setting))
    stays = "" if answer.outcome == "gain" else " stays"
    return spaced(shape_text(answer.indices)), f"{answer.outcome}{ratio}: {winner}{stays}"


def _minute(started: str) -> str:
    """A date in ISO 8601 up to its minute, as it is read."""
    return started[:16].replace("T", " ")


def _fate(kept: KeptRecord) -> str:
    fate = "yes" if kept.body.stored else f"no: {kept.body.reason}"
    return f"{fate}, dry run" if kept.body.dry_run else fate
