"""Guarded memory: an array laid out as the caller's is, with a known byte pattern around it.

A kernel sees arrays laid out as the caller's are, to the byte: strides, order of the axes, and no more alignment than
was promised. Around each array, and in the gaps its strides leave, lies a known byte pattern: what is written there is
seen, and what is read from there spoils the result.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from assay.array import MAX_ALIGN, ArrayView, dtype_of

Array = npt.NDArray[Any]

_GUARD_BYTES = 4096
_GUARD_ROWS = 64
_GUARD_LIMIT = 1 << 20
"""A tile written past the last row lands in the guard, not in someone's heap, up to 64 rows or 1 MiB."""

_LARGEST_WORD = 8


class Guarded:
    """An array in guarded memory.

    Args:
        view: shape, strides, dtype and alignment of the array; its pointer's alignment is met exactly.
        fill: the byte everything holds at first, guards, gaps and elements.
    """

    def __init__(self, view: ArrayView, fill: int = 0xFF) -> None:
        row = view.shape[-1] * view.itemsize if view.shape else view.itemsize
        guard = min(max(_GUARD_BYTES, _GUARD_ROWS * row), _GUARD_LIMIT)
        low, high = view.reach
        # Room to move the first element by up to twice the largest alignment.
        size = (high - low) * view.itemsize + 2 * guard + 2 * MAX_ALIGN
        self._raw = np.full(size, fill, dtype=np.uint8)
        offset = guard - low * view.itemsize
        offset += _shift(int(self._raw.ctypes.data) + offset, view.align)
        self._offset = offset
        self._start, self._end = offset + low * view.itemsize, offset + high * view.itemsize
        self._view = view
        self._fill = fill
        self.array: Array = self._over(self._raw, dtype_of(view.dtype))

    def poison(self, fill: int) -> None:
        """Set every byte, elements, gaps and guards, to one value."""
        self._raw[...] = fill
        self._fill = fill

    def write(self, values: Array) -> None:
        """Set the elements; gaps and guards keep the byte that was filled."""
        self.array[...] = values

    def touched_outside(self) -> bool:
        """Whether any byte that is no element differs from the one that was filled."""
        raw = self._raw
        if self._end - self._start == self._view.nbytes:
            return bool(np.any(raw[: self._start] != self._fill) or np.any(raw[self._end :] != self._fill))
        rest = raw.copy()
        opaque = np.dtype(f"V{self._view.itemsize}")
        self._over(rest, opaque)[...] = np.frombuffer(bytes([self._fill]) * opaque.itemsize, opaque)[0]
        return bool(np.any(rest != self._fill))

    def _over(self, raw: npt.NDArray[np.uint8], dtype: np.dtype[Any]) -> Array:
        steps = tuple(step * self._view.itemsize for step in self._view.strides)
        return np.ndarray(self._view.shape, dtype, raw.data, self._offset, steps)


def words(array: Array) -> npt.NDArray[np.unsignedinteger[Any]]:
    """The bits of an array's elements in C order, as unsigned integers: one word an element, two past eight bytes.

    Comparing words is ten times faster than comparing bytes and asking for each element whether any differs.
    """
    flat = np.ascontiguousarray(array).reshape(-1)
    size = array.dtype.itemsize
    return flat.view(np.dtype(f"u{min(size, _LARGEST_WORD)}")).reshape(flat.size, max(size // _LARGEST_WORD, 1))


def _shift(address: int, align: int) -> int:
    if align >= MAX_ALIGN:
        return -address % MAX_ALIGN
    return (align - address) % (2 * align)
