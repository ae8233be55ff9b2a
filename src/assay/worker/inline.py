"""A runner without a process: the task runs here, at once, without limits.

For work that cannot wait for a process to start, as a first miss. A crash of the task is a crash of this process, and
an endless task never returns; only what it raises is caught.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from assay.errors import reason_of
from assay.worker.outcome import Done, Fault, Task
from assay.worker.reasons import trace_of

T = TypeVar("T")


class Inline:
    """Runs tasks in this process."""

    def run(self, task: Task[T], on_message: Callable[[object], None] | None = None) -> Done[T] | Fault:
        """What came of a task; messages go to `on_message` as they are sent.

        Raises:
            KeyboardInterrupt: the user's, or the task's own, for here they cannot be told apart.
        """
        channel = _InlineChannel(on_message)
        try:
            return Done(task(channel))
        except (Exception, SystemExit) as error:  # kept: the fault carries reason and trace
            if error is channel.refused:
                raise
            return Fault(channel.label, reason_of(error), trace_of(error))

    def close(self) -> None:
        """Nothing: it holds nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _InlineChannel:
    def __init__(self, on_message: Callable[[object], None] | None) -> None:
        self.label = ""
        self.refused: BaseException | None = None
        self._on_message = on_message

    def step(self, label: str, limit_s: float) -> None:
        del limit_s
        self.label = label

    def send(self, message: object) -> None:
        if self._on_message is None:
            return
        try:
            self._on_message(message)
        except BaseException as error:
            self.refused = error  # the listener's error is its own, not the task's
            raise
