"""A runner with a process of its own: what goes wrong in a task costs the task and a fresh process.

The parent waits on the pipe and looks up every 50 ms: at the board, whether the step that runs has outlasted its limit;
at the process, whether it holds too much or has ended. One that is late, too big or gone is killed with all it forked
and reaped before `run` returns, so that nothing is left running beside the next task. The process is started by the
first task and kept from task to task until a fault.
"""

import os
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar, cast

from assay.device.clock import Clock, SystemClock
from assay.errors import reason_of
from assay.worker.board import Watch
from assay.worker.outcome import Done, Fault, Limits, Task
from assay.worker.pipe import Message, Order, Raised, Ready, Value, frame, pack, unpack
from assay.worker.process import Process, import_path
from assay.worker.reasons import exit_reason, late_reason, memory_reason, trace_of

T = TypeVar("T")

_LOOK_S = 0.05
_EXIT_S = 2.0


class Worker:
    """Runs tasks in a worker process, one at a time; a second thread's task waits for the first's.

    A context manager; the process ends with the block, with `close`, or when the object is collected.

    Args:
        limits: what a task may use.
        clock: what tells the parent the time; None means the system's.
    """

    def __init__(self, limits: Limits | None = None, clock: Clock | None = None) -> None:
        self.limits = limits or Limits()
        self._clock = clock or SystemClock()
        self._hold = _Hold()
        weakref.finalize(self, _Hold.release, self._hold)

    def run(self, task: Task[T], on_message: Callable[[object], None] | None = None) -> Done[T] | Fault:
        """What came of a task.

        Args:
            task: any callable; it and what it returns must be such that cloudpickle can send them.
            on_message: called in this thread with each message the task sends; None drops them.

        Raises:
            RuntimeError: the worker is closed, or this is called from `on_message` of its own task.
            KeyboardInterrupt: the user's; the process has been killed. So it is when `on_message` raises.
            MeasureError: a process does not end though it was killed.
        """
        try:
            order = frame(Order(import_path(), pack(task)))
        except Exception as error:  # noqa: BLE001  kept: the fault carries reason and trace
            return Fault("sending the task", reason_of(error), trace_of(error))
        hold = self._own_hold()
        with hold.exclusive():
            try:
                outcome = self._converse(hold, order, on_message)
            except BaseException:
                hold.drop()
                raise
            if isinstance(outcome, Fault):
                hold.drop()
            return cast("Done[T] | Fault", outcome)

    def close(self) -> None:
        """End the process, now: a task that runs in another thread comes back as a fault."""
        self._own_hold().release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _own_hold(self) -> "_Hold":
        hold = self._hold
        if hold.owner != os.getpid():  # a fork: the process is the parent's, and the lock may be held for ever
            self._hold = _Hold(closed=hold.closed)
            hold.drop()
            weakref.finalize(self, _Hold.release, self._hold)
        return self._hold

    def _converse(
        self, hold: "_Hold", order: bytes, on_message: Callable[[object], None] | None
    ) -> Done[object] | Fault:
        process = hold.process
        if process is None or process.gone:
            hold.drop()
            process = hold.process = Process(self.limits.memory_bytes, self.limits.start_s)
            begun = self._next(hold, process, Watch(process.board, self._clock))
            if not isinstance(begun, Ready):
                return self._outcome(process, begun)
            process.note_start()
        process.post(order)
        watch = Watch(process.board, self._clock)
        while isinstance(answer := self._next(hold, process, watch), Message):
            if on_message is not None:
                on_message(unpack(answer.body))
        return self._outcome(process, answer)

    def _next(self, hold: "_Hold", process: Process, watch: Watch) -> object:
        """The next thing the process says, or the fault that keeps it from saying more."""
        while True:
            try:
                said = process.frames.next()
            except Exception as error:  # noqa: BLE001  kept: the fault carries reason and trace
                return Fault(process.label, f"sent what cannot be read, {reason_of(error)}", trace_of(error))
            if said is not None and not isinstance(said, Message):
                return said
            fault = self._trouble(hold, process, watch)
            if fault is not None or said is not None:
                return fault or said
            if process.closed:
                label = process.label
                return Fault(label, exit_reason(process.end(_EXIT_S)))
            process.exchange(_LOOK_S)

    def _trouble(self, hold: "_Hold", process: Process, watch: Watch) -> Fault | None:
        if hold.closed:
            return Fault(process.label, "the worker was closed")
        late = watch.overdue()
        if late is not None:
            return Fault(late.label, late_reason(late.limit_s))
        if process.grown_bytes() > self.limits.memory_bytes:
            return Fault(process.label, memory_reason(self.limits.memory_bytes))
        return None

    def _outcome(self, process: Process, answer: object) -> Done[object] | Fault:
        if isinstance(answer, Fault):
            return answer
        if isinstance(answer, Value):
            try:
                return Done(unpack(answer.body))
            except Exception as error:  # noqa: BLE001  kept: the fault carries reason and trace
                return Fault("reading the value", reason_of(error), trace_of(error))
        if isinstance(answer, Raised):
            if answer.out_of_memory:
                return Fault(process.label, memory_reason(self.limits.memory_bytes, answer.reason), answer.trace)
            return Fault(process.label, answer.reason, answer.trace)
        return Fault(process.label, f"answered with {type(answer).__name__}")


class _Hold:
    """The process of a worker, and who may use it.

    Apart from the worker so that the worker's finaliser can hold it.
    """

    def __init__(self, *, closed: bool = False) -> None:
        self.owner = os.getpid()
        self.process: Process | None = None
        self.closed = closed
        self._lock = threading.Lock()
        self._thread: int | None = None

    @contextmanager
    def exclusive(self) -> Generator[None, None, None]:
        """Nobody else uses the process in this block.

        Raises:
            RuntimeError: this thread uses it already, or the worker is closed.
        """
        if self._thread == threading.get_ident():
            raise RuntimeError("worker: run was called while a task of the same worker runs in this thread")
        with self._lock:
            if self.closed:
                raise RuntimeError("worker: it is closed; make another one")
            self._thread = threading.get_ident()
            try:
                yield
            finally:
                self._thread = None
                if self.closed:
                    self.drop()

    def drop(self) -> None:
        """End the process, if there is one."""
        process, self.process = self.process, None
        if process is not None:
            process.end()

    def release(self) -> None:
        """End the process for good; whoever runs a task on it now ends it on seeing this, in its own thread."""
        self.closed = True
        if self.owner != os.getpid():
            self.drop()
        elif self._thread != threading.get_ident():
            with self._lock:
                self.drop()
