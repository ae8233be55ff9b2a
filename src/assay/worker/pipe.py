"""What crosses between a process and its worker, and how: the one file that pickles.

Both ends are ours and the same version, and nothing that crosses is kept: a frame is eight bytes of length and a
cloudpickle of one of the messages below. Functions and classes of a script's ``__main__`` travel by value, so the
script is never run again. The task lies inside its order as bytes of its own: the child can take the parent's
``sys.path`` before it unpickles what needs it, and can answer when it cannot.
"""

import pickle
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import cast

import cloudpickle  # pyright: ignore[reportMissingTypeStubs]

_LENGTH = struct.Struct("=Q")
_CHUNK = 1 << 18
_dumps = cast("Callable[[object, int], bytes]", cloudpickle.dumps)  # pyright: ignore[reportUnknownMemberType]
_register_by_value = cast("Callable[[ModuleType], None]", cloudpickle.register_pickle_by_value)  # pyright: ignore[reportUnknownMemberType]


@dataclass(frozen=True, slots=True)
class Order:
    """Parent to child: run this.

    Attributes:
        path: the parent's ``sys.path``.
        body: the task, packed.
    """

    path: tuple[str, ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Ready:
    """Child to parent: its limits are set and it waits for orders."""


@dataclass(frozen=True, slots=True)
class Message:
    """Child to parent: something the task sent."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Value:
    """Child to parent: what the task returned."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Raised:
    """Child to parent: what the task raised, in words.

    Attributes:
        reason: the words; of a memory error, its own message.
        trace: where it was raised.
        out_of_memory: whether it was a memory error.
    """

    reason: str
    trace: str
    out_of_memory: bool


def pack(value: object) -> bytes:
    """A value as bytes.

    Raises:
        Exception: whatever the value's own reduction raises; commonly TypeError or `pickle.PicklingError`.
    """
    return _dumps(value, pickle.HIGHEST_PROTOCOL)


def unpack(body: bytes) -> object:
    """The value `pack` was given.

    Raises:
        Exception: whatever importing or rebuilding what it names raises.
    """
    return cast("object", pickle.loads(body))  # noqa: S301  the bytes come from our own worker, see the module


def frame(message: object) -> bytes:
    """A message with its length before it, ready to be written."""
    body = pack(message)
    return _LENGTH.pack(len(body)) + body


def send_by_value(module: ModuleType) -> None:
    """Let what a module defines travel by value: for one loaded from a path, which a worker could not import."""
    _register_by_value(module)


class Frames:
    """Messages out of bytes that arrive in pieces."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        self._buffer += piece

    def next(self) -> object | None:
        """The next whole message; None while it has not all arrived."""
        if len(self._buffer) < _LENGTH.size:
            return None
        end = _LENGTH.size + cast("int", _LENGTH.unpack_from(self._buffer)[0])
        if len(self._buffer) < end:
            return None
        body = bytes(memoryview(self._buffer)[_LENGTH.size : end])
        del self._buffer[:end]
        return unpack(body)


class ChildPipe:
    """The child's end: it blocks, for the parent watches the time.

    Args:
        descriptor: an open stream socket.
    """

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._frames = Frames()

    def send(self, message: object) -> None:
        """Write a message whole."""
        self._socket.sendall(frame(message))

    def receive(self) -> object | None:
        """The next message; None when the parent is gone."""
        while True:
            message = self._frames.next()
            if message is not None:
                return message
            piece = self._socket.recv(_CHUNK)
            if not piece:
                return None
            self._frames.feed(piece)

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()
