"""Loading compiled code and handing it arrays: the one place that touches cffi.

This is cffi's ABI mode through its compiled half (`_cffi_backend`, which cffi's own generated modules import): it
parses C types itself, and its `from_buffer` takes an array's address in 0.14 µs where `cffi.FFI.from_buffer` takes
0.22 and NumPy's array interface 1.1 (EPYC, CPython 3.11).
"""

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import _cffi_backend
import numpy as np

_backend: Any = _cffi_backend
_ffi: Any = _backend.FFI()
_LINE_BYTES = 64
_GUARD_BYTES = 4096
_GUARD_FILL = 0xA5

NULL: object = _ffi.NULL
"""The null pointer."""

READ_TYPE: object = _ffi.typeof("char[]")
"""What `writable_address` gives its array as."""

address: Callable[[object], object] = _ffi.from_buffer
"""The address of a C-contiguous array, as a pointer that keeps the array alive."""

writable_address: Callable[[object, object, bool], object] = _backend.from_buffer
"""The same of an array to be written, as ``writable_address(READ_TYPE, array, True)``.

Raises:
    ValueError: the array is read-only.
"""


def strided_address(array: object) -> int:
    """The address of an array of any strides; it does not keep the array alive."""
    return int(cast("Any", array).__array_interface__["data"][0])


def writable_strided_address(array: object) -> int:
    """The address of an array of any strides that is to be written; it does not keep the array alive.

    Raises:
        ValueError: the array is read-only.
    """
    pointer, read_only = cast("Any", array).__array_interface__["data"]
    if read_only:
        raise ValueError("the array is read-only")
    return int(pointer)


class Library:
    """A loaded shared library; its functions are valid while it lives.

    Args:
        path: the file; once loaded it may go.

    Raises:
        OSError: it cannot be loaded, or a symbol it needs is missing.
    """

    def __init__(self, path: Path) -> None:
        self._handle: Any = _backend.load_library(str(path), _backend.RTLD_NOW)

    def has(self, name: str) -> bool:
        """Whether the library has a function of this name."""
        try:
            self.function(name, "void(*)(void)")
        except AttributeError:
            return False
        return True

    def function(self, name: str, prototype: str) -> Callable[..., object]:
        """A function of the library.

        Args:
            name: its name.
            prototype: the type of a pointer to it: ``void(*)(void *, int64_t)``.

        Raises:
            AttributeError: the library has no such function.
        """
        return cast("Callable[..., object]", self._handle.load_function(_typed(prototype), name))


class Scratch(threading.local):
    """Scratch memory, one piece for each thread, kept from call to call and grown when a call needs more.

    Behind it lies a guard: a kernel that writes past what it asked for writes there first, and is found out.
    """

    def __init__(self) -> None:
        self._bytes = -1
        self._pointer = NULL
        self._guard = np.empty(0, np.uint8)

    @property
    def overrun(self) -> bool:
        """Whether this thread's guard was written."""
        return bool((self._guard != _GUARD_FILL).any())

    def __call__(self, count: int) -> object:
        """A pointer to `count` bytes of this thread's, at the start of a cache line; what is in them is not defined."""
        if count > self._bytes:
            memory = np.empty(count + _LINE_BYTES + _GUARD_BYTES, np.uint8)
            start = -strided_address(memory) % _LINE_BYTES
            self._guard = memory[start + count : start + count + _GUARD_BYTES]
            self._guard[...] = _GUARD_FILL
            self._pointer, self._bytes = address(memory[start : start + count]), count
        return self._pointer


@cache
def _typed(prototype: str) -> object:
    return _ffi.typeof(prototype)
