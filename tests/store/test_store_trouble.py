import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import StoreError
from assay.store import Environment, KeptVerdict, SqliteStorage
from assay.testing.store import CountingStore, sample_answer, sample_key, sample_record, sample_session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


def filled(path: Path) -> Path:
    with Environment(path) as environment:
        environment.commit([sample_answer(sample_key(size)) for size in (8, 16, 32)])
    return path


def not_a_database(path: Path) -> None:
    path.write_bytes(b"this is no database, whatever its name says\n" * 100)


def cut_short(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes()[:5000])


def overwritten(path: Path, first: int = 100) -> None:
    filled(path)
    content = bytearray(path.read_bytes())
    content[first:] = b"\xff" * (len(content) - first)
    path.write_bytes(content)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("damage", [not_a_database, cut_short, overwritten])
def test_opening_a_damaged_file_is_one_error_with_the_path_and_the_remedy(
    path: Path, damage: Callable[[Path], None], *, read_only: bool
) -> None:
    damage(path)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Environment(path, read_only=read_only)
    assert str(caught.value).startswith(f"{path}: is damaged (")
    assert f"mv '{path}' '{path}.damaged'" in str(caught.value)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["lab.db"]


@pytest.mark.spec("X12")
def test_damage_found_later_is_reported_once_and_memory_answers(path: Path) -> None:
    overwritten(path, first=4096)
    with Environment(path) as environment:
        mine = sample_answer(sample_key(64))
        assert environment.answer(mine.key, mine.checksum) is None
        assert not environment.commit([mine]).stored
        assert environment.answer(mine.key, mine.checksum) == mine
        told = list(environment.trouble)
        assert any("is damaged" in each for each in told)
        for _ in range(10):
            assert environment.answer(sample_key(8), mine.checksum) is None
            assert environment.answer(mine.key, mine.checksum) == mine
        assert environment.trouble == told
        with pytest.raises(StoreError, match="is damaged"):
            environment.answers()


@pytest.mark.spec("X12")
def test_a_storage_that_fails_raises_at_nobody_who_asks_or_tells(path: Path) -> None:
    store = CountingStore(SqliteStorage(filled(path)))
    store.failure = "cannot be used (disk I/O error)"
    with Environment(store) as environment:
        mine = sample_answer(sample_key(64))
        assert environment.answer(sample_key(8), "list-1") is None
        assert environment.verdict("build", "region") is None
        assert environment.figure("figure", type(mine)) is None
        assert not environment.commit([mine]).stored
        assert not environment.keep_verdict(KeptVerdict("build", "region", passed=True))
        assert not environment.add_counts({("cpu", "gemm", "won"): 1})
        assert environment.answer(mine.key, mine.checksum) == mine
        assert environment.verdict("build", "region") is not None
        assert len(environment.trouble) == len(set(environment.trouble))
        assert all("disk I/O error" in each for each in environment.trouble)


@pytest.mark.spec("X12")
def test_a_storage_that_failed_once_is_not_asked_again_by_calls(path: Path) -> None:
    store = CountingStore(SqliteStorage(filled(path)))
    store.failure = "has been locked by another process for 10 s"
    with Environment(store) as environment:
        environment.answer(sample_key(8), "list-1")
        before = store.touched
        for size in range(20):
            assert environment.answer(sample_key(1 << size), "list-1") is None
        assert store.touched == before


