"""What is kept: environments of answers, figures, verdicts and records, and profiles.

An answer says which entrant a key runs; a record says how that was decided; a profile says it for people, to review
and to ship. Everything is JSON made of typed values, so reading it never runs code.
"""

from assay.store.answer import (
    ENTRANT_OUTCOMES,
    Answer,
    Chosen,
    EntrantOutcome,
    Evidence,
    Outcome,
    Ranked,
    Winner,
    rank,
)
from assay.store.environment import Environment
from assay.store.kept import DISPATCH_OUTCOMES, Committed, CountKey, DispatchOutcome, KeptFigure, KeptVerdict
from assay.store.key import LEVELS, AnswerKey, Level, anchor, anchored, checksum, digest, row_id
from assay.store.profile import Entry, Profile, Resolved, profile_path, update_profile
from assay.store.record import ANSWER_TABLE, KeptRecord, Session, TableEntry, Trial, TuneRecord
from assay.store.root import DEFAULT_NAME, environment_names, open_environment
from assay.store.sqlite import SqliteStorage
from assay.store.storage import TABLES, Storage, Table, Transaction
from assay.store.values import Dimension, Value, plain, settled

__all__ = [
    "ANSWER_TABLE",
    "DEFAULT_NAME",
    "DISPATCH_OUTCOMES",
    "ENTRANT_OUTCOMES",
    "LEVELS",
    "TABLES",
    "Answer",
    "AnswerKey",
    "Chosen",
    "Committed",
    "CountKey",
    "Dimension",
    "DispatchOutcome",
    "EntrantOutcome",
    "Entry",
    "Environment",
    "Evidence",
    "KeptFigure",
    "KeptRecord",
    "KeptVerdict",
    "Level",
    "Outcome",
    "Profile",
    "Ranked",
    "Resolved",
    "Session",
    "SqliteStorage",
    "Storage",
    "Table",
    "TableEntry",
    "Transaction",
    "Trial",
    "TuneRecord",
    "Value",
    "Winner",
    "anchor",
    "anchored",
    "checksum",
    "digest",
    "environment_names",
    "open_environment",
    "plain",
    "profile_path",
    "rank",
    "row_id",
    "settled",
    "update_profile",
]
