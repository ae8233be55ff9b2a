"""Real processes at one store: many that write at once, one that is killed while it writes, one that may not write."""

import itertools
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from assay.store import Environment, Profile, SqliteStorage
from assay.testing.store import sample_answer, sample_key, sample_record, sample_session

WRITERS = 4
KEYS = 25
NOBODY = 65534

RACING = """
import sys
from pathlib import Path
from assay.store import Environment
from assay.testing.store import sample_answer, sample_key, sample_record, sample_session

path, tile, keys = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
environment = Environment(path)
environment.begin(sample_session())
for power in range(keys):
    answer = sample_answer(sample_key(1 << power), tile=tile)
    committed = environment.commit([answer], (), sample_record(answer))
    environment.add_counts({("cpu", "gemm", "won"): 1})
    print(power, committed.stored, committed.kept[0].winner.setting["tile"], committed.reason, sep="|", flush=True)
environment.close()
"""

ENDLESS = """
import itertools, sys
from pathlib import Path
from assay.store import Environment
from assay.testing.store import sample_answer, sample_key, sample_record, sample_session

environment = Environment(Path(sys.argv[1]))
environment.begin(sample_session())
for number in itertools.count():
    answer = sample_answer(sample_key(op=f"op-{number}"))
    assert environment.commit([answer], (), sample_record(answer)).stored
    print(number, flush=True)
"""

SAVING = """
import itertools, sys
from pathlib import Path
from assay.store import Entry, Profile

for number in itertools.count(1):
    made = Profile("sample-device")
    for size in range(50):
        made = made.with_entry(Entry("gemm", "tiled", {"M": size}, {"MR": number}))
    made.save(Path(sys.argv[1]))
    print(number, flush=True)
"""

HALFWAY = """
import sys
from pathlib import Path
from assay.store import SqliteStorage

with SqliteStorage(Path(sys.argv[1])).transaction() as transaction:
    transaction.put("answers", "half", b"{")
    print("halfway", flush=True)
    sys.stdin.readline()
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def rest(process: subprocess.Popen[str]) -> list[str]:
    """The lines still to come; the process has ended after them."""
    assert process.stdout is not None
    assert process.stdin is not None
    lines = process.stdout.read().splitlines(keepends=True)
    process.stdout.close()
    process.stdin.close()
    process.wait(timeout=60)
    return [each.strip() for each in lines if each.endswith("\n")]


def in_a_fork(work: Callable[[], None]) -> int:
    """The exit code of a forked child that does the work: 0 when nothing it asserts fails."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 pytest must not run on in the child; the parent sees the code
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def integrity(path: Path) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]


