"""What a tune leaves beside its answer: the account of how it was decided.

A record joins its answer's row by table, key and checksum. It belongs to a session, one process in one environment,
and says when in that session it happened. Nothing on the call path reads one.
"""

import os
import platform
import uuid
from collections.abc import Mapping
from typing import Literal

import msgspec

from assay.errors import DeclarationError
from assay.store.answer import Winner
from assay.store.key import AnswerKey
from assay.store.values import require_finite

ANSWER_TABLE = "answers"
"""The namespace of the answers' table."""

Effect = Literal["Changed", "Observed"]


class Trial(msgspec.Struct, frozen=True):
    """One entrant's run within a tune.

    Attributes:
        name: the entrant (``tiled[MR=8]``).
        wall: seconds from its first launch, building included, to its samples resolved.
    """

    name: str
    wall: float

    def __post_init__(self) -> None:
        """Checks the wall time.

        Raises:
            DeclarationError: it is not finite, or not above zero: the entrant did not run.
        """
        require_finite(self.name, (("wall", self.wall),))
        if self.wall <= 0:
            raise DeclarationError(self.name, f"wall is {self.wall} s, expected more than 0: only what ran is a trial")


class TableEntry(msgspec.Struct, frozen=True):
    """The row a record joins.

    Attributes:
        key: the answer's key.
        checksum: of the candidate list it was decided under.
    """

    key: AnswerKey
    checksum: str


class TuneRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="autotune"):
    """How one key was decided.

    Attributes:
        table: namespace of the answer's table.
        entry: the row the answer is stored under.
        winner: index of the candidate the key runs in this process.
        trials: the entrants that ran, in the order they ran.
        short_circuit: the entrant that met the limit and ended the tune before the rest of the plan ran, or None.
        wall: seconds from the miss to the answer committed.
        dry_run: whether the tune ran inside a dry run.
        stored: whether the table took the answer; settled by the commit.
        overlapping: whether entrants were built side by side, so that walls may overlap.
        first: the winner the table keeps where another writer was first; None where none was.
        reason: why the answer was not stored; empty where it was.
    """

    table: str = ANSWER_TABLE
    entry: TableEntry
    winner: int
    trials: tuple[Trial, ...]
    short_circuit: str | None = None
    wall: float
    dry_run: bool = False
    stored: bool = False
    overlapping: bool = False
    first: Winner | None = None
    reason: str = ""

    @property
    def kind(self) -> str:
        """The kind of record this is."""
        return "autotune"


class KeptRecord(msgspec.Struct, frozen=True):
    """A record in its place in a session.

    Attributes:
        session: the session's id.
        sequence: its number in the session, across kinds, from 0.
        offset_s: when it happened, on the session's clock.
        effect: whether the environment changed by it.
        body: the record.
    """

    session: str
    sequence: int
    offset_s: float
    effect: Effect
    body: TuneRecord


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One process in one environment.

    Attributes:
        id: its name among the environment's sessions.
        label: what the user calls it; may be empty.
        process: the process's id.
        operating_system: name and release.
        architecture: of the processor (``x86_64``).
        versions: of what it ran with, by name.
        device: key of the device's fingerprint.
        started: when, in ISO 8601.
    """

    id: str
    label: str = ""
    process: int
    operating_system: str
    architecture: str
    versions: dict[str, str] = {}
    device: str = ""
    started: str = ""

    @classmethod
    def here(
        cls, started: str, *, device: str = "", label: str = "", versions: Mapping[str, str] | None = None
    ) -> "Session":
        """A new session of this process.

        Args:
            started: now, in ISO 8601.
            device: key of the device's fingerprint.
            label: what the user calls it.
            versions: what it runs with, beside Python.
        """
        return cls(
            id=uuid.uuid4().hex[:16],
            label=label,
            process=os.getpid(),
            operating_system=f"{platform.system()} {platform.release()}",
            architecture=platform.machine(),
            versions={"python": platform.python_version(), **(versions or {})},
            device=device,
            started=started,
        )
