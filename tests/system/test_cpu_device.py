"""The processor's own counters, on the real system."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.device import RunQueueWait, SystemClock, cpu_device

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this system does not count run-queue wait"
)

FORKED = """
import os
from assay.device import RunQueueWait
counter = RunQueueWait()
parents = counter.threads
child = os.fork()
if child == 0:
    counter.waited_ns()
    os._exit(0 if counter.threads == {str(os.getpid())} and counter.threads != parents else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture
def counter() -> Iterator[RunQueueWait]:
    counter = RunQueueWait()
    yield counter
    counter.close()


@pytest.fixture
def rival() -> Iterator[int]:
    """A process that keeps one processor busy, the one this process is kept to as well."""
    usable = os.sched_getaffinity(0)
    shared = {min(usable)}
    os.sched_setaffinity(0, shared)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:  # it inherits the affinity
        yield busy.pid
        os.sched_setaffinity(0, usable)
        busy.kill()


def spin(clock: SystemClock, for_ns: int) -> None:
    end = clock.now_ns() + for_ns
    while clock.now_ns() < end:
        pass


@pytest.mark.spec("X9")
@pytest.mark.usefixtures("rival")
def test_sharing_a_processor_shows_as_wait(counter: RunQueueWait) -> None:
    clock, before = SystemClock(), counter.waited_ns()
    for _ in range(100):
        spin(clock, 20_000_000)
        if counter.waited_ns() > before:
            return
    pytest.fail("two seconds beside a busy process on one processor, and no wait was counted")


@pytest.mark.spec("X9")
def test_a_thread_that_starts_is_watched_and_one_that_ends_keeps_its_wait(counter: RunQueueWait) -> None:
    assert counter.threads == threads_of(os.getpid())
    started, release = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        release.wait()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    during = counter.waited_ns()
    assert str(thread.native_id) in counter.threads
    release.set()
    thread.join()
    while str(thread.native_id) in threads_of(os.getpid()):
        os.sched_yield()
    assert counter.waited_ns() >= during
    assert str(thread.native_id) not in counter.threads


def test_a_forked_child_watches_its_own_threads_and_not_its_parents() -> None:
    assert subprocess.run([sys.executable, "-c", FORKED], check=False).returncode == 0


def test_this_machine_says_what_it_is() -> None:
    device = cpu_device()
    cores = device.facts()["cores"]
    assert isinstance(cores, int)
    assert device.fingerprint.slug.endswith(f"{cores}c")
    assert re.fullmatch(r"[0-9a-f]{12}", device.fingerprint.key or "") or not device.fingerprint.identified


def test_the_system_clock_never_runs_backwards() -> None:
    clock = SystemClock()
    readings = [clock.now_ns() for _ in range(1000)]
    assert readings == sorted(readings)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", clock.date())


def threads_of(process: int) -> set[str]:
    return set(os.listdir(f"/proc/{process}/task"))  # noqa: PTH208 - names are all that is wanted
