import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from assay.errors import StoreError
from assay.store import TABLES, SqliteStorage, Storage
from assay.store.sqlite import read_identity
from assay.testing.store import CountingStore

MAKERS: dict[str, Callable[[Path], Storage]] = {
    "SqliteStorage": SqliteStorage,
    "CountingStore": lambda path: CountingStore(SqliteStorage(path)),
}


@pytest.fixture(params=sorted(MAKERS))
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Storage]:
    return lambda: MAKERS[request.param](tmp_path / "lab.db")


def test_rows_come_back_by_id_and_in_the_order_they_were_first_written(make: Callable[[], Storage]) -> None:
    storage = make()
    with storage.transaction() as transaction:
        for row in ("b", "a", "c"):
            transaction.put("answers", row, row.upper().encode())
    with storage.transaction() as transaction:
        assert transaction.get("answers", "b") == b"B"
        transaction.put("answers", "b", "µ".encode())
        assert transaction.get("answers", "b") == "µ".encode()
    storage.close()
    again = make()
    assert again.scan("answers") == [("b", "µ".encode()), ("a", b"A"), ("c", b"C")]
    assert sorted(again.ids("answers")) == ["a", "b", "c"]
    assert (again.get("answers", "a"), again.get("answers", "d")) == (b"A", None)
    again.close()


def test_every_table_is_there_and_empty_at_first(make: Callable[[], Storage]) -> None:
    storage = make()
    for table in TABLES:
        assert (storage.get(table, "a"), storage.ids(table), storage.scan(table)) == (None, [], [])
    with storage.transaction() as transaction:
        transaction.put("answers", "a", b"A")
    for table in TABLES[1:]:
        assert (storage.get(table, "a"), storage.ids(table), storage.scan(table)) == (None, [], [])
    storage.close()


@pytest.mark.parametrize("exception", [ValueError, KeyboardInterrupt])
def test_an_exception_undoes_the_whole_transaction(make: Callable[[], Storage], exception: type[BaseException]) -> None:
    storage = make()

    def interrupted() -> None:
        with storage.transaction() as transaction:
            transaction.put("answers", "a", b"A")
            assert transaction.get("answers", "a") == b"A"
            raise exception

    with pytest.raises(exception):
        interrupted()
    assert storage.get("answers", "a") is None
    with storage.transaction() as transaction:
        transaction.put("answers", "b", b"B")
    assert storage.ids("answers") == ["b"]
    storage.close()


@pytest.mark.spec("X13")
def test_two_threads_lose_no_row_and_no_addition(make: Callable[[], Storage]) -> None:
    storage = make()

    def add(thread: int) -> None:
        for number in range(25):
            with storage.transaction() as transaction:
                transaction.put("answers", f"{thread}/{number}", b"x")
                transaction.put("counts", "sum", str(int(transaction.get("counts", "sum") or 0) + 1).encode())

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(storage.ids("answers")) == 100
    assert storage.get("counts", "sum") == b"100"
    storage.close()


def test_a_closed_storage_opens_again_when_it_is_used(make: Callable[[], Storage]) -> None:
    storage = make()
    with storage.transaction() as transaction:
        transaction.put("answers", "a", b"A")
    storage.close()
    storage.close()
    assert storage.get("answers", "a") == b"A"
    storage.close()


def test_a_storage_names_its_place(make: Callable[[], Storage], tmp_path: Path) -> None:
    storage = make()
    assert storage.place == str(tmp_path / "lab.db")
    assert storage.writable
    assert storage.notices == ()


def test_a_path_with_the_characters_of_a_url_is_only_a_path(tmp_path: Path) -> None:
    path = tmp_path / "lab #1 50% ?mode=ro.db"
    storage = SqliteStorage(path)
    with storage.transaction() as transaction:
        transaction.put("answers", "a", b"A")
    storage.close()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_what_an_id_holds_is_never_taken_for_sql(make: Callable[[], Storage]) -> None:
    storage = make()
    row = "a'; DROP TABLE answers; --"
    with storage.transaction() as transaction:
        transaction.put("answers", row, b"A")
    assert storage.get("answers", row) == b"A"
    assert storage.ids("answers") == [row]
    storage.close()


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    storage = SqliteStorage(tmp_path / "file" / "lab.db")
    with pytest.raises(StoreError, match="cannot be used"), storage.transaction():
        pass


def test_making_a_store_leaves_nothing_beside_it(tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "lab.db")
    with storage.transaction():
        pass
    storage.close()
    assert [each.name for each in tmp_path.iterdir()] == ["lab.db"]


def test_what_a_file_is_is_read_at_one_moment_though_another_process_makes_it_a_store_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    path.touch()
    outcomes: list[str] = []

    def make_it_a_store(statement: str) -> None:
        if statement == "PRAGMA user_version":
            try:
                SqliteStorage(path, patience_s=0).close()
                outcomes.append("made")
            except StoreError as locked:
                outcomes.append(locked.said)

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.set_trace_callback(make_it_a_store)
        assert read_identity(connection) == (0, 0, True)
        connection.set_trace_callback(None)
        assert outcomes == ["has been locked by another process for 0 s"]
        SqliteStorage(path).close()
        assert read_identity(connection)[1:] == (1, False)


def test_a_store_is_in_write_ahead_mode_so_that_readers_never_wait(tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "lab.db")
    with storage.transaction() as transaction:
        transaction.put("answers", "a", b"A")
        assert SqliteStorage(tmp_path / "lab.db", patience_s=0).get("answers", "a") is None
    assert SqliteStorage(tmp_path / "lab.db", patience_s=0).get("answers", "a") == b"A"
    storage.close()
