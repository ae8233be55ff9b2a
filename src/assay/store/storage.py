"""What an environment asks of the place that keeps its rows.

A storage is six tables of rows, each an id and a JSON text. Rows are read one by one or all in the order they were
first written, and are changed only in a transaction, which is taken whole or not at all while no other writer is at
work. Whatever goes wrong with the place is a `StoreError`.
"""

from contextlib import AbstractContextManager
from typing import Literal, Protocol, get_args

Table = Literal["answers", "figures", "verdicts", "sessions", "records", "counts"]

TABLES: tuple[Table, ...] = get_args(Table)


class Transaction(Protocol):
    """A view of the tables with no other writer at work."""

    def get(self, table: Table, row: str) -> bytes | None:
        """The text of a row; None when there is none."""
        ...

    def put(self, table: Table, row: str, text: bytes) -> None:
        """Writes a row; one that is there keeps its place and takes the new text."""
        ...


class Storage(Protocol):
    """A place that keeps rows."""

    @property
    def place(self) -> str:
        """The path or URL, for messages."""
        ...

    @property
    def writable(self) -> bool:
        """Whether a transaction may be begun."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should hear of how it was opened (an old file set aside)."""
        ...

    def get(self, table: Table, row: str) -> bytes | None:
        """The text of a row; None when there is none.

        Raises:
            StoreError: the place cannot be read.
        """
        ...

    def ids(self, table: Table) -> list[str]:
        """The ids of a table's rows.

        Raises:
            StoreError: the place cannot be read.
        """
        ...

    def scan(self, table: Table) -> list[tuple[str, bytes]]:
        """The rows of a table, each an id and a text, in the order they were first written.

        Raises:
            StoreError: the place cannot be read.
        """
        ...

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction: committed on leaving, undone when an exception leaves.

        Raises:
            StoreError: the place cannot be written; nothing was.
        """
        ...

    def close(self) -> None:
        """Lets go of the place; a later use opens it again."""
        ...
