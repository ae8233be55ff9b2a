"""Rows of one table as values, read from storage once and from memory ever after.

The ids of the table are read at the first question; a row that is not among them is missing without another read,
and a row that is read is kept. What other processes write later is seen only by a fresh look. Trouble with the
storage never reaches who asks: it is reported once, and memory answers alone from then on.
"""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from assay.errors import DeclarationError, StoreError
from assay.store.storage import Storage, Table

T = TypeVar("T", bound=msgspec.Struct)

Report = Callable[[str, str], None]
"""Tells the user of a trouble: what it is about, said once each, and the sentence."""


class Shelf(Generic[T]):
    """Rows of one table as values.

    Args:
        storage: where the rows are.
        table: which of its tables.
        kind: the values' type.
        report: told of rows that cannot be read, and of trouble with the storage.
    """

    def __init__(self, storage: Storage, table: Table, kind: type[T], report: Report) -> None:
        self._storage = storage
        self._table: Table = table
        self._kind = kind
        self._report = report
        self._values: dict[str, T] = {}
        self._own: set[str] = set()
        self._stored: set[str] | None = None
        self._lock = threading.Lock()

    def get(self, row: str, *, fresh: bool = False) -> T | None:
        """The value of a row; None when there is none, or when it cannot be read.

        Args:
            row: its id.
            fresh: look into the storage, for what another process may have written.
        """
        value = self._values.get(row)
        if value is not None and not fresh:
            return value
        with self._lock:
            try:
                text = self._text(row, fresh=fresh)
            except StoreError as trouble:
                self._report(f"reading {self._table}", str(trouble))
                self._stored = set()
                return value
            found = self.readable(row, text)
            if found is not None and row not in self._own:
                self._values[row] = found
            return found or value

    def hold(self, row: str, value: T) -> None:
        """Keeps this process's own value, which from now on answers whatever is stored."""
        with self._lock:
            self._own.add(row)
            self._values[row] = value

    def held(self) -> dict[str, T]:
        """The values in memory, by id."""
        return dict(self._values)

    def all(self) -> list[T]:
        """Every stored value that can be read, in the order they were first written.

        Raises:
            StoreError: the storage cannot be read.
        """
        read = (self._read(row, text) for row, text in self._storage.scan(self._table))
        return [value for value in read if value is not None]

    def readable(self, row: str, text: bytes | None) -> T | None:
        """The value of a row's text; None when there is no text or it cannot be read, which is reported."""
        return None if text is None else self._read(row, text)

    def _text(self, row: str, *, fresh: bool) -> bytes | None:
        if self._stored is None and not fresh:
            self._stored = set(self._storage.ids(self._table))
        if not fresh and row not in (self._stored or ()):
            return None
        text = self._storage.get(self._table, row)
        if text is None and self._stored is not None:
            self._stored.discard(row)
        return text

    def _read(self, row: str, text: bytes) -> T | None:
        try:
            return msgspec.json.decode(text, type=self._kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as unread:
            where = f"{self._storage.place}: row {row} of {self._table}"
            self._report(row, f"{where} cannot be read and is ignored ({unread})")
            if self._stored is not None:
                self._stored.discard(row)
            return None


def written(value: msgspec.Struct) -> bytes:
    """A value as the text of a row.

    Raises:
        DeclarationError: the text would not read back as the same value (a NaN in it has no JSON).
    """
    try:
        text = msgspec.json.encode(value)
        back = msgspec.json.decode(text, type=type(value))
    except (msgspec.MsgspecError, TypeError) as unread:
        raise DeclarationError(type(value).__name__, f"cannot be kept: {unread}") from unread
    if back != value:
        raise DeclarationError(type(value).__name__, f"cannot be kept: {value} would read back as {back}")
    return text
