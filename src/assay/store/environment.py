"""An environment: one named store of answers, figures, verdicts and records, and this process's memory of it.

The object is passed to whoever needs it. Asking it for an answer or a verdict never raises and never waits for
storage twice; telling it something never raises for the storage's sake either: what cannot be stored is held in
memory, and why is said once in `trouble`. Only opening one, and listing what it holds, raise for a bad store.
"""

import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from assay.errors import StoreError
from assay.store.answer import Answer, Winner
from assay.store.kept import Committed, CountKey, KeptFigure, KeptVerdict
from assay.store.key import AnswerKey, digest, row_id
from assay.store.log import SessionLog
from assay.store.record import KeptRecord, Session, TuneRecord
from assay.store.shelf import Shelf, written
from assay.store.sqlite import SqliteStorage
from assay.store.storage import Storage, Transaction

F = TypeVar("F", bound=msgspec.Struct)


class Environment:
    """One named store, and this process's memory of it.

    Args:
        place: the SQLite file, a URL, or a storage. A missing file is an empty store, made by the first write.
        read_only: never write, and never make, rebuild or repair the file.

    Raises:
        StoreError: there is a file and it is no store this version can open; it is left as it is.
    """

    def __init__(self, place: str | Path | Storage, *, read_only: bool = False) -> None:
        self.storage: Storage = _storage(place, read_only=read_only) if isinstance(place, str | Path) else place
        self.trouble: list[str] = list(self.storage.notices)
        self._read_only = read_only
        self._told: set[str] = set()
        self._log: SessionLog | None = None
        self._lock = threading.Lock()
        self._answers = Shelf(self.storage, "answers", Answer, self._report)
        self._verdicts = Shelf(self.storage, "verdicts", KeptVerdict, self._report)
        self._sessions = Shelf(self.storage, "sessions", Session, self._report)
        self._records = Shelf(self.storage, "records", KeptRecord, self._report)

    def __enter__(self) -> Self:
        """The environment itself; leaving closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the environment."""
        self.close()

    def __repr__(self) -> str:
        """The environment by its place."""
        return f"Environment({self.storage.place!r})"

    @property
    def place(self) -> str:
        """The file's path, or the URL."""
        return self.storage.place

    @property
    def writable(self) -> bool:
        """Whether it takes anything at all."""
        return not self._read_only and self.storage.writable

    @property
    def session(self) -> Session | None:
        """This process's session; None before `begin`, and in the child of a fork."""
        return self._log.session if self._log is not None and self._log.is_here else None

    def begin(self, session: Session) -> None:
        """Makes a session this process's one; its records start here."""
        self._log = SessionLog(session)

    def answer(self, key: AnswerKey, checksum: str, *, fresh: bool = False) -> Answer | None:
        """The answer kept for a key under a candidate list; None when there is none. Never raises.

        Args:
            key: the key.
            checksum: of the present candidate list.
            fresh: look into the storage once more, for what another process decided meanwhile.
        """
        row = row_id(key, checksum)
        found = self._answers.get(row, fresh=fresh)
        if found is not None and (found.key, found.checksum) != (key, checksum):
            self._report(row, f"{self.place}: row {row} holds another key's answer and is ignored")
            return None
        return found

    def answers(self) -> list[Answer]:
        """Every answer, those only in memory last; of a key answered twice, the stored one.

        Raises:
            StoreError: the storage cannot be read.
        """
        stored = self._answers.all()
        seen = {row_id(each.key, each.checksum) for each in stored}
        return stored + [each for row, each in self._answers.held().items() if row not in seen]

    def sessions(self) -> list[Session]:
        """Every session that changed something, oldest first.

        Raises:
            StoreError: the storage cannot be read.
        """
        return self._sessions.all()

    def records(self, kind: str | None = None) -> list[KeptRecord]:
        """Every stored record, in the order they were written.

        Args:
            kind: only of this kind (``autotune``); None for all.

        Raises:
            StoreError: the storage cannot be read.
        """
        return [each for each in self._records.all() if kind in (None, each.body.kind)]

    def figure(self, key: str, kind: type[F]) -> F | None:
        """The measurement kept under a key; None when there is none or it cannot be read. Never raises.

        Args:
            key: digest of everything the time follows.
            kind: the measurement's type.
        """
        return Shelf(self.storage, "figures", kind, self._report).get(key, fresh=True)

    def verdict(self, build: str, region: str) -> KeptVerdict | None:
        """The verdict kept on a build for a region; None when there is none. Never raises."""
        return self._verdicts.get(_verdict_row(build, region))

    def keep_verdict(self, verdict: KeptVerdict) -> bool:
        """Keeps a verdict, in place of an older one; whether it was stored, and not only held in memory."""
        row = _verdict_row(verdict.build, verdict.region)
        self._verdicts.hold(row, verdict)
        text = written(verdict)
        try:
            with self._writing() as transaction:
                transaction.put("verdicts", row, text)
        except StoreError as trouble:
            self._report("keeping verdicts", str(trouble))
            return False
        return True

    def commit(
        self,
        answers: Sequence[Answer],
        figures: Sequence[KeptFigure] = (),
        record: TuneRecord | None = None,
        *,
        replace: bool = False,
        offset_s: float = 0.0,
    ) -> Committed:
        """Takes what a tune decided, in one transaction; trouble with the storage is in the result.

        This process answers with its own answers from now on, whatever the table holds.

        Args:
            answers: what was decided; none when nothing was measured.
            figures: the measurements behind it.
            record: the account; its `stored`, `first` and `reason` are settled here.
            replace: put the answers in place of stored ones, as `remeasure` does; else the first writer wins.
            offset_s: now, on the session's clock.

        Raises:
            StoreError: there is a record and no session began in this process.
            DeclarationError: something given would not read back as it is.
        """
        if record is not None and self.session is None:
            raise StoreError(self.place, "has no session in this process, so no record can be kept", "begin one first")
        rows = [(row_id(each.key, each.checksum), each, written(each)) for each in answers]
        texts = [(each.key, written(each.value)) for each in figures]
        try:
            committed = self._commit(rows, texts, record, replace=replace, offset_s=offset_s)
        except StoreError as trouble:
            for row, each, _ in rows:
                self._report(f"storing {row}", f"{each.key.label}: kept in memory only: {trouble}")
            account = None if record is None else _closed(record, stored=False, first=None, reason=str(trouble))
            committed = Committed(stored=False, kept=tuple(answers), record=account, reason=str(trouble))
        for row, each, _ in rows:
            self._answers.hold(row, each)
        if committed.record is not None and not committed.record.stored and self._log is not None:
            self._log.observe(committed.record, offset_s)
        return committed

    def add_counts(self, counts: Mapping[CountKey, int]) -> bool:
        """Adds dispatch counts to the environment's sums; whether they were stored."""
        try:
            with self._writing() as transaction:
                for key, more in counts.items():
                    row = msgspec.json.encode(key).decode()
                    transaction.put("counts", row, str(_count(transaction.get("counts", row)) + more).encode())
        except StoreError as trouble:
            self._report("keeping counts", str(trouble))
            return False
        return True

    def counts(self) -> dict[CountKey, int]:
        """Dispatch counts by target, op and outcome, summed over every process's.

        Raises:
            StoreError: the storage cannot be read.
        """
        found: dict[CountKey, int] = {}
        for row, text in self.storage.scan("counts"):
            try:
                found[msgspec.json.decode(row, type=CountKey)] = _count(text)
            except msgspec.MsgspecError as unread:
                self._report(row, f"{self.place}: the count {row!r} cannot be read and is left out ({unread})")
        return found

    def close(self) -> None:
        """Lets go of the store; a later use opens it again."""
        self.storage.close()

    def _commit(
        self,
        rows: list[tuple[str, Answer, bytes]],
        figures: list[tuple[str, bytes]],
        record: TuneRecord | None,
        *,
        replace: bool,
        offset_s: float,
    ) -> Committed:
        log, taken, account = self._log, None, record
        kept: list[Answer] = []
        with self._writing() as transaction:
            for row, answer, text in rows:
                first = None if replace else self._answers.readable(row, transaction.get("answers", row))
                if first is None:
                    transaction.put("answers", row, text)
                kept.append(first or answer)
            for key, text in figures:
                transaction.put("figures", key, text)
            lost = [theirs for (_, mine, _), theirs in zip(rows, kept, strict=True) if theirs is not mine]
            stored = bool(rows) and not lost
            reason = "" if stored else "another writer was first" if rows else "nothing was measured"
            if record is not None:
                account = _closed(record, stored=stored, first=lost[0].winner if lost else None, reason=reason)
            if account is not None and stored and log is not None:
                taken = log.change(transaction, account, offset_s)
        if taken is not None and log is not None:
            log.changed(taken)
        return Committed(stored, tuple(kept), account, reason)

    @contextmanager
    def _writing(self) -> Generator[Transaction, None, None]:
        if self._read_only:
            raise StoreError(self.place, "is open for reading only", "nothing was written")
        with self.storage.transaction() as transaction:
            yield transaction

    def _report(self, subject: str, sentence: str) -> None:
        with self._lock:
            if subject not in self._told and sentence not in self._told:
                self._told |= {subject, sentence}
                self.trouble.append(sentence)


def _storage(place: str | Path, *, read_only: bool) -> Storage:
    if isinstance(place, str) and "://" in place:
        scheme = place.partition("://")[0]
        raise StoreError(f"{scheme}://…", "this version keeps stores in SQLite files only", "name a file or a folder")
    return SqliteStorage(Path(place).expanduser(), read_only=read_only)


def _verdict_row(build: str, region: str) -> str:
    return digest((build, region))


def _closed(record: TuneRecord, *, stored: bool, first: Winner | None, reason: str) -> TuneRecord:
    return msgspec.structs.replace(record, stored=stored, first=first, reason=reason)


def _count(text: bytes | None) -> int:
    """The number a count's row holds; a row that holds none counts nothing."""
    return int(text) if text is not None and text.isdigit() else 0
