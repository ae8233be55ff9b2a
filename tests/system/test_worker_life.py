"""A worker's life beside its parent's: scripts, threads, forks, and ends of every kind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import await_that, is_running

from assay.worker import Channel, Done, Fault, Worker


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker() as made:
        yield made


SCRIPT = """
import os, sys, time
from assay.worker import Worker

ran = open(sys.argv[1], "a")
ran.write("ran\\n")
ran.close()
STEP = 3

class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right

def twice(channel):
    return Pair(STEP * 2, helper())

def helper():
    return os.getpid()

with Worker() as worker:
    pair = worker.run(twice).value
    assert isinstance(pair, Pair), type(pair)
    assert pair.left == 6
    assert pair.right != os.getpid()
"""


@pytest.mark.spec("X10")
def test_a_task_of_a_script_runs_and_the_script_is_not_run_again(tmp_path: Path) -> None:
    script, log = tmp_path / "script.py", tmp_path / "log"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script, log], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert log.read_text() == "ran\n"


PARENT = """
import os, sys, threading, time
from assay.worker import Limits, Worker

def task(channel):
    import ctypes
    channel.step("call", 1e6)
    grandchild = os.fork()
    if grandchild == 0:
        while True:
            time.sleep(1)
    channel.send((os.getpid(), grandchild))
    ctypes.PyDLL(None).pause()  # holds the interpreter's lock

def tell(message):
    print(*message, flush=True)

def body():
    Worker().run(task, tell)

thread = threading.Thread(target=body)
thread.start()
thread.join()
"""


@pytest.mark.spec("X10")
def test_a_worker_dies_with_its_parent_though_the_parent_is_killed_outright(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        processes = [int(word) for word in parent.stdout.readline().split()]
        assert len(processes) == 2
        assert all(is_running(process) for process in processes)
        parent.kill()
        parent.wait()
    assert await_that(lambda: not any(is_running(process) for process in processes))


def test_a_worker_outlives_the_thread_that_started_it(worker: Worker) -> None:
    """The system's own parent-death signal comes when a thread ends; a worker must not hang on that."""
    pids: list[object] = []

    def ask() -> None:
        pids.append(worker.run(lambda channel: os.getpid()))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    time.sleep(0.2)
    ask()
    assert pids[0] == pids[1]


def test_what_a_task_prints_stays_off_the_parents_output(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "from assay.worker import Worker\n"
        "def task(channel):\n"
        "    print('from Python', flush=True)\n"
        "    os.write(1, b'from C')\n"
        "with Worker() as worker:\n"
        "    worker.run(task)\n"
        "print('{}')\n"
    )
    done = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "{}\n"
    assert "from Python" in done.stderr
    assert "from C" in done.stderr


def test_a_process_that_died_while_idle_is_replaced(worker: Worker) -> None:
    first = worker.run(lambda channel: os.getpid())
    assert isinstance(first, Done)
    os.kill(first.value, signal.SIGKILL)
    assert await_that(lambda: not is_running(first.value))
    assert worker.run(lambda channel: 1) == Done(1)


def test_a_task_that_cannot_be_sent_is_a_fault(worker: Worker) -> None:
    lock = threading.Lock()
    outcome = worker.run(lambda channel: lock)
    assert isinstance(outcome, Fault)
    assert str(outcome) == "sending the task: raised TypeError: cannot pickle '_thread.lock' object"


def test_a_value_that_cannot_be_sent_is_a_fault(worker: Worker) -> None:
    outcome = worker.run(lambda channel: threading.Lock())
    assert isinstance(outcome, Fault)
    assert str(outcome) == "sending the value: raised TypeError: cannot pickle '_thread.lock' object"


def test_closing_from_another_thread_ends_the_task(worker: Worker) -> None:
    closer = threading.Thread(target=worker.close)

    def task(channel: Channel) -> None:
        channel.step("call", 60.0)
        channel.send("begun")
        while True:
            pass

    outcome = worker.run(task, lambda message: closer.start())
    closer.join()
    assert outcome == Fault("call", "the worker was closed")
    with pytest.raises(RuntimeError, match="closed"):
        worker.run(lambda channel: 1)


@pytest.mark.spec("X13")
def test_a_run_within_a_run_is_refused_and_does_not_wait_for_itself(worker: Worker) -> None:
    def task(channel: Channel) -> None:
        channel.send("news")

    with pytest.raises(RuntimeError, match="while a task of the same worker runs in this thread"):
        worker.run(task, lambda message: worker.run(task) and None)
    assert worker.run(lambda channel: 1) == Done(1)


FORK = """
import os, threading, time
from assay.worker import Worker

worker = Worker()
mine = worker.run(lambda channel: os.getpid()).value
begun, go_on = threading.Event(), threading.Event()

def slow(channel):
    channel.step("call", 60.0)
    channel.send("begun")
    time.sleep(1.0)
    return os.getpid()

outcome = []
thread = threading.Thread(target=lambda: outcome.append(worker.run(slow, lambda message: begun.set())))
thread.start()
begun.wait()
child = os.fork()  # while the other thread holds the worker
if child == 0:
    theirs = worker.run(lambda channel: os.getpid())
    worker.close()
    os._exit(0 if theirs.value != mine else 9)
_, status = os.waitpid(child, 0)
thread.join()
assert os.waitstatus_to_exitcode(status) == 0, status
assert outcome[0].value == mine, outcome
assert worker.run(lambda channel: os.getpid()).value == mine
worker.close()
"""


@pytest.mark.spec("X13")
def test_a_fork_has_a_process_of_its_own_and_leaves_its_parents_alone(tmp_path: Path) -> None:
    script = tmp_path / "fork.py"
    script.write_text(FORK)
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", script]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.spec("X13")
def test_a_worker_let_go_of_leaves_no_process() -> None:
    worker = Worker()
    outcome = worker.run(lambda channel: os.getpid())
    assert isinstance(outcome, Done)
    assert is_running(outcome.value)
    del worker
    assert await_that(lambda: not is_running(outcome.value))


def test_no_descriptor_is_left_open_by_faults_and_ends() -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    with Worker() as worker:
        worker.run(lambda channel: 1)
    before = descriptors()
    with Worker() as worker:
        for _ in range(3):
            worker.run(lambda channel: os._exit(3))
            worker.run(lambda channel: 1)
    assert descriptors() == before


def test_a_step_costs_less_than_a_microsecond(worker: Worker) -> None:
    def task(channel: Channel) -> float:
        begun = time.perf_counter_ns()
        for _ in range(10_000):
            channel.step("call tiled[MR=8]", 10.0)
        return (time.perf_counter_ns() - begun) / 10_000

    costs = [worker.run(task) for _ in range(5)]
    assert min(cost.value for cost in costs if isinstance(cost, Done)) < 1000.0
