"""Whether a process had to wait for a processor: the kernel's own run-queue counters, summed over all its threads.

Linux accounts in ``/proc/self/task/TID/schedstat`` how long each thread was ready to run and did not (its second
field, nanoseconds). A call during which the sum grew waited for a processor; one during which it stood still had
every thread of its pools running. The counter says nothing about time the hypervisor took (steal), about a shared
cache or a clock that was lowered.
"""

import os
from typing import Protocol

_FIELDS = 128
"""Bytes read of a counter file: three decimal numbers of at most 20 digits."""


class Contention(Protocol):
    """What a device can say about others getting in the way."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The protections this system does not offer, each with the reason; empty when all are there."""
        ...

    def waited_ns(self) -> int | None:
        """Nanoseconds this process's threads have waited for a processor so far; None: no such counter."""
        ...


class NoCounter:
    """The contention of a system that does not say how long a thread waited."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    @property
    def missing(self) -> tuple[str, ...]:
        """The missing protection and its reason."""
        return (f"run-queue wait: {self._reason}; calls that waited for a CPU cannot be told from others",)

    def waited_ns(self) -> int | None:
        """None: there is no counter."""
        return None


class RunQueueWait:
    """The run-queue wait of every thread of this process.

    Each thread's counter file stays open. New threads are noticed by the link count of the folder of tasks, one
    system call however many there are; a thread that ended keeps what it had waited, so the sum never falls.

    Args:
        tasks: the folder that holds one folder per thread.

    Raises:
        OSError: the counters cannot be read here.
    """

    def __init__(self, tasks: str = "/proc/self/task") -> None:
        self._tasks = tasks
        self._process = 0
        self._folder = -1
        self._threads: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._ended_ns = 0
        self._links = -1
        self._open()
        try:
            self.waited_ns()
        except (OSError, ValueError, IndexError) as unreadable:
            self.close()
            raise OSError(f"{tasks}: {unreadable}") from unreadable
        if not self._threads:
            self.close()
            raise OSError(f"{tasks}: no thread has a schedstat file")

    @property
    def missing(self) -> tuple[str, ...]:
        """Nothing: the counter is there."""
        return ()

    @property
    def threads(self) -> set[str]:
        """The ids of the threads watched now."""
        return set(self._threads)

    def waited_ns(self) -> int:
        """Nanoseconds waited so far, summed over the threads alive and those that ended while watched."""
        if os.getpid() != self._process:
            self._reopen()
        links = os.fstat(self._folder).st_nlink
        if links != self._links:
            self._watch(links)
        last = self._last
        ended: list[str] = []
        for thread, counter in self._threads.items():
            try:
                last[thread] = int(os.pread(counter, _FIELDS, 0).split()[1])
            except ProcessLookupError:
                ended.append(thread)
        if ended:
            for thread in ended:
                self._forget(thread)
            self._watch(os.fstat(self._folder).st_nlink)
        return self._ended_ns + sum(last.values())

    def close(self) -> None:
        """Closes the counter files."""
        for counter in self._threads.values():
            os.close(counter)
        self._threads.clear()
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def _open(self) -> None:
        self._process = os.getpid()
        self._folder = os.open(self._tasks, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _reopen(self) -> None:
        # A fork's child holds its parent's counters: it drops them and starts from its own threads, which are new.
        self._ended_ns += sum(self._last.values())
        self._last.clear()
        self.close()
        self._open()
        self._links = -1

    def _watch(self, links: int) -> None:
        self._links = links
        for thread in os.listdir(self._folder):  # noqa: PTH208 - pathlib lists no open folder
            if thread in self._threads:
                continue
            try:
                counter = os.open(f"{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._folder)
                waited = int(os.pread(counter, _FIELDS, 0).split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended between the listing and here
            self._threads[thread] = counter
            self._last[thread] = waited

    def _forget(self, thread: str) -> None:
        os.close(self._threads.pop(thread))
        self._ended_ns += self._last.pop(thread)


def process_contention(tasks: str = "/proc/self/task") -> Contention:
    """The best account of contention this system gives.

    Args:
        tasks: the folder that holds one folder per thread of this process.
    """
    try:
        return RunQueueWait(tasks)
    except OSError as unreadable:
        return NoCounter(str(unreadable))
