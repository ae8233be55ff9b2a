"""What every benchmark prints: a table for people, and as its last line a document for programs."""

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from assay.device import SystemClock, cpu_device

_PACKAGES = ("assay", "numpy", "numba", "torch", "triton", "kernel-tuner")


def make_parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser that has what all benchmarks share."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n\n", 1)[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document as the last line")
    return parser


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints a table; a missing figure is a dash."""
    table = Table(title=title)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*("-" if cell is None else str(cell) for cell in row))
    Console(width=max(120, Console().width)).print(table)


def print_document(figures: Mapping[str, object]) -> None:
    """Prints a benchmark's figures with where, when and on what they were taken, on one line."""
    print(json.dumps({**figures, **surroundings()}, allow_nan=False), flush=True)


def surroundings() -> dict[str, object]:
    """Machine, versions, commit and date, as they are now."""
    device = cpu_device()
    fingerprint = device.fingerprint
    return {
        "machine": {
            "fingerprint": fingerprint.key,
            "name": fingerprint.name,
            "slug": fingerprint.slug,
            "mode": device.mode,
            "cores": device.facts()["cores"],
            "load": list(os.getloadavg()),
        },
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}},
        "commit": _commit(),
        "date": SystemClock().date(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit these sources are at, with a mark when they differ from it; None outside a repository."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(git, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip() or None
