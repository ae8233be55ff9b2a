"""A view of any array: shape, strides, dtype, device and pointer, without copying or owning it.

Everything above asks this file what an array is. NumPy is known directly; anything else is asked through the array
interface or DLPack. A dtype is a name (``float32``); one in foreign byte order keeps its mark (``>f4``), so that it is
never taken for the native one.
"""

from typing import Any, cast

import msgspec
import numpy as np

MAX_ALIGN = 256
ALLOCATED_ALIGN = 16
"""What an output allocated here is sure to have: malloc's promise on 64-bit systems."""

_EXTRA_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4")


class ArrayView(msgspec.Struct, frozen=True):
    """What an array looks like from outside.

    Attributes:
        shape: sizes, outermost first.
        strides: steps in elements, one per axis; negative where the axis runs backwards.
        dtype: name of the element type (``float32``).
        itemsize: bytes of one element.
        device: where the data lies (``cpu``).
        pointer: address of the first element; 0 when there is none yet.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    device: str
    pointer: int

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, gaps left out."""
        return self.size * self.itemsize

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie one after another, last axis fastest; an empty or single-element array does."""
        expected = 1
        if self.size <= 1:
            return True
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True

    @property
    def align(self) -> int:
        """Largest power of two in bytes, up to 256, that divides the pointer; of no pointer, malloc's promise."""
        if self.pointer == 0:
            return ALLOCATED_ALIGN
        return min(self.pointer & -self.pointer, MAX_ALIGN)

    @property
    def reach(self) -> tuple[int, int]:
        """Elements touched, counted from the pointer: the first and one past the last; equal when it is empty."""
        if self.size == 0:
            return 0, 0
        ends = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=True)]
        return sum(end for end in ends if end < 0), sum(end for end in ends if end > 0) + 1

    @property
    def span(self) -> tuple[int, int]:
        """Addresses touched: the first byte and one past the last; equal when the array is empty."""
        low, high = self.reach
        return self.pointer + low * self.itemsize, self.pointer + high * self.itemsize


def view(array: object) -> ArrayView | None:
    """The view of an array; None when the object is not one."""
    found = _as_numpy(array)
    if found is None:
        return None
    itemsize = found.dtype.itemsize
    return ArrayView(
        shape=found.shape,
        strides=tuple(step // itemsize if itemsize else 0 for step in found.strides),
        dtype=dtype_name(found.dtype),
        itemsize=itemsize,
        device="cpu",
        pointer=int(found.__array_interface__["data"][0]),
    )


def planned_view(shape: tuple[int, ...], dtype: str, device: str = "cpu") -> ArrayView:
    """The view an array would have if it were allocated here: contiguous, without a pointer."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return ArrayView(shape, tuple(reversed(strides)), dtype, dtype_of(dtype).itemsize, device, 0)


def overlaps(one: ArrayView, other: ArrayView) -> bool:
    """Whether the address ranges of two arrays meet; interleaved views of one buffer count as meeting."""
    (low, high), (other_low, other_high) = one.span, other.span
    return low < other_high and other_low < high


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a name, ml-dtypes' ones included.

    Raises:
        ValueError: no dtype has this name, or the package that has it is not installed.
    """
    if name in _EXTRA_DTYPES:
        try:
            import ml_dtypes
        except ImportError as missing:
            raise ValueError(f"dtype {name!r} needs the package ml-dtypes") from missing
        return np.dtype(getattr(ml_dtypes, name))
    try:
        return np.dtype(name)
    except TypeError as unknown:
        raise ValueError(f"no dtype is called {name!r}") from unknown


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name of a dtype; one in foreign byte order keeps its mark (``>f4``)."""
    return dtype.name if dtype.isnative else dtype.str


def _as_numpy(array: object) -> np.ndarray[Any, np.dtype[Any]] | None:
    if isinstance(array, np.ndarray):
        return cast("np.ndarray[Any, np.dtype[Any]]", array)
    if hasattr(array, "__array_interface__"):
        return np.asarray(array)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        try:
            return np.from_dlpack(cast("Any", array))
        except (BufferError, RuntimeError, TypeError):
            return None
    return None
