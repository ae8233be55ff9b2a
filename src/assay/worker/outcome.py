"""What a task is given and what comes of it: the words `Worker` and `Inline` share.

A task is any callable of one argument, its channel. It says through the channel what it begins and how long that may
take, so that a fault can name the step it ended in; it returns a value, which comes back as `Done`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a task may use.

    Attributes:
        build_s: seconds one build may take; a task passes it to `Channel.step`.
        call_s: seconds one call of a kernel may take; a task passes it to `Channel.step`.
        start_s: seconds the worker process may take to start, to load a task, and to send its value back.
        memory_bytes: bytes the process may hold beyond what it started with, above zero.

    Raises:
        ValueError: a limit is not above zero.
    """

    build_s: float = 60.0
    call_s: float = 10.0
    start_s: float = 60.0
    memory_bytes: int = 4 << 30

    def __post_init__(self) -> None:
        for name in ("build_s", "call_s", "start_s", "memory_bytes"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)}: a limit must be above 0")


class Channel(Protocol):
    """A task's way to say where it is."""

    def step(self, label: str, limit_s: float) -> None:
        """Say what begins now and how long it may take, at no noticeable cost: no system call, no wake-up.

        Args:
            label: what a fault will name; past 200 bytes it is cut.
            limit_s: seconds until the next step, or the end; inf sets no limit.
        """
        ...

    def send(self, message: object) -> None:
        """Hand a message to whoever runs the task (progress, a figure to keep); messages arrive in order."""
        ...


class Task(Protocol[T_co]):
    """Anything that runs on a channel."""

    def __call__(self, channel: Channel, /) -> T_co:
        """Do the work and return its value."""
        ...


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """A task that ended.

    Attributes:
        value: what it returned.
    """

    value: T


@dataclass(frozen=True, slots=True)
class Fault:
    """A task that did not end, and why.

    Attributes:
        step: the label of the step it was in (``call tiled[MR=8]``).
        reason: what happened (``killed by signal 11 (segmentation fault)``, ``no answer within 10 s``,
            ``over its memory limit of 4 GiB``, ``exited with 3``, ``raised ValueError: …``).
        trace: where an exception was raised, as Python prints it; empty for anything but an exception.
    """

    step: str
    reason: str
    trace: str = ""

    def __str__(self) -> str:
        return f"{self.step}: {self.reason}" if self.step else self.reason


class Runner(Protocol):
    """Something that runs tasks: `Worker` or `Inline`."""

    def run(self, task: Task[T], on_message: Callable[[object], None] | None = None) -> Done[T] | Fault:
        """What came of a task; messages it sends go to `on_message` as they arrive, and are dropped without one."""
        ...

    def close(self) -> None:
        """Let go of what it holds; nothing happens the second time."""
        ...
