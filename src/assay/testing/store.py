"""Stores for tests: a storage that counts what it is asked and fails when told, and rows to put in it."""

from collections.abc import Generator
from contextlib import contextmanager

from assay.errors import StoreError
from assay.store import (
    Answer,
    AnswerKey,
    Chosen,
    Ranked,
    Session,
    Storage,
    Table,
    TableEntry,
    Transaction,
    Trial,
    TuneRecord,
    Winner,
    anchored,
    rank,
)


class CountingStore:
    """A storage that counts the reads, scans and writes that reach another one.

    Args:
        storage: the storage that keeps the rows.

    Attributes:
        reads: rows read one by one, in transactions too.
        scans: tables gone through, for their rows or their ids alone.
        writes: rows written; those of a transaction that was undone count as well.
        transactions: transactions begun.
        failure: the sentence of the error that every use raises; None while the storage works.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.reads = self.scans = self.writes = self.transactions = 0
        self.failure: str | None = None

    @property
    def place(self) -> str:
        """The path or URL of the storage behind it."""
        return self._storage.place

    @property
    def writable(self) -> bool:
        """Whether the storage behind it takes writes."""
        return self._storage.writable

    @property
    def notices(self) -> tuple[str, ...]:
        """The notices of the storage behind it."""
        return self._storage.notices

    @property
    def touched(self) -> int:
        """Everything that was asked of it."""
        return self.reads + self.scans + self.writes + self.transactions

    def get(self, table: Table, row: str) -> bytes | None:
        """The text of a row."""
        self.reads += 1
        self._fail()
        return self._storage.get(table, row)

    def ids(self, table: Table) -> list[str]:
        """The ids of a table's rows."""
        self.scans += 1
        self._fail()
        return self._storage.ids(table)

    def scan(self, table: Table) -> list[tuple[str, bytes]]:
        """The rows of a table."""
        self.scans += 1
        self._fail()
        return self._storage.scan(table)

    @contextmanager
    def transaction(self) -> Generator[Transaction, None, None]:
        """A transaction whose reads and writes count."""
        self.transactions += 1
        self._fail()
        with self._storage.transaction() as transaction:
            yield _CountingTransaction(self, transaction)

    def close(self) -> None:
        """Closes the storage behind it."""
        self._storage.close()

    def _fail(self) -> None:
        if self.failure is not None:
            raise StoreError(self.place, self.failure)


class _CountingTransaction:
    def __init__(self, store: CountingStore, transaction: Transaction) -> None:
        self._store = store
        self._transaction = transaction

    def get(self, table: Table, row: str) -> bytes | None:
        self._store.reads += 1
        return self._transaction.get(table, row)

    def put(self, table: Table, row: str, text: bytes) -> None:
        self._store.writes += 1
        self._transaction.put(table, row, text)


def sample_key(size: int = 256, *, op: str = "gemm", mode: str = "performance") -> AnswerKey:
    """A key of a square product of a size."""
    return AnswerKey(
        device="sample-device",
        mode=mode,
        target="cpu",
        op=op,
        sizes=anchored({"M": size, "N": size, "K": size}),
        dtypes=(("T", "float32"),),
        layout=(("a.contiguous", True),),
    )


def sample_answer(key: AnswerKey | None = None, *, tile: int = 64, checksum: str = "list-1") -> Answer:
    """An answer: the kernel ``blocked``, second of two, at a tile gains over the tile 32, which took 100 ns."""
    entrants = (
        Ranked("blocked", {"tile": tile}, "ranked", median_ns=80.0, ratio=0.8, wall_s=0.5),
        Ranked("blocked", {"tile": 32}, "ranked", median_ns=100.0, ratio=1.0, wall_s=0.5),
        Ranked("plain", {}, "refused", "out[0] is nan, reference 1.0"),
    )
    return Answer(
        key=key or sample_key(),
        checksum=checksum,
        winner=Winner("blocked", 1, {"tile": tile}),
        default=Chosen("blocked", {"tile": 32}),
        outcome="gain",
        entrants=rank(entrants),
        ratio=0.8,
        interval=(0.75, 0.85),
    )


def sample_record(answer: Answer) -> TuneRecord:
    """The account of an answer: two entrants ran, half a second each."""
    trials = (Trial("blocked[tile=32]", 0.5), Trial("blocked[tile=64]", 0.5))
    entry = TableEntry(answer.key, answer.checksum)
    return TuneRecord(entry=entry, winner=answer.winner.index, trials=trials, wall=1.25)


def sample_session(label: str = "") -> Session:
    """A session of this process."""
    return Session.here("2026-01-02T03:04:05Z", device="sample-device", label=label)
