"""A page of memory two processes share, on which a task notes what it is doing.

The writer notes a step's label and limit; the reader looks whenever it likes. A count rises by two with every step and
is odd while a note is being written, so a reader never judges one step by another's limit. Writing costs some hundred
nanoseconds and wakes nobody, which is what lets a timing loop note every block.

`Watch` is the reader's judgement: a step is overdue when the same count has been seen for longer than its limit. It
starts a step's time when it first sees it, so a step may outlast its limit by the time between two looks, never fall
short of it, and the two processes need no common clock.
"""

import mmap
import os
import struct
from dataclasses import dataclass

from assay.device.clock import Clock

LABEL_BYTES = 200
_COUNT = struct.Struct("=Q")
_NOTE = struct.Struct(f"=dH{LABEL_BYTES}s")
_SIZE = _COUNT.size + _NOTE.size


@dataclass(frozen=True, slots=True)
class Note:
    """What the board says.

    Attributes:
        count: which note this is; odd while it is being written.
        limit_s: seconds the step may take.
        label: what the step is called.
    """

    count: int
    limit_s: float
    label: str


class Board:
    """The shared page.

    Args:
        descriptor: an open file to share, as `create` makes it; it stays its caller's to close.
    """

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)
        self._count: int = _COUNT.unpack_from(self._memory, 0)[0]

    @staticmethod
    def create() -> int:
        """A descriptor of a new empty board, in memory only."""
        descriptor = os.memfd_create("assay-board", os.MFD_CLOEXEC)
        os.ftruncate(descriptor, _SIZE)
        return descriptor

    def step(self, label: str, limit_s: float) -> None:
        """Note that a step begins (the writer's side)."""
        text = label.encode("utf-8", "replace")[:LABEL_BYTES]
        memory = self._memory
        _COUNT.pack_into(memory, 0, self._count + 1)
        _NOTE.pack_into(memory, _COUNT.size, limit_s, len(text), text)
        self._count += 2
        _COUNT.pack_into(memory, 0, self._count)

    def read(self) -> Note:
        """The note that stands (the reader's side)."""
        count: int = _COUNT.unpack_from(self._memory, 0)[0]
        limit_s, length, text = _NOTE.unpack_from(self._memory, _COUNT.size)
        if count != _COUNT.unpack_from(self._memory, 0)[0]:
            count |= 1
        return Note(count, limit_s, text[:length].decode("utf-8", "replace"))

    def close(self) -> None:
        """Let go of the page."""
        self._memory.close()


class Watch:
    """Judges whether the step a board shows has outlasted its limit.

    Args:
        board: the board to look at.
        clock: what tells the time.
    """

    def __init__(self, board: Board, clock: Clock) -> None:
        self._board = board
        self._clock = clock
        self._count = -1
        self._since_ns = 0

    def overdue(self) -> Note | None:
        """The note of a step past its limit; None while there is none."""
        note, now_ns = self._board.read(), self._clock.now_ns()
        if note.count != self._count or note.count % 2:
            self._count, self._since_ns = note.count, now_ns
            return None
        return note if now_ns - self._since_ns > note.limit_s * 1e9 else None
