"""A pytest plugin: which clauses of the specification this run has shown.

A clause is shown when a test that carries its name passed in this run and none that carries it failed. A test that was
skipped, deselected or expected to fail shows nothing, and neither does one that was only collected. A marker that names
no clause is an error.
"""

import json
import re
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import cast

import pytest

CHAPTERS = {"C": 50, "R": 39, "M": 40, "A": 33, "X": 32}
"""How many clauses each chapter has, numbered from 1."""

_KEY = "spec"


def all_clauses(chapter: str) -> list[str]:
    """The names of a chapter's clauses: of ``R``, ``R1`` to ``R39``."""
    return [f"{chapter}{number}" for number in range(1, CHAPTERS[chapter] + 1)]


def as_ranges(clauses: Iterable[str]) -> str:
    """Names of one chapter with runs drawn together.

    >>> as_ranges(["C1", "C2", "C3", "C7", "C9"])
    'C1-C3 C7 C9'
    """
    runs: list[list[str]] = []
    for clause in clauses:
        if runs and int(clause[1:]) == int(runs[-1][-1][1:]) + 1:
            runs[-1].append(clause)
        else:
            runs.append([clause])
    return " ".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def checked_clauses(names: Iterable[str], subject: str) -> list[str]:
    """Clauses in order, each once.

    Args:
        names: the clauses a test says it shows.
        subject: the test.

    Raises:
        pytest.UsageError: a name is no clause's.
    """
    found = set(names)
    for name in sorted(found):
        known = re.fullmatch(r"([A-Z])([1-9]\d*)", name)
        if known is None or int(known[2]) > CHAPTERS.get(known[1], 0):
            chapters = ", ".join(f"{chapter}1-{chapter}{count}" for chapter, count in CHAPTERS.items())
            raise pytest.UsageError(f"{subject}: spec marker {name!r} names no clause; there are {chapters}")
    return sorted(found, key=_order)


class SpecReport:
    """Gathers outcomes by clause and writes them down."""

    def __init__(self, *, show: bool, path: Path | None) -> None:
        self._show = show
        self._path = path
        self._passed: set[str] = set()
        self._failed: set[str] = set()
        self._tests: dict[str, set[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        clauses = cast("list[str]", dict(report.user_properties).get(_KEY, []))
        if report.failed:
            self._failed.update(clauses)
        elif report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self._passed.update(clauses)
            for clause in clauses:
                self._tests.setdefault(clause, set()).add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        shown = self._passed - self._failed
        if self._path is not None:
            self._path.write_text(json.dumps(self._document(shown), indent=2) + "\n")
        if self._show:
            terminalreporter.section("clauses shown by tests that passed")
            for line in self._lines(shown):
                terminalreporter.write_line(line)

    def _lines(self, shown: set[str]) -> Generator[str, None, None]:
        for chapter, total in CHAPTERS.items():
            names = all_clauses(chapter)
            here = [name for name in names if name in shown]
            failed = [name for name in names if name in self._failed]
            absent = [name for name in names if name not in shown and name not in self._failed]
            yield f"{chapter}: {len(here)} of {total} shown"
            for label, some in (("shown", here), ("failed", failed), ("without a test", absent)):
                if some:
                    yield f"   {label}: {as_ranges(some)}"
        yield f"all: {len(shown)} of {sum(CHAPTERS.values())} clauses shown"

    def _document(self, shown: set[str]) -> dict[str, object]:
        return {
            "total": sum(CHAPTERS.values()),
            "shown": len(shown),
            "failed": sorted(self._failed, key=_order),
            "chapters": {
                chapter: {
                    "total": total,
                    "shown": [name for name in all_clauses(chapter) if name in shown],
                    "without": [name for name in all_clauses(chapter) if name not in shown],
                }
                for chapter, total in CHAPTERS.items()
            },
            "tests": {clause: sorted(self._tests[clause]) for clause in sorted(shown, key=_order)},
        }


def _order(clause: str) -> tuple[int, int]:
    return list(CHAPTERS).index(clause[0]), int(clause[1:])


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("spec", "clauses of the specification")
    group.addoption("--spec-report", action="store_true", help="say which clauses the tests that passed have shown")
    group.addoption("--spec-json", metavar="FILE", type=Path, help="write the same as JSON")


def pytest_configure(config: pytest.Config) -> None:
    show, path = bool(config.getoption("--spec-report")), cast("Path | None", config.getoption("--spec-json"))
    if (show or path is not None) and not hasattr(config, "workerinput"):  # with xdist, the controller reports
        resolved = None if path is None else config.invocation_params.dir / path
        config.pluginmanager.register(SpecReport(show=show, path=resolved), "spec-report")


def pytest_itemcollected(item: pytest.Item) -> None:
    names = [str(name) for marker in item.iter_markers("spec") for name in marker.args]
    clauses = checked_clauses(names, item.nodeid)
    if clauses:
        item.user_properties.append((_KEY, clauses))
