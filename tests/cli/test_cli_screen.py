"""A table reads well at 100 columns; with a document, standard output holds nothing else."""

import json
import sys

import pytest

from assay.cli.screen import PIPED_WIDTH, open_screen
from assay.report import Column, Table

WIDE = Table(
    columns=(Column("op"), Column("shape", wraps=True), Column("count", "right")),
    rows=(("gemm", ", ".join(f"D{number}={number * 1000}" for number in range(30)), "7"),),
)


def test_a_piped_table_keeps_to_its_width_and_breaks_between_indices(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    with open_screen(as_json=False) as screen:
        screen.show(WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 4
    assert max(len(line) for line in lines) <= PIPED_WIDTH
    assert "D29=29000" in "".join(lines)
    assert all(not line.rstrip().endswith("D2") for line in lines)


def test_a_piped_table_takes_the_width_that_columns_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    widest: dict[int, int] = {}
    for columns in (60, 140):
        monkeypatch.setenv("COLUMNS", str(columns))
        with open_screen(as_json=False) as screen:
            screen.show(WIDE)
        widest[columns] = max(len(line) for line in capsys.readouterr().out.splitlines())
    assert widest[60] <= 60
    assert PIPED_WIDTH < widest[140] <= 140


def test_a_line_is_never_broken(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/".join(["folder"] * 40)
    with open_screen(as_json=False) as screen:
        screen.say(f"profile: {path}")
    assert capsys.readouterr().out == f"profile: {path}\n"


def test_brackets_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with open_screen(as_json=False) as screen:
        screen.say("tiled[MR=8, red] :smile:")
        screen.show(Table(columns=(Column("winner"),), rows=(("tiled[bold]",),)))
    shown = capsys.readouterr().out
    assert "tiled[MR=8, red] :smile:" in shown
    assert "tiled[bold]" in shown


def test_an_empty_table_is_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with open_screen(as_json=False) as screen:
        screen.show(Table(columns=(Column("op"),), rows=(), when_empty="no calls yet"))
    assert capsys.readouterr().out == "no calls yet\n"


def test_with_a_document_whatever_else_is_printed_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with open_screen(as_json=True) as screen:
        screen.say("a line")
        sys.stdout.write("printed by a target's module\n")
        screen.hand_over({"shapes": []})
    sys.stdout.write("after\n")
    captured = capfd.readouterr()
    document, after = captured.out.splitlines()
    assert json.loads(document) == {"shapes": []}
    assert after == "after"
    assert captured.err == "a line\nprinted by a target's module\n"


def test_without_a_document_none_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    with open_screen(as_json=False) as screen:
        screen.hand_over({"shapes": []})
    assert capsys.readouterr().out == ""
