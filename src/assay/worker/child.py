"""The worker process: takes a task, runs it, answers, until its parent is gone.

It ignores the terminal's interrupt, which is its parent's to act on, so that a `KeyboardInterrupt` seen here was raised
by the task. A process the task forks from Python loses the pipe and the board at once: only this one may answer.
"""

import fcntl
import os
import select
import signal
import sys
from typing import NoReturn, cast

from assay.errors import reason_of
from assay.worker.board import Board
from assay.worker.memory import limit_own_memory
from assay.worker.outcome import Task
from assay.worker.pipe import ChildPipe, Message, Order, Raised, Ready, Value, pack, unpack
from assay.worker.reasons import trace_of


def serve(*, pipe: int, board: int, life: int, memory_bytes: int, start_s: float) -> NoReturn:
    """Run the parent's orders until it is gone.

    Args:
        pipe: descriptor of the socket to the parent.
        board: descriptor of the shared page.
        life: descriptor of a pipe that only the parent holds open.
        memory_bytes: what this process may hold beyond what it holds now.
        start_s: seconds to load a task, to reach its first step, and to send its value.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(life)
    sys.stdout = sys.stderr
    channel = _Channel(Board(board), ChildPipe(pipe))
    os.close(board)
    os.register_at_fork(after_in_child=channel.detach)
    limit_own_memory(memory_bytes)
    channel.pipe.send(Ready())
    while isinstance(order := channel.pipe.receive(), Order):
        answer = _run(order, channel, start_s)
        if channel.detached:
            break
        channel.pipe.send(answer)
        if isinstance(answer, Raised):
            break  # the board keeps the step it was raised in, and nothing runs in this process again
        channel.step("waiting for a task", start_s)
    os._exit(0)


def _run(order: Order, channel: "_Channel", start_s: float) -> Value | Raised:
    channel.step("loading the task", start_s)
    try:
        sys.path[:] = order.path
        task = cast("Task[object]", unpack(order.body))
        channel.step("before the first step", start_s)
        value = task(channel)
        channel.step("sending the value", start_s)
        return Value(pack(value))
    except MemoryError as error:
        return Raised(reason=str(error), trace=trace_of(error), out_of_memory=True)
    except BaseException as error:  # noqa: BLE001  what a task raises is its result here, KeyboardInterrupt included
        return Raised(reason=reason_of(error), trace=trace_of(error), out_of_memory=False)


class _Channel:
    """The task's channel: steps go to the board, messages to the pipe."""

    def __init__(self, board: Board, pipe: ChildPipe) -> None:
        self.pipe = pipe
        self.detached = False
        self.step = board.step
        self._board = board

    def send(self, message: object) -> None:
        self.pipe.send(Message(pack(message)))

    def detach(self) -> None:
        self.detached = True
        self.pipe.close()
        self._board.close()


def _die_with(life: int) -> None:
    """Have the kernel kill this process's group when the parent's end of a pipe closes.

    The parent-death signal would not do: it comes when the *thread* that started this process ends, and spares what
    this process forks. A thread that waits for the pipe would not do either: a kernel may hold the interpreter's lock
    for ever.
    """
    fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    ready = select.poll()
    ready.register(life, select.POLLIN)
    if ready.poll(0):  # it closed before the kernel was told to watch
        os._exit(0)
