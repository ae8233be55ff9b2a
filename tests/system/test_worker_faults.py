"""Real processes that go wrong in every way a kernel can, each with the task that comes after it."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import await_that, is_running

from assay.worker import Channel, Done, Fault, Limits, Task, Worker

MEMORY = 256 << 20


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker(Limits(call_s=0.4, memory_bytes=MEMORY)) as made:
        yield made


def segfault(channel: Channel) -> None:
    ctypes.string_at(0)


def abort(channel: Channel) -> None:
    os.abort()


def loop(channel: Channel) -> None:
    while True:
        pass


def loop_holding_the_interpreter(channel: Channel) -> None:
    ctypes.PyDLL(None).pause()  # never returns, and no other thread of the process runs meanwhile


def loop_sending(channel: Channel) -> None:
    while True:
        channel.send("still here")


def allocate(channel: Channel) -> None:
    channel.step("call", 60.0)
    held: list[bytes] = []
    while True:
        held.append(b"x" * (1 << 20))


def allocate_shared(channel: Channel) -> None:
    import mmap

    channel.step("call", 60.0)
    held: list[mmap.mmap] = []
    while True:
        held.append(mmap.mmap(-1, 1 << 20))
        held[-1].write(b"x" * (1 << 20))


def allocate_at_once(channel: Channel) -> int:
    return len(bytearray(1 << 30))


def leave(channel: Channel) -> None:
    os._exit(3)


def leave_well(channel: Channel) -> None:
    os._exit(0)


def raise_interrupt(channel: Channel) -> None:
    raise KeyboardInterrupt


def exit_politely(channel: Channel) -> None:
    sys.exit(4)


def close_everything(channel: Channel) -> None:
    os.closerange(3, 100)
    os._exit(5)


FAULTS: dict[str, tuple[Task[object], str]] = {
    "segfault": (segfault, "killed by signal 11 (segmentation fault)"),
    "abort": (abort, "killed by signal 6 (aborted)"),
    "loop": (loop, "no answer within 0.4 s"),
    "loop holding the interpreter": (loop_holding_the_interpreter, "no answer within 0.4 s"),
    "loop sending": (loop_sending, "no answer within 0.4 s"),
    "allocate": (allocate, "over its memory limit of 256 MiB"),
    "allocate shared": (allocate_shared, "over its memory limit of 256 MiB"),
    "allocate at once": (allocate_at_once, "over its memory limit of 256 MiB"),
    "leave": (leave, "exited with 3"),
    "leave well": (leave_well, "exited with 0"),
    "raise an interrupt": (raise_interrupt, "raised KeyboardInterrupt"),
    "exit politely": (exit_politely, "raised SystemExit: 4"),
    "close everything": (close_everything, "exited with 5"),
}


@pytest.mark.spec("X10")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_costs_its_task_and_a_process_and_the_next_task_runs(worker: Worker, name: str) -> None:
    fault, reason = FAULTS[name]

    def task(channel: Channel) -> object:
        channel.step("call wrong", 0.4)
        return fault(channel)

    before = worker.run(lambda channel: os.getpid())
    outcome = worker.run(task)
    assert isinstance(before, Done)
    assert isinstance(outcome, Fault)
    assert outcome.reason == reason
    assert outcome.step in ("call wrong", "call")
    assert not is_running(before.value), "the process that failed is left running"
    after = worker.run(lambda channel: os.getpid())
    assert isinstance(after, Done)
    assert after.value != before.value


@pytest.mark.spec("X10")
def test_what_a_kernel_forked_ends_with_it(worker: Worker, tmp_path: Path) -> None:
    note = tmp_path / "grandchild"

    def task(channel: Channel) -> None:
        channel.step("call", 0.4)
        if os.fork() == 0:
            note.write_text(str(os.getpid()))
            while True:
                time.sleep(1)
        while True:
            pass

    assert isinstance(worker.run(task), Fault)
    assert note.exists(), "the kernel forked in time"
    assert await_that(lambda: not is_running(int(note.read_text())))


def test_a_dead_child_is_seen_though_what_it_forked_holds_its_pipe(worker: Worker) -> None:
    def task(channel: Channel) -> None:
        channel.step("call", 60.0)
        libc = ctypes.CDLL(None)
        if libc.fork() == 0:  # behind Python's back: the grandchild keeps every descriptor
            libc.pause()
        os.abort()

    begun = time.monotonic()
    outcome = worker.run(task)
    assert isinstance(outcome, Fault)
    assert outcome.reason == "killed by signal 6 (aborted)"
    assert time.monotonic() - begun < 30.0, "it was the death that was seen, not the limit"


def test_a_fork_that_comes_back_gives_one_value_and_not_two(worker: Worker, tmp_path: Path) -> None:
    def task(channel: Channel) -> str:
        child = os.fork()
        return "child" if child == 0 else "parent"

    assert worker.run(task) == Done("parent")
    assert worker.run(lambda channel: "next") == Done("next")


def test_a_real_interrupt_of_the_group_leaves_the_task_alone(worker: Worker) -> None:
    def task(channel: Channel) -> str:
        os.killpg(os.getpgrp(), signal.SIGINT)
        return "went on"

    assert worker.run(task) == Done("went on")


@pytest.mark.spec("X10")
def test_a_real_interrupt_ends_the_process_and_reaches_the_caller(worker: Worker) -> None:
    def task(channel: Channel) -> None:
        channel.step("call", 60.0)
        channel.send(os.getpid())
        while True:
            pass

    seen: list[object] = []

    def listen(message: object) -> None:
        seen.append(message)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        worker.run(task, listen)
    child = seen[0]
    assert isinstance(child, int)
    assert not is_running(child)
    assert worker.run(lambda channel: 1) == Done(1)


def test_a_single_request_past_the_limit_fails_where_it_is_made(worker: Worker) -> None:
    def task(channel: Channel) -> str:
        channel.step("call", 60.0)
        try:
            return f"got {len(bytearray(1 << 30))} bytes"
        except MemoryError:
            return "refused"

    assert worker.run(task) == Done("refused")
