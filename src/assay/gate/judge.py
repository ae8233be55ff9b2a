"""Is one output right? Values in, the worst element out.

Non-finite values are part of the answer: where the reference is NaN the output must be, an infinity must match in
sign, and neither may appear where the reference has none. A reference beyond what the output's dtype can hold may come
back as that infinity. NaN never hides in a maximum: a mismatch of kinds is worse than any distance.
"""

from typing import Any, cast

import msgspec
import numpy as np
import numpy.typing as npt

from assay.array import dtype_name
from assay.gate.tolerance import Tolerance, float_limits, is_floating

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Mismatch(msgspec.Struct, frozen=True):
    """The worst element of an output that is wrong.

    Attributes:
        output: name of the output.
        index: where the element is.
        seen: the element, as text.
        reference: what it should be, as text.
        allowed: the tolerance, as text, with the scale it had there.
        wrong: how many elements are wrong.
        size: how many there are.
    """

    output: str
    index: tuple[int, ...]
    seen: str
    reference: str
    allowed: str
    wrong: int
    size: int

    def __str__(self) -> str:
        count = f" ({self.wrong} of {self.size} elements wrong)" if self.size > 1 else ""
        return f"{element(self.output, self.index)} is {self.seen}, reference {self.reference}, {self.allowed}{count}"


def judge(output: str, seen: Array, reference: Array, scale: Array | None, tolerance: Tolerance) -> Mismatch | None:
    """The worst element outside the tolerance; None when every one is inside.

    Args:
        output: name of the output, for the message.
        seen: what the kernel wrote, any dtype.
        reference: what is right, of the same shape, in higher precision or exact integers.
        scale: what `rtol` is relative to (`magnitude_scale`), of the same shape; None means the reference's size.
        tolerance: how far is still right.
    """
    floating = is_floating(dtype_name(seen.dtype))
    sizes = scale if scale is not None else np.abs(reference)
    suspects = _outside(seen, reference, sizes, tolerance) if floating else np.flatnonzero(seen != reference)
    if suspects.size == 0:
        return None
    # Most outputs have no suspects, so what is slow is asked of those alone.
    got, right, size = (array.reshape(-1)[suspects] for array in (seen, reference, sizes))
    excess = _excess(got, right, size, tolerance) if floating else _excess_of_integers(got, right, tolerance)
    worst = int(np.argmax(excess))
    if not excess[worst] > 1:
        return None
    return Mismatch(
        output=output,
        index=index_at(int(suspects[worst]), seen.shape),
        seen=number(got[worst]),
        reference=number(right[worst]),
        allowed=_allowed(tolerance, None if scale is None else float(size[worst])),
        wrong=int(np.count_nonzero(excess > 1)),
        size=seen.size,
    )


def magnitude_scale(reference: Array, magnitude: Array) -> Array:
    """The larger of the reference's size and that of the reference on absolute values.

    A magnitude that is not finite would allow everything, so it counts for nothing.
    """
    usable = np.where(np.isfinite(magnitude), np.abs(magnitude), 0.0)
    size = np.abs(reference)
    return np.maximum(size, usable.astype(size.dtype))


def index_at(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of the element at a place in C order."""
    return tuple(int(axis) for axis in np.unravel_index(place, shape))


def element(output: str, index: tuple[int, ...]) -> str:
    """An element as it is written in messages: ``out[3, 17]``; of an array without axes, its name."""
    return f"{output}[{', '.join(map(str, index))}]" if index else output


def number(value: object) -> str:
    """A value as it is written in messages: as many digits as tell neighbours of its dtype apart."""
    scalar = cast("Any", value)
    kind, size = scalar.dtype.kind, scalar.dtype.itemsize
    if kind == "c":
        return format(complex(scalar), ".9g" if size <= np.dtype(np.complex64).itemsize else ".17g")
    if kind in "biu":
        return str(scalar.item())
    return format(float(scalar), ".17g" if size >= np.dtype(np.float64).itemsize else ".9g")


def _outside(seen: Array, reference: Array, scale: Array, tolerance: Tolerance) -> npt.NDArray[np.intp]:
    """Places, in C order, that are not plainly inside; where one side is not finite always."""
    with np.errstate(all="ignore"):
        distance = np.abs(seen.astype(reference.dtype) - reference)
        # An infinite reference would allow everything.
        allowed = np.minimum(scale * tolerance.rtol + tolerance.atol, np.finfo(scale.dtype).max)
        return np.flatnonzero(~(distance <= allowed))


def _excess(seen: Array, reference: Array, scale: Array, tolerance: Tolerance) -> Array:
    """Distance over what is allowed; inf where one is not finite and the other does not match it."""
    limits = float_limits(dtype_name(seen.dtype))
    with np.errstate(all="ignore"):
        got = seen.astype(reference.dtype)
        distance = np.abs(got - reference)
        allowed = tolerance.atol + tolerance.rtol * scale
        excess = np.where(distance == 0, 0.0, distance / allowed)
        agrees = _same_kind(got, reference)
        if not np.iscomplexobj(reference):
            # Past the edge of the dtype, rounding (or the sum's own order) may or may not reach infinity.
            overflow = np.isfinite(reference) & (np.abs(reference) + allowed > limits.largest)
            agrees |= overflow & np.isinf(got) & (np.signbit(got) == np.signbit(reference))
        finite = np.isfinite(got) & np.isfinite(reference)
        return np.where(finite, np.where(np.isnan(excess), 0.0, excess), np.where(agrees, 0.0, np.inf))


def _same_kind(got: Array, reference: Array) -> Mask:
    if np.iscomplexobj(reference):
        # Which part of a complex product is NaN and which infinite depends on the order of its terms.
        return ~np.isfinite(got) & ~np.isfinite(reference)
    both_nan = np.isnan(got) & np.isnan(reference)
    return both_nan | (np.isinf(reference) & (got == reference))


def _excess_of_integers(seen: Array, reference: Array, tolerance: Tolerance) -> Array:
    if tolerance.exact or seen.dtype.kind == "b":
        return np.where(seen == reference, 0.0, np.inf)
    distance = np.abs(seen.astype(np.longdouble) - reference.astype(np.longdouble))
    allowed = tolerance.atol + tolerance.rtol * np.abs(reference.astype(np.longdouble))
    with np.errstate(all="ignore"):
        return np.where(distance <= allowed, 0.0, distance / allowed)


def _allowed(tolerance: Tolerance, magnitude: float | None) -> str:
    if tolerance.exact or tolerance.scale == "reference" or magnitude is None:
        return str(tolerance)
    return f"rtol {tolerance.rtol:.2g} of magnitude {magnitude:.3g}, atol {tolerance.atol:.2g}"
