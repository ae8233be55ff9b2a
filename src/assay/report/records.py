"""How kept records are shown: what each tune decided, from how much work, and whether it was stored."""

from collections.abc import Iterable, Mapping

import msgspec

from assay import units
from assay.report.table import Column, Table
from assay.store import Answer, AnswerKey, KeptRecord, Session


def records_table(records: Iterable[KeptRecord], answers: Iterable[Answer], sessions: Iterable[Session]) -> Table:
    """One row for each record, oldest first.

    Args:
        records: what was kept.
        answers: where the winners' names are looked up.
        sessions: where the dates are looked up.
    """
    winners = {(answer.key, answer.checksum): answer for answer in answers}
    started = {session.id: session.started for session in sessions}
    return Table(
        columns=(
            Column("session", wraps=True),
            Column("decided", wraps=True),
            Column("winner", wraps=True),
            Column("ran", "right"),
            Column("wall", "right"),
            Column("kept", wraps=True),
        ),
        rows=tuple(
            (
                started.get(kept.session, "") or kept.session,
                f"{kept.body.kind}: {kept.body.entry.key.label}",
                _winner(kept, winners),
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


def _winner(kept: KeptRecord, winners: Mapping[tuple[AnswerKey, str], Answer]) -> str:
    answer = winners.get((kept.body.entry.key, kept.body.entry.checksum))
    if answer is None:
        return f"kernel {kept.body.winner}"
    setting = ", ".join(f"{name}={value}" for name, value in answer.winner.setting.items())
    return f"{answer.winner.kernel}[{setting}]" if setting else answer.winner.kernel


def _fate(kept: KeptRecord) -> str:
    fate = "stored" if kept.body.stored else f"not stored: {kept.body.reason}"
    return f"{fate}, dry run" if kept.body.dry_run else fate
