"""The parent's hold on one worker process: starting it, exchanging bytes with it, ending it.

The process leads a session of its own, so that whatever it forks can be killed with it and the terminal's interrupt
does not reach it. It hangs on a pipe of which only the parent holds the writing end: when the parent is gone, however
it went, the kernel kills the whole group (see `child`). A fork of the parent inherits these objects but not the
process: there `end` closes the descriptors and kills nothing.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys

from assay.errors import MeasureError
from assay.worker.board import Board
from assay.worker.memory import held_bytes
from assay.worker.pipe import Frames

_CHUNK = 1 << 18
_REAP_S = 30.0
# The path comes first: assay itself may be importable by the parent's path only.
_ENTRY = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given.pop('path'); "
    "from assay.worker.child import serve; serve(**given)"
)


class Process:
    """A running worker process.

    Args:
        memory_bytes: what it may hold beyond what it starts with.
        start_s: seconds it may take to start, and to load a task.
    """

    def __init__(self, memory_bytes: int, start_s: float) -> None:
        self.owner = os.getpid()
        self.board: Board
        self.frames = Frames()
        self.start_bytes = 0
        self._outgoing = memoryview(b"")
        self._closed = False
        self._socket, theirs = socket.socketpair()
        life, self._life = os.pipe()
        board = Board.create()
        try:
            self.board = Board(board)
            self.board.step("starting a worker", start_s)
            given = {
                "path": import_path(),
                "pipe": theirs.fileno(),
                "board": board,
                "life": life,
                "memory_bytes": memory_bytes,
                "start_s": start_s,
            }
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _ENTRY, json.dumps(given)],
                pass_fds=(theirs.fileno(), board, life),
                stdin=subprocess.DEVNULL,
                stdout=2,  # a kernel that prints must not spoil what the parent writes
                start_new_session=True,
            )
        except BaseException:
            self._socket.close()
            os.close(self._life)
            raise
        finally:
            theirs.close()
            os.close(life)
            os.close(board)
        self._socket.settimeout(0)

    @property
    def label(self) -> str:
        """The step the process is in, or ended in."""
        return self.board.read().label

    def note_start(self) -> None:
        """Take the memory held now as what the process started with."""
        self.start_bytes = held_bytes(self._process.pid)

    def grown_bytes(self) -> int:
        """Bytes held beyond what the process started with."""
        return held_bytes(self._process.pid) - self.start_bytes

    def post(self, data: bytes) -> None:
        """Have bytes written by the exchanges that follow; the last ones must have been."""
        self._outgoing = memoryview(data)

    def exchange(self, wait_s: float) -> None:
        """Read and write what can be, waiting up to `wait_s` for the chance."""
        ended = self._has_ended()
        poll = select.poll()
        poll.register(self._socket, select.POLLIN | (select.POLLOUT if self._outgoing else 0))
        events = poll.poll(0 if ended else wait_s * 1000)
        if not events:
            self._closed |= ended  # a process it forked may hold the pipe open
            return
        try:
            if events[0][1] & select.POLLOUT:
                self._outgoing = self._outgoing[self._socket.send(self._outgoing) :]
            if events[0][1] & ~select.POLLOUT:
                self._read()
        except OSError:  # the other end is gone; how it ended says why
            self._closed = True

    @property
    def gone(self) -> bool:
        """Whether nothing more will come."""
        return self._closed or self._has_ended()

    @property
    def closed(self) -> bool:
        """Whether the pipe has been read to its end."""
        return self._closed

    def end(self, patience_s: float = 0.0) -> int:
        """How the process ended; it is killed if it has not, with all it forked.

        Args:
            patience_s: seconds it has to end by itself.

        Returns:
            The status as `subprocess` gives it; in a fork, whose process it is not, 0.

        Raises:
            MeasureError: it does not end though killed; what it holds (a device) is lost.
        """
        if os.getpid() != self.owner:
            self._process.returncode = 0  # not this process's to wait for
        status = self._process.returncode
        if status is None:
            self._await_end(patience_s)
            status = self._kill()
        if self._life >= 0:
            os.close(self._life)
            self._life = -1
            self._socket.close()
            self.board.close()
        return status

    def _kill(self) -> int:
        with contextlib.suppress(ProcessLookupError):  # before it is reaped: its number cannot be another's yet
            os.killpg(self._process.pid, signal.SIGKILL)
        try:
            return self._process.wait(_REAP_S)
        except subprocess.TimeoutExpired as stuck:
            said = f"process {self._process.pid} did not end within {_REAP_S:.0f} s of being killed"
            raise MeasureError("worker", said, "the device it used may be lost: restart the machine") from stuck

    def _read(self) -> None:
        piece = self._socket.recv(_CHUNK)
        if piece:
            self.frames.feed(piece)
        else:
            self._closed = True

    def _await_end(self, patience_s: float) -> None:
        waits = int(patience_s / 0.01)
        while waits > 0 and not self._has_ended():
            select.poll().poll(10)
            waits -= 1

    def _has_ended(self) -> bool:
        if self._process.returncode is not None:
            return True
        try:  # looks without reaping
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True


def import_path() -> tuple[str, ...]:
    """Where this process looks for modules."""
    return tuple(entry for entry in sys.path if isinstance(entry, str))  # pyright: ignore[reportUnnecessaryIsInstance]
