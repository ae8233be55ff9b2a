"""What is shown, and where: a person reads standard output; with `--json` a program does, and a person the rest.

A screen draws the tables and lines the layers below hand over as values. With `--json` standard output carries one
document and nothing else: whatever prints there meanwhile, a target's own module or a program it starts, is sent to
standard error.
"""

import os
import shutil
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from assay.cli.codes import INTERRUPTED
from assay.cli.layout import draw
from assay.report import Table

PIPED_WIDTH = 100
"""Columns a table has where there is no terminal to ask, and `COLUMNS` does not say."""


class Screen:
    """Where a command shows what it found.

    Args:
        stream: where lines and tables go.
        document: where the document goes; None means that no program reads.
    """

    def __init__(self, stream: TextIO, document: TextIO | None = None) -> None:
        self.console = Console(
            file=stream,
            width=None if stream.isatty() else shutil.get_terminal_size((PIPED_WIDTH, 0)).columns,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._document = document

    @property
    def is_terminal(self) -> bool:
        """Whether a person watches, so that a line may be written over."""
        return self.console.is_terminal

    @property
    def wants_document(self) -> bool:
        """Whether a program reads standard output."""
        return self._document is not None

    def say(self, text: str) -> None:
        """Shows a line at once, never broken in two."""
        self.console.print(Text(text), soft_wrap=True)

    def complain(self, text: str) -> None:
        """Shows a line on standard error, whoever reads standard output."""
        sys.stderr.write(f"assay: {text}\n")
        sys.stderr.flush()

    def show(self, table: Table) -> None:
        """Draws a table, under its title; one without rows is its sentence."""
        if not table.rows:
            self.say(table.when_empty)
            return
        if table.title:
            self.say(f"\n{table.title}")
        head, *lines = draw(table, self.console.width)
        self.console.print(Text(head, "bold"), soft_wrap=True)
        for line in lines:
            self.say(line)

    def hand_over(self, document: Mapping[str, object]) -> None:
        """Writes the document; does nothing where a person reads."""
        if self._document is not None:
            self._document.write(f"{msgspec.json.encode(document).decode()}\n")
            self._document.flush()


@contextmanager
def open_screen(*, as_json: bool) -> Generator[Screen]:
    """A screen for one command.

    Args:
        as_json: whether standard output is for one JSON document.

    Raises:
        typer.Exit: the user interrupted the command, which was said.
    """
    try:
        if as_json:
            with _document_stream() as document:
                yield Screen(sys.stderr, document)
        else:
            yield Screen(sys.stdout)
    except KeyboardInterrupt as interrupt:
        sys.stderr.write("assay: interrupted\n")
        raise typer.Exit(INTERRUPTED) from interrupt


@contextmanager
def _document_stream() -> Generator[TextIO]:
    """Standard output for the document alone; all else that is written to it goes to standard error."""
    stream = sys.stdout
    try:
        out, error = stream.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):  # replaced by something without a descriptor: no other process can write to it
        with redirect_stdout(sys.stderr):
            yield stream
        return
    stream.flush()
    kept = os.dup(out)
    os.dup2(error, out)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8") as document:
            yield document
    finally:
        stream.flush()
        os.dup2(kept, out)
        os.close(kept)
