from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import StoreError
from assay.store import DEFAULT_NAME, environment_names, open_environment
from assay.testing.store import sample_answer, sample_key

BAD = ["", ".", "..", "../lab", "a/b", "a\\b", "/etc/passwd", ".hidden", "-flag", "a b", "a\n", "é", "a\0b", "x" * 101]


@pytest.mark.spec("R28", "X31")
@pytest.mark.parametrize("name", BAD)
def test_a_name_that_could_leave_the_store_s_root_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="a name is made of letters, digits"):
        open_environment(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("R28")
@given(name=st.text(max_size=8))
def test_whatever_name_is_accepted_lies_in_the_root(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    root = tmp_path_factory.getbasetemp()
    try:
        environment = open_environment(root, name)
    except ValueError:
        return
    assert Path(environment.place).resolve().parent == root.resolve()
    environment.close()


@pytest.mark.spec("R28")
def test_the_list_of_environments_is_sorted_and_leaves_out_what_is_none(tmp_path: Path) -> None:
    assert environment_names(tmp_path / "missing") == []
    for name in ("lab-b", "default", "lab-a"):
        with open_environment(tmp_path, name) as environment:
            environment.commit([sample_answer()])
    (tmp_path / "lab-a.db.schema-0.1").touch()
    (tmp_path / "notes.txt").touch()
    (tmp_path / "folder.db").mkdir()
    assert environment_names(tmp_path) == ["default", "lab-a", "lab-b"]


@pytest.mark.spec("R28")
def test_switching_there_and_back_b_misses_what_only_a_knows(tmp_path: Path) -> None:
    known = sample_answer(sample_key(64))
    with open_environment(tmp_path, "a") as first:
        first.commit([known])
    with open_environment(tmp_path, "b") as second:
        assert second.answer(known.key, known.checksum) is None
        second.commit([sample_answer(sample_key(128))])
    with open_environment(tmp_path, "a") as back:
        assert back.answer(known.key, known.checksum) == known
        assert back.answers() == [known]


def test_the_default_environment_is_default_db(tmp_path: Path) -> None:
    with open_environment(str(tmp_path)) as environment:
        assert environment.place == str(tmp_path / "default.db")
    assert DEFAULT_NAME == "default"


def test_a_database_server_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="postgresql://…: this version keeps stores in SQLite files only"):
        open_environment("postgresql://host/base")


def test_a_root_that_is_a_file_cannot_be_listed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be listed"):
        environment_names(tmp_path / "file")


def test_a_file_in_place_of_the_store_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("notes")
    with pytest.raises(StoreError, match=r"store: is a file, expected a folder of environments; name a folder"):
        open_environment(tmp_path / "store")
    assert (tmp_path / "store").read_text() == "notes"
