"""Rows in one SQLite file.

The file begins empty and gets its schema in one transaction, so nobody ever opens half of it; then it is in
write-ahead mode, so readers never wait for the writer and a process killed at any moment loses only the transaction
it had not committed. A file of another schema is copied aside before it is rebuilt, a file that is not assay's is
refused. A missing file is an empty storage until the first write makes it.
"""

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Generator
from pathlib import Path

from assay.errors import StoreError
from assay.store.storage import TABLES, Table, Transaction

APPLICATION = 0x61737379
"""``assy``: the mark of our files in SQLite's header."""

SCHEMA = 1
OWNER_FILE = 0o600
OWNER_FOLDER = 0o700
PATIENCE_S = 10.0
"""How long a writer waits for another: one transaction takes milliseconds, so a longer wait is a stuck process."""

_inherited: list[sqlite3.Connection] = []
"""Connections a fork brought along: closing one here would undo the parent's locks, so they are kept and not used."""


class SqliteStorage:
    """Rows in one SQLite file.

    Args:
        path: the file; it need not exist.
        read_only: refuse to write, and never make or rebuild the file.
        patience_s: seconds to wait for another writer; 0 does not wait.

    Raises:
        StoreError: the file is there and is not a store this version can open; it is left as it is.
    """

    def __init__(self, path: Path, *, read_only: bool = False, patience_s: float = PATIENCE_S) -> None:
        self.path = path
        self._read_only = read_only
        self._patience_s = patience_s
        self._notices: list[str] = []
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()
        with self._attached():
            pass

    @property
    def place(self) -> str:
        """The file's path."""
        return str(self.path)

    @property
    def writable(self) -> bool:
        """Whether a transaction may be begun."""
        return not self._read_only

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should hear of how the file was opened."""
        return tuple(self._notices)

    def get(self, table: Table, row: str) -> bytes | None:
        """The text of a row; None when there is none."""
        with self._attached() as connection:
            return None if connection is None else _get(connection, table, row)

    def ids(self, table: Table) -> list[str]:
        """The ids of a table's rows."""
        with self._attached() as connection:
            rows = [] if connection is None else connection.execute(f"SELECT id FROM {table}").fetchall()  # noqa: S608 a name of TABLES
        return [_decoded(row) for (row,) in rows]

    def scan(self, table: Table) -> list[tuple[str, bytes]]:
        """The rows of a table in the order they were first written."""
        order = f"SELECT id, text FROM {table} ORDER BY rowid"  # noqa: S608 a name of TABLES
        with self._attached() as connection:
            rows = [] if connection is None else connection.execute(order).fetchall()
        return [(_decoded(row), text) for row, text in rows]

    @contextlib.contextmanager
    def transaction(self) -> Generator[Transaction, None, None]:
        """A transaction with no other writer at work."""
        if self._read_only:
            raise StoreError(self.place, "is open for reading only", "nothing was written")
        with self._attached(make=True) as connection:
            if connection is None:
                raise StoreError(self.place, "is gone", "nothing was written")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield _SqliteTransaction(connection)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Closes the file; a later use opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def _attached(self, *, make: bool = False) -> Generator[sqlite3.Connection | None, None, None]:
        """The connection, opened where there is a file, under the lock; sqlite's errors become ours."""
        if self._process != os.getpid():
            self._leave_the_parent()
        with self._lock, _reported(self.path, self._patience_s):
            if self._connection is None:
                if make and not self.path.exists():
                    _make(self.path)
                if self.path.exists():
                    self._connection = self._opened()
            yield self._connection

    def _leave_the_parent(self) -> None:
        if self._connection is not None:
            _inherited.append(self._connection)
        self._connection, self._process, self._lock = None, os.getpid(), threading.RLock()

    def _opened(self) -> sqlite3.Connection | None:
        if not self.path.is_file():
            raise StoreError(self.place, "is not a file", "name a file, or a folder in ASSAY_STORE")
        if not self._read_only and not _may_write(self.path):
            self._read_only = True
            self._notices.append(f"{self.path}: may not be written here; it is read, and nothing new is kept")
        connection = _connect(self.path, self._patience_s)
        try:
            usable = self._settle_schema(connection)
        except BaseException:
            connection.close()
            raise
        if not usable:
            connection.close()
            return None
        weakref.finalize(self, _close_in, os.getpid(), connection)
        return connection

    def _settle_schema(self, connection: sqlite3.Connection) -> bool:
        """Whether the file can be used; one that is empty cannot be read, and becomes a store when written."""
        connection.text_factory = bytes
        # A commit survives the process without waiting for the disk; a power cut costs the last ones, not the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        if self._read_only:
            connection.execute("PRAGMA query_only = ON")
        application, schema, empty = read_identity(connection)
        if application != APPLICATION and not empty:
            raise StoreError(self.place, "is a database, but not one of assay's", "name another file")
        if self._read_only:
            if not empty and schema != SCHEMA:
                raise StoreError(
                    self.place,
                    f"has schema {schema}, this version reads schema {SCHEMA}",
                    "a command that writes (`assay tune`) sets it aside and starts a new one",
                )
            return not empty
        if (application, schema) != (APPLICATION, SCHEMA):
            self._rebuild(connection)
        with contextlib.suppress(sqlite3.OperationalError):  # somebody else is opening it: one of us will
            connection.execute("PRAGMA journal_mode = WAL")
        return True

    def _rebuild(self, connection: sqlite3.Connection) -> None:
        """Replaces another schema by ours in one transaction, the old rows having been copied aside.

        The file itself is never renamed: another process may have it open, and would go on writing its log beside
        the name, into the new file.
        """
        connection.execute("BEGIN IMMEDIATE")
        try:
            application, schema, empty = read_identity(connection)
            if (application, schema) != (APPLICATION, SCHEMA):
                if not empty:
                    aside = _copy_aside(self.path, schema, self._patience_s)
                    self._notices.append(f"{self.path}: had schema {schema}; set aside as {aside}, and started anew")
                _write_schema(connection)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


