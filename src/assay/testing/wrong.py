"""Kernels that are wrong in one known way each, for testing what should notice.

Each factory takes a right function, which returns what is right (one array, or a tuple) for the inputs by position,
and returns a Python kernel: called with the inputs by position and the outputs by name, it writes into the outputs.
"""

import itertools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

Array = npt.NDArray[Any]
Right = Callable[..., object]
WrongKernel = Callable[..., object]


def honest(right: Right) -> WrongKernel:
    """A kernel that is not wrong: it writes what the right function returns."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, inputs, outputs)

    return kernel


def imprecise(right: Right, error: float = 1e-3) -> WrongKernel:
    """A kernel whose results are all too large by a relative error."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, inputs, outputs)
        for out in outputs.values():
            out[...] = out * (1 + error)

    return kernel


def half_written(right: Right) -> WrongKernel:
    """A kernel that writes the first half of each output and leaves the rest as it was."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        for out, value in _results(right, inputs, outputs):
            flat = np.asarray(value).reshape(-1)
            for place in range(out.size // 2):
                out[np.unravel_index(place, out.shape)] = flat[place]

    return kernel


def adding(right: Right) -> WrongKernel:
    """A kernel that adds to what its outputs held, right only where they held zeros."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        for out, value in _results(right, inputs, outputs):
            out[...] = out + value

    return kernel


def wrong_off_multiples(right: Right, multiple: int = 16) -> WrongKernel:
    """A kernel that leaves zeros in what lies past the last whole tile of each output's last axis."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, inputs, outputs)
        for out in outputs.values():
            out[..., out.shape[-1] // multiple * multiple :] = 0

    return kernel


def overrunning(right: Right) -> WrongKernel:
    """A kernel that is right and writes one element past the end of each output, which must be contiguous."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, inputs, outputs)
        for out in outputs.values():
            as_strided(out, (out.size + 1,), (out.itemsize,))[out.size] = 0

    return kernel


def reading_past(right: Right) -> WrongKernel:
    """A kernel that adds to its first result a zero times the element past the first input's end."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, inputs, outputs)
        first = cast("Array", inputs[0])
        past = as_strided(first, (first.size + 1,), (first.itemsize,))[first.size]
        next(iter(outputs.values())).flat[0] += 0 * past

    return kernel


def changing_input(right: Right) -> WrongKernel:
    """A kernel that is right and then negates the first element of its first input."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, inputs, outputs)
        first = cast("Array", inputs[0])
        first[(0,) * first.ndim] *= -1

    return kernel


def nan_swallowing(right: Right) -> WrongKernel:
    """A kernel that takes every NaN it is given for a zero, as a maximum that ignores NaN does."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, tuple(_without_nan(value) for value in inputs), outputs)

    return kernel


def wrong_when_large(right: Right, limit: float = 1e3) -> WrongKernel:
    """A kernel that clips its inputs at a limit, so that it is right for ordinary values only."""

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, tuple(_clipped(value, limit) for value in inputs), outputs)

    return kernel


def unsteady(right: Right) -> WrongKernel:
    """A kernel whose first element moves by one last place in every other call."""
    calls = itertools.count()

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, inputs, outputs)
        if next(calls) % 2:
            for out in outputs.values():
                origin = (0,) * out.ndim
                out[origin] = np.nextafter(out[origin], out.dtype.type(np.inf))

    return kernel


def right_once(right: Right) -> WrongKernel:
    """A kernel that is right in every other call, and one too large in the others."""
    calls = itertools.count()

    def kernel(*inputs: object, **outputs: Array) -> None:
        _write(right, inputs, outputs)
        if next(calls) % 2:
            for out in outputs.values():
                out[...] = out + 1

    return kernel


def declining(right: Right, when: Callable[..., bool] | None = None) -> WrongKernel:
    """A kernel that hands calls back.

    Args:
        right: computes the others.
        when: which, by the inputs; None means all.
    """

    def kernel(*inputs: object, **outputs: Array) -> object:
        if when is None or when(*inputs):
            return NotImplemented
        _write(right, inputs, outputs)
        return None

    return kernel


def raising(failure: Exception) -> WrongKernel:
    """A kernel that raises."""

    def kernel(*_inputs: object, **_outputs: Array) -> None:
        raise failure

    return kernel


def returning(right: Right) -> WrongKernel:
    """A kernel that returns its result and writes nothing."""

    def kernel(*inputs: object, **_outputs: Array) -> object:
        return right(*inputs)

    return kernel


class UnprintableError(Exception):
    """An exception whose message raises."""

    def __str__(self) -> str:
        raise RuntimeError("no message")


def _write(right: Right, inputs: tuple[object, ...], outputs: dict[str, Array]) -> None:
    for out, value in _results(right, inputs, outputs):
        out[...] = value


def _results(right: Right, inputs: tuple[object, ...], outputs: dict[str, Array]) -> list[tuple[Array, npt.ArrayLike]]:
    returned = right(*inputs)
    values = cast("tuple[npt.ArrayLike, ...]", returned if isinstance(returned, tuple) else (returned,))
    return list(zip(outputs.values(), values, strict=True))


def _without_nan(value: object) -> object:
    array = cast("Array", value)
    if not isinstance(value, np.ndarray) or array.dtype.kind != "f":
        return cast("object", value)
    return np.where(np.isnan(array), array.dtype.type(0), array)


def _clipped(value: object, limit: float) -> object:
    array = cast("Array", value)
    if not isinstance(value, np.ndarray) or array.dtype.kind != "f":
        return cast("object", value)
    # NaN and infinity pass: only large finite values come out wrong.
    return np.where(np.isfinite(array), np.clip(array, -limit, limit), array)