@pytest.mark.spec("R29", "A26")
def test_of_many_processes_writing_the_same_keys_at_once_one_is_first_and_the_others_are_told(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "lab.db"
    processes = [start(RACING, path, 1 << number, KEYS) for number in range(WRITERS)]
    assert [line(process) for process in processes] == ["ready"] * WRITERS
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    reports = [row.split("|") for process in processes for row in rest(process)]
    assert [process.returncode for process in processes] == [0] * WRITERS
    assert len(reports) == WRITERS * KEYS
    assert {reason for *_, reason in reports} <= {"", "another writer was first"}
    with Environment(path, read_only=True) as environment:
        answers = environment.answers()
        kept = {power: environment.answer(sample_key(1 << power), "list-1") for power in range(KEYS)}
        assert len(answers) == KEYS
        assert environment.counts() == {("cpu", "gemm", "won"): WRITERS * KEYS}
        changed = [each for each in environment.records() if each.effect == "Changed"]
        assert len(changed) == KEYS
        assert environment.trouble == []
    for power, answer in kept.items():
        assert answer is not None
        told = [report for report in reports if report[0] == str(power)]
        assert sorted(stored for _, stored, *_ in told) == ["False"] * (WRITERS - 1) + ["True"]
        assert {tile for _, _, tile, _ in told} == {str(answer.winner.setting["tile"])}
    assert integrity(path) == "ok"


@pytest.mark.spec("R29")
@pytest.mark.parametrize("lines", [1, 2, 7, 30])
def test_a_process_killed_while_it_writes_loses_at_most_its_unfinished_write(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "lab.db"
    process = start(ENDLESS, path)
    done = [int(line(process)) for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    done += map(int, rest(process))
    assert process.returncode == -signal.SIGKILL
    with Environment(path) as environment:
        ops = [answer.key.op for answer in environment.answers()]
        assert len(done) <= len(ops) <= len(done) + 1
        assert ops == [f"op-{number}" for number in range(len(ops))]
        assert [record.body.entry.key.op for record in environment.records()] == ops
        assert len(environment.sessions()) == 1
        assert environment.trouble == []
        assert environment.commit([sample_answer(sample_key(op="after"))]).stored
    assert integrity(path) == "ok"


@pytest.mark.spec("R29")
def test_a_process_killed_in_the_middle_of_a_transaction_leaves_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Environment(path) as environment:
        environment.commit([sample_answer()])
    process = start(HALFWAY, path)
    assert line(process) == "halfway"
    locked = SqliteStorage(path, patience_s=0)
    with Environment(locked) as environment:
        assert not environment.commit([sample_answer(sample_key(8))]).stored, "the write is under way"
        process.kill()
        assert rest(process) == []
        assert environment.commit([sample_answer(sample_key(8))]).stored
        assert [answer.key for answer in environment.answers()] == [sample_key(), sample_key(8)]
        assert environment.trouble[0].count("has been locked by another process") == 1
    assert integrity(path) == "ok"


@pytest.mark.spec("R30")
def test_somebody_who_may_only_read_the_store_gets_its_answers() -> None:
    # The suite's own folders are closed to everybody else, and root may write whatever the modes say.
    with tempfile.TemporaryDirectory(prefix="assay-shared-") as name:
        shared, path = Path(name), Path(name) / "lab.db"
        with Environment(path) as environment:
            environment.commit([sample_answer(sample_key(8))])
        before = path.read_bytes()
        path.chmod(0o444)
        shared.chmod(0o555)

        def read() -> None:
            if os.getuid() == 0:
                os.setuid(NOBODY)
            _only_read(path)

        assert in_a_fork(read) == 0
        assert [each.name for each in shared.iterdir()] == ["lab.db"]
        assert path.read_bytes() == before
        shared.chmod(0o755)


def _only_read(path: Path) -> None:
    known, mine = sample_answer(sample_key(8)), sample_answer(sample_key(16), tile=16)
    with pytest.raises(sqlite3.OperationalError), closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with Environment(path) as environment:
        assert environment.answer(known.key, known.checksum) == known
        for _ in range(3):
            assert not environment.commit([mine]).stored
            assert environment.answer(mine.key, mine.checksum) == mine
        assert len(environment.trouble) == 2
        assert "may not be written here" in environment.trouble[0]
        assert mine.key.label in environment.trouble[1]


@pytest.mark.spec("X13")
def test_a_fork_neither_hangs_nor_disturbs_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    mine = sample_answer(sample_key(8))
    with Environment(path) as environment:
        environment.begin(sample_session())
        environment.commit([mine], (), sample_record(mine))

        def child() -> None:
            assert environment.session is None, "a session is one process"
            assert environment.answer(mine.key, mine.checksum) == mine
            assert environment.commit([sample_answer(sample_key(16))]).stored
            environment.close()

        assert in_a_fork(child) == 0
        environment.commit([sample_answer(sample_key(32))])
        assert [answer.key for answer in environment.answers()] == [sample_key(size) for size in (8, 16, 32)]
    assert integrity(path) == "ok"


@pytest.mark.spec("X12")
def test_a_file_that_cannot_grow_keeps_what_it_has_and_memory_answers(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Environment(path) as environment:
        environment.commit([sample_answer()])

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        with Environment(path) as environment:
            tried = (sample_answer(sample_key(op=f"op-{number}")) for number in itertools.count())
            answer = next(each for each in tried if not environment.commit([each]).stored)
            assert environment.answer(answer.key, answer.checksum) == answer
            assert len(environment.trouble) == 1
            assert answer.key.label in environment.trouble[0]

    assert in_a_fork(fill) == 0
    with Environment(path) as environment:
        assert environment.answer(sample_key(), "list-1") == sample_answer()
        assert len(environment.answers()) > 2
        assert environment.commit([sample_answer(sample_key(op="after"))]).stored
    assert integrity(path) == "ok"


@pytest.mark.spec("M35")
@pytest.mark.parametrize("lines", [1, 5])
def test_a_process_killed_while_it_saves_a_profile_leaves_one_that_is_whole(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "sample-device.json"
    process = start(SAVING, path)
    done = [int(line(process)) for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    done += map(int, rest(process))
    assert process.returncode == -signal.SIGKILL
    entries = Profile.load(path).entries
    assert len(entries) == 50
    assert {entry.setting["MR"] for entry in entries} in ({done[-1]}, {done[-1] + 1})
