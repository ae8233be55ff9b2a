"""A table as a value: what it says, without how it is drawn."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        title: its head.
        align: where its text stands.
        wraps: whether a long cell may go on in a second line; the others keep the width they need.
    """

    title: str
    align: Literal["left", "right"] = "left"
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under columns.

    Attributes:
        columns: the columns.
        rows: a text for each column.
        title: what the table shows; empty where the reader knows.
        when_empty: the sentence that stands in place of a table without rows.

    Raises:
        ValueError: a row has not one text for each column.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    when_empty: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row {row}: expected {len(self.columns)} texts, got {len(row)}")
