"""How is a table laid out in lines of a width?

A cell breaks after a comma and between words, never inside a name, a setting's ``block=65536``, or a number with what
belongs to it (``7 pairs``, ``0.550 (0.521-0.627)``). Only what alone is wider than its column is cut. The room left
over goes, step by step, to the column that makes the table shorter for the least of it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from assay.report import Column, Table

GAP = "   "
"""What stands between two columns."""

_BREAK = re.compile(r"(?<=,)(?=[^\W\d])|(?<=,) +|(?<![\d,]) +(?![(%]|[\d.]+(?:,|$))")


def break_text(text: str, width: int) -> list[str]:
    """The lines of a text, none wider than a width.

    Args:
        text: the text.
        width: columns a line may take, at least 1.

    >>> break_text("rows[ROWS=2, UNROLL=4] stays", 14)
    ['rows[ROWS=2,', 'UNROLL=4]', 'stays']
    """
    lines: list[str] = []
    line, gap = "", ""
    for piece, after in _pieces(text):
        if line and cell_len(line) + cell_len(gap) + cell_len(piece) <= width:
            line += gap + piece
        else:
            lines += [line] if line else []
            *cut, line = chop_cells(piece, width) or [""]
            lines += cut
        gap = after
    return [*lines, line]


def draw(table: Table, width: int) -> list[str]:
    """The lines of a table: its head, a rule, and each row.

    Args:
        table: the table.
        width: columns there are.
    """
    rows = [tuple(column.title for column in table.columns), *table.rows]
    broken = _fitted(table.columns, rows, width)
    widths = [max(cell_len(line) for row in broken for line in row[place]) for place in range(len(table.columns))]
    lines: list[str] = []
    for number, row in enumerate(broken):
        for height in range(max(map(len, row))):
            cells = [
                _aligned(cell[height] if height < len(cell) else "", size, column)
                for cell, size, column in zip(row, widths, table.columns, strict=True)
            ]
            lines.append(GAP.join(cells).rstrip())
        if number == 0:
            lines.append("─" * (sum(widths) + len(GAP) * (len(widths) - 1)))
    return lines


def _fitted(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[list[list[str]]]:
    """The lines of every cell of every row, so broken that the table keeps to a width where it can."""
    places = range(len(columns))
    natural = [max(cell_len(row[place]) for row in rows) for place in places]
    widths = [
        max(cell_len(piece) for row in rows for piece, _ in _pieces(row[place])) if columns[place].wraps else size
        for place, size in enumerate(natural)
    ]
    wrapping = [place for place in places if columns[place].wraps]
    spare = width - len(GAP) * (len(columns) - 1) - sum(widths)
    while spare < 0 and any(widths[place] > 1 for place in wrapping):
        widths[max(wrapping, key=lambda place: widths[place])] -= 1
        spare += 1
    heights = _Heights(rows)
    while (step := _best_step(heights, widths, {place: natural[place] for place in wrapping}, spare)) is not None:
        spare -= step.width - widths[step.place]
        widths[step.place] = step.width
    return [[break_text(row[place], widths[place]) for place in places] for row in rows]


class _Heights:
    """How many lines the cells of each column take at a width, found once."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._rows = rows
        self._known: dict[tuple[int, int], list[int]] = {}

    def of(self, place: int, width: int) -> list[int]:
        """The lines of each cell of a column."""
        key = (place, width)
        if key not in self._known:
            self._known[key] = [len(break_text(row[place], width)) for row in self._rows]
        return self._known[key]

    def cost(self, widths: Sequence[int]) -> int:
        """What a layout costs: the table's height, and of two as high, the lines of all cells."""
        columns = [self.of(place, size) for place, size in enumerate(widths)]
        return sum(max(row) * len(widths) + sum(row) for row in zip(*columns, strict=True))


class _Step(NamedTuple):
    """A column made wider, and what that saves for each character it takes."""

    saved: float
    place: int
    width: int


def _best_step(heights: _Heights, widths: Sequence[int], natural: Mapping[int, int], spare: int) -> _Step | None:
    """The step that saves most for what it takes; None when there is no room for one that saves anything."""
    now = heights.cost(widths)
    best: _Step | None = None
    for place, most in natural.items():
        for size in range(widths[place] + 1, min(most, widths[place] + spare) + 1):
            saved = now - heights.cost([*widths[:place], size, *widths[place + 1 :]])
            step = _Step(saved / (size - widths[place]), place, size)
            if saved > 0 and (best is None or step.saved > best.saved):
                best = step
    return best


def _pieces(text: str) -> list[tuple[str, str]]:
    """The parts that must not be broken, each with the space that follows where the line goes on."""
    found: list[tuple[str, str]] = []
    start = 0
    for gap in _BREAK.finditer(text):
        found.append((text[start : gap.start()], gap.group()))
        start = gap.end()
    return [*found, (text[start:], "")]


def _aligned(text: str, size: int, column: Column) -> str:
    space = " " * (size - cell_len(text))
    return space + text if column.align == "right" else text + space
