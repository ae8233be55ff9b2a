"""One session's records, on their way to storage.

Observed records wait in a bounded buffer, oldest out, until the session first changes something; that writes the
session and then the buffer, in order. A session that changed nothing leaves nothing.
"""

import os
import threading
from collections import deque

from assay.store.record import KeptRecord, Session, TuneRecord
from assay.store.shelf import written
from assay.store.storage import Transaction

BUFFERED = 256
"""Observed records kept waiting: a few hundred tunes is more than a process makes before its first answer."""


class SessionLog:
    """One session's records.

    Args:
        session: whose records they are.
        buffered: how many observed ones wait at most.
    """

    def __init__(self, session: Session, buffered: int = BUFFERED) -> None:
        self.session = session
        self._waiting: deque[KeptRecord] = deque(maxlen=buffered)
        self._next = 0
        self._kept = False
        self._lock = threading.Lock()

    @property
    def is_here(self) -> bool:
        """Whether the session is this process's, and not its parent's before a fork."""
        return self.session.process == os.getpid()

    def observe(self, record: TuneRecord, offset_s: float) -> KeptRecord:
        """Takes a record that changed nothing."""
        with self._lock:
            kept = KeptRecord(self.session.id, self._number(), offset_s, "Observed", record)
            self._waiting.append(kept)
            return kept

    def change(self, transaction: Transaction, record: TuneRecord, offset_s: float) -> KeptRecord:
        """Writes the session, what waits and a record that changed something; `changed` says it was committed."""
        with self._lock:
            kept = KeptRecord(self.session.id, self._number(), offset_s, "Changed", record)
            if not self._kept:
                transaction.put("sessions", self.session.id, written(self.session))
            for each in (*self._waiting, kept):
                transaction.put("records", f"{each.session}/{each.sequence:08d}", written(each))
            return kept

    def changed(self, upto: KeptRecord) -> None:
        """Forgets what a committed change wrote: what waited before it."""
        with self._lock:
            self._kept = True
            later = [each for each in self._waiting if each.sequence > upto.sequence]
            self._waiting.clear()
            self._waiting.extend(later)

    def _number(self) -> int:
        number = self._next
        self._next += 1
        return number
