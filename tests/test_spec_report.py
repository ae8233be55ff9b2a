"""The account of clauses counts what passed, and only that."""

import json

import pytest
from spec_report import checked_clauses

TESTS = """
import pytest

@pytest.mark.spec("C1", "C2")
def test_passes(): pass

@pytest.mark.spec("C2")
def test_fails(): assert False

@pytest.mark.spec("C3")
def test_is_skipped(): pytest.skip("not here")

@pytest.mark.spec("C4")
@pytest.mark.xfail(strict=False)
def test_is_expected_to_fail(): assert False

@pytest.mark.spec("C5")
@pytest.mark.xfail(strict=False)
def test_passes_against_expectation(): pass

@pytest.mark.spec("C6")
def test_is_left_out(): pass

@pytest.fixture
def breaks():
    yield
    raise ValueError

@pytest.mark.spec("C7")
def test_passes_and_breaks_afterwards(breaks): pass

@pytest.mark.spec("X32")
def test_of_another_chapter(): pass
"""


def run(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\nmarkers = spec(*clauses): clauses")
    pytester.makepyfile(tests)
    without = [word for plugin in ("randomly", "xdist", "hypothesispytest") for word in ("-p", f"no:{plugin}")]
    return pytester.runpytest_inprocess("-p", "spec_report", *without, *options)


def test_a_clause_is_shown_by_tests_that_passed_and_by_no_others(pytester: pytest.Pytester) -> None:
    result = run(pytester, TESTS, "-k", "not left_out", "--spec-report", "--spec-json", "spec.json")
    result.stdout.fnmatch_lines(
        [
            "C: 1 of 50 shown",
            "   shown: C1",
            "   failed: C2 C7",
            "   without a test: C3-C6 C8-C50",
            "R: 0 of 39 shown",
            "X: 1 of 32 shown",
            "   shown: X32",
            "all: 2 of 194 clauses shown",
        ]
    )
    document = json.loads((pytester.path / "spec.json").read_text())
    assert (document["shown"], document["total"], document["failed"]) == (2, 194, ["C2", "C7"])
    assert document["chapters"]["C"]["shown"] == ["C1"]
    assert len(document["chapters"]["C"]["without"]) == 49
    assert [test.split("::")[1] for test in document["tests"]["X32"]] == ["test_of_another_chapter"]


def test_a_marker_that_names_no_clause_stops_the_run(pytester: pytest.Pytester) -> None:
    result = run(pytester, "import pytest\n@pytest.mark.spec('C51')\ndef test(): pass\n")
    assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERRUPTED)
    assert "spec marker 'C51' names no clause" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("name", ["C51", "C0", "Z1", "C", "c1", "C01", "R40", "M41", "A34", "X33"])
def test_names_of_no_clause_are_told_from_clauses(name: str) -> None:
    assert checked_clauses(["X32", "C50", "R39", "C2", "M40", "A33", "C2"], "t") == [
        *("C2", "C50", "R39", "M40", "A33", "X32")
    ]
    with pytest.raises(pytest.UsageError, match=f"spec marker '{name}' names no clause"):
        checked_clauses([name], "t")
