"""What an environment takes and gives beside answers: figures, verdicts, counts, and what became of a commit."""

from typing import Literal, get_args

import msgspec

from assay.store.answer import Answer
from assay.store.record import TuneRecord

DispatchOutcome = Literal["won", "degraded", "no_candidate", "error"]
DISPATCH_OUTCOMES: tuple[DispatchOutcome, ...] = get_args(DispatchOutcome)

CountKey = tuple[str, str, DispatchOutcome]
"""What a dispatch is counted under: target, op, outcome."""


class KeptFigure(msgspec.Struct, frozen=True):
    """A measurement and what it is kept under.

    Attributes:
        key: digest of everything the time follows.
        value: the measurement.
    """

    key: str
    value: msgspec.Struct


class KeptVerdict(msgspec.Struct, frozen=True):
    """The gate's verdict on a build.

    Attributes:
        build: the build's identity.
        region: the calls it was probed for.
        passed: whether it may run there.
        reason: why not; empty where it passed.
        date: when, in ISO 8601.
    """

    build: str
    region: str
    passed: bool
    reason: str = ""
    date: str = ""


class Committed(msgspec.Struct, frozen=True):
    """What became of a commit.

    Attributes:
        stored: whether the table took every answer, and there was one.
        kept: what the table holds for each answer's key: the first writer's where another was first.
        record: the record as it was taken; None when none was given.
        reason: why an answer was not stored; empty where all were.
    """

    stored: bool
    kept: tuple[Answer, ...]
    record: TuneRecord | None
    reason: str = ""
