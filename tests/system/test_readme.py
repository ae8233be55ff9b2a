"""The README and the pages of docs/: what they print runs, and what they name exists."""

import doctest
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
EXAMPLE = ROOT / "examples" / "first_op.py"
MOST_LINES = 40
PATIENCE_S = 60


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page in these languages, in order: (language, text)."""
    found = re.findall(r"^( *)```(\w+)\n(.*?)^\1```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [(language, text) for _, language, text in found if language in languages]


def commands() -> Mapping[str, set[str]]:
    """The options of each command, by its name."""
    import typer.main

    from assay.cli.app import app

    class Parameter(Protocol):
        opts: list[str]

    class Command(Protocol):
        params: list[Parameter]
        commands: Mapping[str, "Command"]

    group = cast("Command", typer.main.get_command(app))
    return {
        name: {option for parameter in command.params for option in parameter.opts if option.startswith("-")}
        for name, command in group.commands.items()
    }


def test_there_are_pages_and_each_block_of_them_says_its_language() -> None:
    assert len(PAGES) > 5
    for page in PAGES:
        fences = re.findall(r"^ *```(.*)$", page.read_text(), flags=re.MULTILINE)
        assert fences[1::2] == [""] * (len(fences) // 2), page.name
        assert set(fences[::2]) <= {"python", "pycon", "console", "text", "diff", "json"}, page.name


def test_the_first_op_of_the_readme_is_the_example_under_forty_lines() -> None:
    first = blocks(PAGES[0], "python")[0][1]
    assert first == EXAMPLE.read_text()
    assert len(first.splitlines()) < MOST_LINES


def test_the_first_op_of_the_readme_tunes_two_kernels_and_explains_the_winner(tmp_path: Path) -> None:
    (tmp_path / "first_op.py").write_text(blocks(PAGES[0], "python")[0][1])
    done = subprocess.run(
        [sys.executable, "first_op.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("gain - fused: ", "no gain - ", "refused - "))
    assert "\ndistance at N=100000,T=float32\n  runs      " in done.stdout
    assert "  source    profile: " in done.stdout
    (profile,) = (tmp_path / "profiles").iterdir()
    assert '"op": "distance"' in profile.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_shows_runs_and_answers_as_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(EXAMPLE.parent), *sys.path])
    monkeypatch.delitem(sys.modules, "first_op", raising=False)
    names: dict[str, object] = {"__name__": "page"}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    said: list[str] = []
    for language, text in blocks(page, "python", "pycon"):
        if language == "python":
            exec(compile(text, page.name, "exec"), names)  # noqa: S102  what the page tells its reader to run
        else:
            session = parser.get_doctest(text, names, page.name, None, None)
            runner.run(session, out=said.append, clear_globs=False)
            names = cast("dict[str, object]", session.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_a_page_types_exists_with_its_options(page: Path) -> None:
    known = commands()
    for _, text in blocks(page, "console"):
        for line in re.findall(r"^\$ (?:\w+=\S+ )*assay (.*)$", text, flags=re.MULTILINE):
            command, *words = line.split()
            if command in ("--help", "--version"):
                continue
            assert command in known, line
            assert {word.partition("=")[0] for word in words if word.startswith("-")} <= known[command], line


def test_every_option_of_every_command_is_described() -> None:
    text = (ROOT / "docs" / "commands.md").read_text()
    for command, options in commands().items():
        section = text.split(f"\n## assay {command}\n")[1].split("\n## ")[0]
        for option in options - {"--help", "-h"}:
            assert f"`{option}" in section, f"{command} {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_environment_variable_is_in_the_readme_and_none_that_is_not_read() -> None:
    read = set(re.findall(r"ASSAY_[A-Z]+", (ROOT / "src" / "assay" / "options.py").read_text()))
    told = set(re.findall(r"^\| `(ASSAY_[A-Z]+)`", PAGES[0].read_text(), flags=re.MULTILINE))
    assert told == read
