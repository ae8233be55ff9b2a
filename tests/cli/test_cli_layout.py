"""A table is laid out so that a reader never has to put a name or a number together again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.layout import break_text, draw
from assay.report import Column, Table

TUNED = Table(
    columns=(
        Column("op"),
        Column("shape", wraps=True),
        Column("outcome", wraps=True),
        Column("winner", wraps=True),
        Column("ratio", wraps=True),
    ),
    rows=(
        (
            "softmax",
            "B=12x128, N=128, T=float32",
            "gain, kept",
            "rows[ROWS=4, UNROLL=2, WIDTH=64]",
            "0.968 (0.942-0.977) of rows[ROWS=2, UNROLL=2, WIDTH=64]",
        ),
        ("distance", "N=100000, T=float32", "no gain", "in_blocks[block=65536] stays", "-"),
        ("gemm", "M=7", "failed", "gemm: no entrant survived: " + "tiled[MR=8]: it raised; " * 20, "-"),
    ),
)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("M=256, N=256, T=float32", 14, ["M=256, N=256,", "T=float32"]),
        ("M=256,N=256,T=float32", 14, ["M=256,N=256,", "T=float32"]),
        ("rows[ROWS=2, UNROLL=4] stays", 22, ["rows[ROWS=2, UNROLL=4]", "stays"]),
        ("0.968 (0.942-0.977) of numpy", 25, ["0.968 (0.942-0.977) of", "numpy"]),
        ("numba 2.31, skinny 1.20", 18, ["numba 2.31,", "skinny 1.20"]),
        ("more than 1 %", 12, ["more than", "1 %"]),
        ("won 7 of 7 pairs", 9, ["won 7 of", "7 pairs"]),
        ("in_blocks[block=65536]", 10, ["in_blocks[", "block=6553", "6]"]),
        ("", 5, [""]),
    ],
)
def test_a_text_breaks_after_a_comma_and_between_words_and_is_cut_only_where_a_piece_is_wider(
    text: str, width: int, lines: list[str]
) -> None:
    assert break_text(text, width) == lines


@given(st.text(alphabet="ab1 ,(%[]=", max_size=60), st.integers(1, 30))
def test_a_broken_text_keeps_to_its_width_and_loses_nothing_but_spaces(text: str, width: int) -> None:
    lines = break_text(text, width)
    assert all(len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_setting_and_no_number_is_broken_at_any_usual_width(width: int) -> None:
    lines = draw(TUNED, width)
    shown = "\n".join(lines)
    assert max(map(len, lines)) <= width
    for whole in ("block=65536]", "0.968 (0.942-0.977)", "N=100000,", "T=float32", "B=12x128,", "UNROLL=2,", "MR=8]:"):
        assert whole in shown


def test_where_there_is_room_every_row_is_one_line_and_a_table_is_no_wider_than_it_needs() -> None:
    table = Table(TUNED.columns, TUNED.rows[:2])
    head, rule, *rows = draw(table, 300)
    assert len(rows) == 2
    assert len(head) <= len(rule) == max(map(len, rows))


def test_room_goes_to_the_column_that_makes_its_rows_tall() -> None:
    columns = (Column("few", wraps=True), Column("many", wraps=True))
    table = Table(columns, (("a b c d e f", "word " * 60),))
    _, rule, *rows = draw(table, 60)
    assert len(rule) <= 60
    assert len(rows) <= 7, "300 characters in some 50 columns"


def test_a_column_that_counts_stands_to_the_right() -> None:
    table = Table((Column("op"), Column("count", "right")), (("gemm", "7"), ("twice", "1234567")))
    assert draw(table, 100)[2:] == ["gemm          7", "twice   1234567"]
