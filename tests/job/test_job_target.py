"""A target names ops, or the error says what there is instead."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from assay.errors import TargetError
from assay.job import resolve, resolve_one
from assay.ops import Op

OP = """
@assay.op("forall N: Dim; T: DType[float32]. (x: T[N]) -> (y: T[N])")
def {name}(x):
    return x
"""


@pytest.fixture(autouse=True)
def import_state_of_its_own() -> Iterator[None]:
    modules, path = set(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - modules:
        if not name.startswith("assay."):
            del sys.modules[name]
    sys.path[:] = path


def write_ops(path: Path, *names: str, extra: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("import assay\n" + dedent(extra) + "".join(OP.format(name=name) for name in names))
    return path


def names_of(ops: list[Op]) -> list[str]:
    return [op.name for op in ops]


def test_a_file_names_its_ops_in_the_order_they_were_defined(tmp_path: Path) -> None:
    assert names_of(resolve(str(write_ops(tmp_path / "mine.py", "twice", "half")))) == ["twice", "half"]


def test_one_op_of_a_file_is_named_after_a_colon(tmp_path: Path) -> None:
    path = write_ops(tmp_path / "mine.py", "twice", "half")
    assert names_of(resolve(f"{path}:half")) == ["half"]


def test_a_file_loaded_twice_is_one_module(tmp_path: Path) -> None:
    path = write_ops(tmp_path / "mine.py", "twice")
    assert resolve(str(path))[0] is resolve(str(path))[0]


def test_the_module_of_a_file_has_the_same_name_in_every_run(tmp_path: Path) -> None:
    path = write_ops(tmp_path / "mine.py", "twice")
    before = set(sys.modules)
    resolve(str(path))
    (name,) = {found for found in set(sys.modules) - before if found.startswith("assay_file_")}
    del sys.modules[name]
    resolve(str(path))
    assert name in sys.modules


def test_a_file_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("NAME = 'other'\n")
    path = write_ops(tmp_path / "mine.py", "twice", extra="from beside_it import NAME\n")
    assert names_of(resolve(str(path))) == ["twice"]


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    one, other = write_ops(tmp_path / "a/mine.py", "twice"), write_ops(tmp_path / "b/mine.py", "half")
    assert names_of([*resolve(str(one)), *resolve(str(other))]) == ["twice", "half"]


def test_a_file_inside_a_package_is_imported_under_its_dotted_name(tmp_path: Path) -> None:
    (tmp_path / "packaged").mkdir()
    (tmp_path / "packaged/__init__.py").touch()
    (tmp_path / "packaged/near.py").write_text("VALUE = 1\n")
    path = write_ops(tmp_path / "packaged/mine.py", "twice", extra="from .near import VALUE\n")
    resolve(str(path))
    assert "packaged.mine" in sys.modules


@pytest.mark.spec("M37")
def test_a_package_without_ops_of_its_own_names_those_of_its_modules(tmp_path: Path) -> None:
    (tmp_path / "family").mkdir()
    (tmp_path / "family/__init__.py").touch()
    write_ops(tmp_path / "family/first.py", "twice")
    write_ops(tmp_path / "family/second.py", "half")
    sys.path.insert(0, str(tmp_path))
    assert names_of(resolve("family")) == ["twice", "half"]


def test_the_exported_names_of_a_module_are_its_ops(tmp_path: Path) -> None:
    path = write_ops(tmp_path / "mine.py", "twice", "half", extra="__all__ = ['half']\n")
    assert names_of(resolve(str(path))) == ["half"]


def test_an_op_known_by_two_names_is_one_op(tmp_path: Path) -> None:
    path = write_ops(tmp_path / "mine.py", "twice")
    path.write_text(path.read_text() + "\nalias = twice\n")
    assert names_of(resolve(str(path))) == ["twice"]
    assert names_of(resolve(f"{path}:alias")) == ["twice"]


def test_an_op_a_module_and_a_list_of_them_are_targets_too(tmp_path: Path) -> None:
    ops = resolve(str(write_ops(tmp_path / "mine.py", "twice", "half")))
    assert resolve(ops[1]) == [ops[1]]
    assert resolve([ops[1], ops[0], ops[1]]) == [ops[1], ops[0]]


@pytest.mark.spec("M40")
def test_an_unknown_op_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    path = write_ops(tmp_path / "mine.py", "twice", "half")
    with pytest.raises(TargetError, match=r"no op 'twise' in .*mine\.py; did you mean 'twice'\?"):
        resolve(f"{path}:twise")
    with pytest.raises(TargetError, match=r"no op 'conv' in .*; it has twice, half"):
        resolve(f"{path}:conv")


@pytest.mark.spec("M40")
def test_an_unknown_module_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(TargetError, match=r"no module 'assay\.reprot'; did you mean assay\.report\?"):
        resolve("assay.reprot")
    with pytest.raises(TargetError, match=r"no module 'qqzz_not_there'; name it as package\.module"):
        resolve("qqzz_not_there.ops")


@pytest.mark.spec("M40")
def test_an_unknown_file_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    write_ops(tmp_path / "mine.py", "twice")
    with pytest.raises(TargetError, match=r"there is no such file; did you mean .*mine\.py\?"):
        resolve(str(tmp_path / "mime.py"))


@pytest.mark.spec("M40")
def test_two_ops_of_one_name_are_refused(tmp_path: Path) -> None:
    one, other = write_ops(tmp_path / "a.py", "twice"), write_ops(tmp_path / "b.py", "twice")
    with pytest.raises(TargetError, match="two ops are called 'twice'; give one a name of its own"):
        resolve([str(one), str(other)])


@pytest.mark.spec("M40")
def test_a_bare_name_that_is_a_module_here_and_an_op_at_home_is_refused(tmp_path: Path) -> None:
    write_ops(tmp_path / "homely.py", "twice")
    sys.path.insert(0, str(tmp_path))
    assert names_of(resolve("twice", home="homely")) == ["twice"]
    write_ops(tmp_path / "twice.py", "half")
    with pytest.raises(TargetError, match=r"'twice' is a module here and an op of homely; write \./twice\.py or "):
        resolve("twice", home="homely")


def test_a_bare_name_nobody_knows_is_refused_as_an_op_of_home(tmp_path: Path) -> None:
    write_ops(tmp_path / "homely.py", "twice")
    sys.path.insert(0, str(tmp_path))
    with pytest.raises(TargetError, match=r"no op 'twic' in homely; did you mean 'twice'\?"):
        resolve("twic", home="homely")


def test_a_module_that_raises_while_it_is_imported_is_named_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\ny = x / 0\n")
    with pytest.raises(
        TargetError, match=r"broken\.py: importing it raised ZeroDivisionError: .* \(broken\.py, line 2\)"
    ):
        resolve(str(path))
    path.write_text("import qqzz_not_there\n")
    with pytest.raises(TargetError, match=r"importing it raised ModuleNotFoundError: No module named 'qqzz_not_there'"):
        resolve(str(path))
    path.write_text("raise SystemExit(3)\n")
    with pytest.raises(TargetError, match="importing it raised SystemExit: 3"):
        resolve(str(path))


def test_a_module_that_failed_is_loaded_anew_when_it_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "mended.py"
    path.write_text("raise ValueError('not yet')\n")
    with pytest.raises(TargetError, match="not yet"):
        resolve(str(path))
    assert names_of(resolve(str(write_ops(path, "twice")))) == ["twice"]


def test_a_file_without_ops_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    with pytest.raises(TargetError, match=r"no op in .*plain\.py; declare one with @assay\.op"):
        resolve(str(tmp_path / "plain.py"))


def test_explaining_needs_one_op(tmp_path: Path) -> None:
    path = write_ops(tmp_path / "mine.py", "twice", "half")
    with pytest.raises(TargetError, match=r"has 2 ops \(twice, half\); name one, as .*mine\.py:twice"):
        resolve_one(str(path))
    assert resolve_one(f"{path}:half").name == "half"


@pytest.mark.spec("M40")
def test_two_targets_in_one_text_are_refused_but_a_comma_in_a_path_is_none(tmp_path: Path) -> None:
    write_ops(tmp_path / "homely.py", "twice", "half")
    sys.path.insert(0, str(tmp_path))
    with pytest.raises(TargetError, match=r"'twice,half': one target is given at a time; give one op, or the module"):
        resolve("twice,half", home="homely")
    assert names_of(resolve(str(write_ops(tmp_path / "a,b.py", "third")))) == ["third"]
