"""Sets of buffers all entrants of a race run on, at varying offsets to each other.

Identical code on buffers of its own differs by half a per cent to one, and repeating does not remove it; and buffers
that all start at a page alias each other in the cache's sets. So every entrant sees the same sequence of sets, and in
each set each array starts elsewhere in its page: the page is cut into as many strips as there are sets, each array
visits every strip once, in an order of its own. Offsets are multiples of 16 bytes, what an allocator promises.

Source: Mytkowicz, Diwan, Hauswirth, Sweeney (2009), "Producing wrong data without doing anything obviously wrong!"
"""

import mmap
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np

_GRAIN = 16
_LIMIT_BYTES = 256 << 20
"""Bytes all sets together may take; past it there are fewer of them, down to one."""

_Array = np.ndarray[Any, np.dtype[Any]]


class Placed:
    """One set of buffers.

    Attributes:
        inputs: arrays at their places, and whatever else was given, by name.
        outputs: arrays at their places, by name.
        offsets: where in its page each array's first byte lies, by name.
    """

    def __init__(
        self,
        inputs: Mapping[str, object],
        outputs: Mapping[str, _Array],
        mutated: Mapping[str, _Array],
        offsets: Mapping[str, int],
    ) -> None:
        self.inputs = MappingProxyType(inputs)
        self.outputs = MappingProxyType(outputs)
        self.offsets = MappingProxyType(offsets)
        self._mutated = [(cast("_Array", inputs[name]), original) for name, original in mutated.items()]

    def restore(self) -> None:
        """Puts back the inputs a call changes."""
        for array, original in self._mutated:
            np.copyto(array, original)


class Placements:
    """The sets of buffers of a race.

    Args:
        inputs: arrays to copy, and values passed as they are, by name; shapes, strides and dtypes are kept.
        outputs: arrays whose shapes, strides and dtypes the outputs get, by name.
        mutated: names of the inputs a call changes.
        seed: what the offsets are drawn from.
        count: how many sets; fewer where they would take too many bytes.
        limit_bytes: bytes all sets together may take; one set is made in any case.
    """

    def __init__(
        self,
        inputs: Mapping[str, object],
        outputs: Mapping[str, _Array],
        *,
        mutated: Collection[str] = (),
        seed: int = 0,
        count: int = 8,
        limit_bytes: int = _LIMIT_BYTES,
    ) -> None:
        arrays = {name: cast("_Array", value) for name, value in inputs.items() if isinstance(value, np.ndarray)}
        both = {**arrays, **outputs}
        each = sum(_extent(array)[1] + mmap.PAGESIZE for array in both.values())
        count = max(min(count, limit_bytes // each if each else count), 1)
        offsets = _draw_offsets(list(both), count, seed)
        self.mutates = bool(mutated)
        self.sets = tuple(
            Placed(
                {**inputs, **{name: _copy_at(array, offsets[name][turn]) for name, array in arrays.items()}},
                {name: _copy_at(array, offsets[name][turn]) for name, array in outputs.items()},
                {name: arrays[name] for name in mutated},
                {name: places[turn] for name, places in offsets.items()},
            )
            for turn in range(count)
        )


def _draw_offsets(names: list[str], count: int, seed: int) -> dict[str, list[int]]:
    """Per array an offset for each set: one in every strip of the page, in an order of the array's own."""
    rng = np.random.default_rng(seed)
    strip = mmap.PAGESIZE / count
    return {
        name: [
            int((turn + within) * strip) // _GRAIN * _GRAIN
            for turn, within in zip(rng.permutation(count).tolist(), rng.random(count).tolist(), strict=True)
        ]
        for name in names
    }


def _extent(array: _Array) -> tuple[int, int]:
    """How far before its first element an array reaches, and how many bytes it spans in all."""
    low = high = 0
    for extent, stride in zip(array.shape, array.strides, strict=True):
        reach = (extent - 1) * stride
        low, high = (low + reach, high) if reach < 0 else (low, high + reach)
    return (-low, high - low + array.itemsize) if array.size else (0, 0)


def _copy_at(array: _Array, offset: int) -> _Array:
    """A copy, of the same strides, whose first element lies `offset` bytes into a page."""
    before, span = _extent(array)
    raw = np.empty(before + span + 2 * mmap.PAGESIZE, np.uint8)
    start = raw.ctypes.data + before
    shift = before + (offset - start) % mmap.PAGESIZE
    copy: _Array = np.ndarray(array.shape, array.dtype, raw.data, shift, array.strides)
    np.copyto(copy, array)
    return copy