class _SqliteTransaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, table: Table, row: str) -> bytes | None:
        return _get(self._connection, table, row)

    def put(self, table: Table, row: str, text: bytes) -> None:
        self._connection.execute(
            f"INSERT INTO {table} (id, text) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET text = excluded.text",  # noqa: S608 a name of TABLES
            (row, text.decode()),
        )


def _get(connection: sqlite3.Connection, table: Table, row: str) -> bytes | None:
    found = connection.execute(f"SELECT text FROM {table} WHERE id = ?", (row,)).fetchone()  # noqa: S608 a name of TABLES
    return None if found is None else found[0]


def _connect(path: Path, patience_s: float) -> sqlite3.Connection:
    """A connection that may write wherever the file can be written: a reader clears SQLite's own files away with it."""
    mode = "mode=rw"
    if not _may_write(path):
        # In a folder that takes no new file SQLite cannot make the index of its log, and refuses; nobody here writes
        # to such a file, so where it has no log it may be read as one that never changes.
        mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    place = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(place, uri=True, timeout=patience_s, isolation_level=None, check_same_thread=False)


def read_identity(connection: sqlite3.Connection) -> tuple[int, int, bool]:
    """The application's mark, the schema's number, and whether there are no tables, all at one moment."""
    with _one_moment(connection):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return application, schema, objects == 0


@contextlib.contextmanager
def _one_moment(connection: sqlite3.Connection) -> Generator[None, None, None]:
    """A read transaction: between two reads outside of one, another process may have written the schema."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _write_schema(connection: sqlite3.Connection) -> None:
    kinds = ("trigger", "view", "table")
    for kind in kinds:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite_%'", (kind,))
        for name in [_decoded(name).replace('"', '""') for (name,) in rows.fetchall()]:
            connection.execute(f'DROP {kind} "{name}"')
    for table in TABLES:
        connection.execute(f"CREATE TABLE {table} (id TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL)")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _make(path: Path) -> None:
    """Makes an empty file for its owner, unless there is one; whoever opens it first writes the schema."""
    path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWNER_FILE))


def _copy_aside(path: Path, schema: int, patience_s: float) -> Path:
    number = 1
    while (path.parent / f"{path.name}.schema-{schema}.{number}").exists():
        number += 1
    aside = _owned_file(path, f"schema-{schema}.{number}")
    try:
        with (
            contextlib.closing(_connect(path, patience_s)) as old,
            contextlib.closing(_connect(aside, patience_s)) as new,
        ):
            old.backup(new)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return aside


def _owned_file(path: Path, ending: str) -> Path:
    made = path.parent / f"{path.name}.{ending}"
    os.close(os.open(made, os.O_CREAT | os.O_RDWR, OWNER_FILE))
    return made


def _may_write(path: Path) -> bool:
    """Whether the file and its folder can be written: SQLite keeps its log beside the file."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _close_in(process: int, connection: sqlite3.Connection) -> None:
    if process == os.getpid():
        connection.close()


def _decoded(name: object) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


@contextlib.contextmanager
def _reported(path: Path, patience_s: float) -> Generator[None, None, None]:
    try:
        yield
    except sqlite3.Error as trouble:
        raise _store_error(path, trouble, patience_s) from trouble
    except OSError as trouble:
        raise StoreError(str(path), f"cannot be used ({trouble.strerror or trouble})") from trouble


def _store_error(path: Path, trouble: sqlite3.Error, patience_s: float) -> StoreError:
    code = getattr(trouble, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreError(
            str(path),
            f"is damaged ({trouble})",
            f"move it away (mv '{path}' '{path}.damaged') and tune again, or put a copy back",
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            str(path), f"has been locked by another process for {patience_s:g} s", "end that process or wait for it"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreError(str(path), "cannot grow, the disk is full", "free some space; nothing was written")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(str(path), f"cannot be opened or written ({trouble})", "check who owns it and its folder")
    return StoreError(str(path), f"cannot be used ({trouble})")