@pytest.mark.spec("X12")
def test_a_locked_store_keeps_the_answer_in_memory_and_says_so(path: Path) -> None:
    filled(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    mine = sample_answer(sample_key(64))
    with Environment(SqliteStorage(path, patience_s=0)) as environment:
        committed = environment.commit([mine])
        assert not committed.stored
        assert "has been locked by another process" in committed.reason
        assert environment.answer(mine.key, mine.checksum) == mine
        assert environment.answer(sample_key(8), "list-1") is not None, "readers do not wait for the writer"
        holder.execute("ROLLBACK")
        assert environment.commit([mine]).stored
    holder.close()


@pytest.mark.spec("R30")
def test_a_read_only_store_answers_and_reports_one_refusal_per_key(path: Path) -> None:
    filled(path)
    before = path.read_bytes()
    with Environment(path, read_only=True) as environment:
        environment.begin(sample_session())
        assert environment.answer(sample_key(8), "list-1") is not None
        one, other = (sample_answer(sample_key(size), tile=16) for size in (64, 128))
        for answer in (one, other, one, other):
            assert not environment.commit([answer], (), sample_record(answer)).stored
            assert environment.answer(answer.key, answer.checksum) == answer
        assert len(environment.trouble) == 2
        assert one.key.label in environment.trouble[0]
        assert other.key.label in environment.trouble[1]
        assert all("open for reading only" in each for each in environment.trouble)
        assert len(environment.answers()) == 5
    assert path.read_bytes() == before


def test_a_missing_store_opened_for_reading_is_empty_and_stays_missing(path: Path) -> None:
    with Environment(path, read_only=True) as environment:
        assert environment.answer(sample_key(), "list-1") is None
        assert not environment.commit([sample_answer()]).stored
    assert not path.exists()


def other_schema(path: Path, schema: int = 99) -> None:
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()


@pytest.mark.spec("R31")
def test_a_store_of_another_schema_is_refused_when_opened_for_reading(path: Path) -> None:
    other_schema(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="has schema 99, this version reads schema 1"):
        Environment(path, read_only=True)
    assert path.read_bytes() == before


@pytest.mark.spec("R31")
def test_a_store_of_another_schema_is_set_aside_and_rebuilt_when_opened_for_writing(path: Path) -> None:
    other_schema(path)
    with Environment(path) as environment:
        aside = path.with_name("lab.db.schema-99.1")
        assert environment.trouble == [f"{path}: had schema 99; set aside as {aside}, and started anew"]
        assert environment.answers() == []
        assert environment.commit([sample_answer()]).stored
    old = sqlite3.connect(aside)
    assert old.execute("SELECT count(*) FROM answers").fetchone() == (3,)
    assert old.execute("PRAGMA user_version").fetchone() == (99,)
    old.close()
    assert aside.stat().st_mode & 0o777 == 0o600
    with Environment(path) as environment:
        assert environment.trouble == []
        assert len(environment.answers()) == 1


@pytest.mark.spec("R31")
def test_a_second_store_of_another_schema_does_not_replace_the_first_set_aside(path: Path) -> None:
    for _ in range(2):
        path.unlink(missing_ok=True)
        other_schema(path)
        Environment(path).close()
    assert sorted(each.name for each in path.parent.glob("*.schema-*")) == ["lab.db.schema-99.1", "lab.db.schema-99.2"]


@pytest.mark.parametrize("read_only", [False, True])
def test_another_program_s_database_is_refused_and_left_alone(path: Path, *, read_only: bool) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE precious (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is a database, but not one of assay's"):
        Environment(path, read_only=read_only)
    assert path.read_bytes() == before


def test_the_log_of_a_store_that_was_moved_away_is_not_taken_for_the_new_one_s(path: Path) -> None:
    with Environment(path) as environment:
        environment.commit([sample_answer(sample_key(8))])
        logged = path.with_name("lab.db-wal").read_bytes()
    path.unlink()
    path.with_name("lab.db-wal").write_bytes(logged)
    with Environment(path) as environment:
        fresh = sample_answer(sample_key(16))
        assert environment.commit([fresh]).stored
        assert environment.answers() == [fresh]


def test_an_empty_file_is_an_empty_store_for_a_reader(path: Path) -> None:
    path.touch()
    with Environment(path, read_only=True) as environment:
        assert environment.answers() == []
    assert path.read_bytes() == b""


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    with Environment(path) as environment:
        assert environment.commit([sample_answer()]).stored
        assert environment.trouble == []


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a file"):
        Environment(tmp_path)


def test_a_url_is_refused_without_showing_what_is_in_it() -> None:
    with pytest.raises(StoreError, match="keeps stores in SQLite files only") as caught:
        Environment("postgresql://user:secret@host/base")
    assert "secret" not in str(caught.value)
