"""How the project is built: what a stranger may rely on when looking for the place of something."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "assay"
FOLDERS = ("src", "tests", "benchmarks", "examples")
MOST_LINES = 400

FLOORS = """
    testing
    cli
    job report zoo
    ops
    tuning
    gate measure search worker
    kernel
    device signature store
    array errors options units
"""
"""The packages from the top floor down; those of one floor know nothing of each other."""

EMPTY_NAMES = {"base", "bases", "util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"}

FRAMEWORKS = {
    *("torch", "triton", "cupy", "jax", "tensorflow", "numba", "llvmlite", "pyopencl", "scipy", "pandas"),
    *("ray", "psycopg", "plotly", "matplotlib", "typer", "rich", "lark", "cffi", "sqlite3", "cloudpickle", "asyncio"),
}

ALONE = {
    "time": "device/clock.py",
    "pickle": "worker/pipe.py",
    "cloudpickle": "worker/pipe.py",
    "os.environ": "options.py",
    "os.getenv": "options.py",
}
"""What one file alone may use, for everyone else is handed it."""


def sources(*endings: str) -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in endings]
    assert found
    return found


def packages() -> list[str]:
    return sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def uses(tree: ast.Module) -> Iterator[str]:
    """The dotted names a module imports or reaches through an imported module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def test_no_file_is_longer_than_one_sitting() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources(".py", ".c", ".h", ".lark")
        if (lines := len(path.read_text().splitlines())) > MOST_LINES
    }
    assert long == {}


def test_no_file_has_a_name_that_promises_nothing() -> None:
    empty = [
        str(path.relative_to(ROOT))
        for path in sources(".py", ".c")
        if EMPTY_NAMES & {word for part in path.relative_to(ROOT).with_suffix("").parts for word in part.split("_")}
    ]
    assert empty == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sorted(PACKAGE.rglob("*.py"))
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_the_floors_are_a_contract_that_leaves_no_package_out() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = {contract["id"]: contract for contract in pyproject["tool"]["importlinter"]["contracts"]}
    layers = contracts["layers"]
    assert layers["type"] == "layers"
    assert layers["containers"] == ["assay"]
    assert layers["exhaustive"] is True
    assert "ignore_imports" not in layers
    declared = [sorted(name.strip() for name in layer.split("|")) for layer in layers["layers"]]
    assert declared == [sorted(floor.split()) for floor in FLOORS.strip().splitlines()]
    modules = packages() + [path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    assert sorted(modules) == sorted(FLOORS.split())


def test_make_check_and_the_continuous_checks_hold_the_contract() -> None:
    check = (ROOT / "Makefile").read_text().split("\ncheck:")[1].split("\n\n")[0]
    for tool in ("ruff format --check", "ruff check", "pyright", "lint-imports"):
        assert tool in check
    run = (ROOT / ".ci" / "run").read_text()
    assert "make check" in run
    assert "make test" in run


@pytest.mark.parametrize("name", sorted(ALONE))
def test_what_one_file_alone_may_use_is_used_in_no_other(name: str) -> None:
    users = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if name in set(uses(ast.parse(path.read_text())))
    }
    assert users <= {ALONE[name]}


def test_nothing_is_mocked() -> None:
    mocking = [
        str(path.relative_to(ROOT))
        for path in sources(".py")
        if any(used.startswith(("unittest.mock", "mock.", "pytest_mock")) for used in uses(ast.parse(path.read_text())))
    ]
    assert mocking == []


@pytest.mark.parametrize("package", [f"assay.{name}" for name in packages()])
def test_a_package_exports_what_it_says_and_nothing_else(package: str) -> None:
    module = importlib.import_module(package)
    tree = ast.parse(Path(cast("str", module.__file__)).read_text())
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay")
        for alias in node.names
    }
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    public = {name for name in imported | defined if not name.startswith("_")}
    said = cast("list[str]", getattr(module, "__all__", []))
    assert sorted(set(said)) == sorted(said), "said twice"
    assert public <= set(said)
    assert [name for name in said if not hasattr(module, name)] == []


def test_assay_exports_what_it_says() -> None:
    assay = importlib.import_module("assay")
    said = cast("list[str]", assay.__all__)
    assert said
    assert [name for name in said if not hasattr(assay, name)] == []
    assert set(said) <= set(dir(assay))


def test_importing_assay_loads_no_framework() -> None:
    told = (
        "import sys, numpy; before = set(sys.modules); import assay; "
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    loaded = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True).stdout.split()
    assert "assay" in loaded
    assert FRAMEWORKS.isdisjoint(loaded)


class Parameter(Protocol):
    name: str
    help: str | None


class Command(Protocol):
    help: str | None
    params: list[Parameter]


def commands() -> dict[str, Command]:
    """The commands as typer made them."""
    import typer.main

    from assay.cli.app import app

    found: dict[str, Command] = {}
    waiting = [("assay", cast("object", typer.main.get_command(app)))]
    while waiting:
        name, command = waiting.pop()
        subcommands = cast("dict[str, object]", getattr(command, "commands", {}))
        waiting += [(f"{name} {sub}", inner) for sub, inner in subcommands.items()]
        found[name] = cast("Command", command)
    return found


def test_every_command_and_option_says_what_it_does() -> None:
    found = commands()
    assert len(found) > 1
    silent = [name for name, command in found.items() if not command.help]
    silent += [
        f"{name} {parameter.name}"
        for name, command in found.items()
        for parameter in command.params
        if not getattr(parameter, "help", None)
    ]
    assert silent == []


def test_every_command_is_in_the_documentation() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(page.read_text() for page in pages)
    assert [name for name in commands() if name not in text] == []


def test_every_error_is_in_the_tree_its_module_draws() -> None:
    errors = importlib.import_module("assay.errors")
    classes = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}
    assert len(classes) > 1
    drawn = errors.__doc__ or ""
    assert [name for name in classes if not re.search(rf"\b{name}\b", drawn)] == []
    assert [name for name, kind in classes.items() if not kind.__doc__] == []


def test_changes_are_named_after_issue_and_kind() -> None:
    names = [path.name for path in (ROOT / "changelog.d").iterdir()]
    wrong = [name for name in names if not re.fullmatch(r"\d+\.(feature|fix|change|removal|doc)(\.\d+)?\.md", name)]
    assert wrong == []
