"""How far from right is still right: an op's gate, and the tolerance it gives each output.

A tolerance admits an element when ``|seen - reference| <= atol + rtol * scale``. The scale is the reference itself,
or the magnitude behind it: the larger of ``|reference|`` and the reference on absolute values. A sum's rounding grows
with the terms it adds, not with what is left after they cancel, so a product judged by its own size refuses every
vendor's library (float32, K = 256: right to 2.8e-7 of ``|a| @ |b|``, wrong by any factor where the sum is near zero).

A gate may leave things open: what it does not say comes from the gate it refines, and at last from the defaults
(16 eps of the output's dtype, 4 eps below four bytes, the smallest normal number as ``atol``, magnitude).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast

import msgspec
import numpy as np

from assay.array import dtype_of
from assay.errors import DeclarationError
from assay.signature import Signature

Scale = Literal["magnitude", "reference"]
Amount = float | Mapping[str, float]

SCALES: tuple[Scale, ...] = ("magnitude", "reference")
CAP = 4.0
"""How many times the op's tolerance a candidate's own may be, where the op gives no cap."""

_EPS_FACTOR = 16
_SMALL_EPS_FACTOR = 4
_SMALL_ITEMSIZE = 4
_REAL_OF = {"complex64": "float32", "complex128": "float64"}
_EXTRA_LIMITS = {
    "bfloat16": (2.0**-7, 2.0**-126, (2.0 - 2.0**-7) * 2.0**127),
    "float8_e4m3fn": (2.0**-3, 2.0**-6, 448.0),
    "float8_e5m2": (2.0**-2, 2.0**-14, 57344.0),
}


class Limits(msgspec.Struct, frozen=True):
    """What a floating dtype can hold.

    Attributes:
        eps: step from one to the next number.
        tiny: smallest normal number.
        largest: largest finite number.
    """

    eps: float
    tiny: float
    largest: float


class Tolerance(msgspec.Struct, frozen=True):
    """How far one output may lie from its reference.

    Attributes:
        rtol: relative part, times `scale`; 0 with `atol` 0 means equal.
        atol: absolute part.
        scale: what `rtol` is relative to.
    """

    rtol: float
    atol: float
    scale: Scale

    @property
    def exact(self) -> bool:
        """Whether only an equal value passes."""
        return self.rtol == 0 and self.atol == 0

    def __str__(self) -> str:
        if self.exact:
            return "exact"
        of_what = " of magnitude" if self.scale == "magnitude" else ""
        return f"rtol {self.rtol:.2g}{of_what}, atol {self.atol:.2g}"


@dataclass(frozen=True)
class Gate:
    """The tolerance that admits an op's kernels.

    Attributes:
        rtol: relative tolerance: a number for every floating output, or numbers by output or dtype name; None leaves
            it open. An integer or boolean output is exact unless it or its dtype is named.
        atol: absolute tolerance, likewise.
        scale: what `rtol` is relative to; None leaves it open.
        cap: the widest `rtol` a candidate's own gate may have, likewise; None means 4 times the op's.
        refines: the gate that says what this one leaves open; None means the defaults do.

    Raises:
        DeclarationError: a tolerance is negative or not finite, or the scale is unknown.
    """

    rtol: Amount | None = None
    atol: Amount | None = None
    scale: Scale | None = None
    cap: Amount | None = None
    refines: "Gate | None" = None

    def __post_init__(self) -> None:
        for field in ("rtol", "atol", "cap"):
            given = cast("Amount | None", getattr(self, field))
            if isinstance(given, Mapping):
                given = dict(given)
                object.__setattr__(self, field, given)
            for value in _numbers(given):
                _check_amount(field, value)
        if self.scale is not None and self.scale not in SCALES:
            raise DeclarationError("gate", f"scale={self.scale!r}: expected one of {', '.join(SCALES)}")

    def tolerance(self, output: str, dtype: str) -> Tolerance:
        """The tolerance of one output.

        Args:
            output: name of the output (or of a mutated input).
            dtype: name of its dtype.

        Example:
            >>> str(Gate(rtol={"float32": 2e-6}).tolerance("c", "float32"))
            'rtol 2e-06 of magnitude, atol 1.2e-38'
        """
        floating = is_floating(dtype)
        rtol = _first(self, "rtol", output, dtype, numbers=floating)
        atol = _first(self, "atol", output, dtype, numbers=floating)
        limits = float_limits(dtype) if floating else Limits(0.0, 0.0, 0.0)
        factor = _SMALL_EPS_FACTOR if is_small(dtype) else _EPS_FACTOR
        return Tolerance(
            rtol=factor * limits.eps if rtol is None else rtol,
            atol=limits.tiny if atol is None else atol,
            scale=_scale(self),
        )

    def widest(self, output: str, dtype: str) -> float:
        """The widest `rtol` a candidate's own gate may have for one output: the cap, else 4 times this gate's."""
        cap = _first(self, "cap", output, dtype, numbers=True)
        return CAP * self.tolerance(output, dtype).rtol if cap is None else cap

    def names(self) -> Iterator[str]:
        """The outputs and dtypes this gate and those it refines give numbers for."""
        for amount in (self.rtol, self.atol, self.cap):
            if isinstance(amount, Mapping):
                yield from amount
        if self.refines is not None:
            yield from self.refines.names()


def refuse_wider(op_gate: Gate, candidate_gate: Gate, subject: str, signature: Signature) -> None:
    """Check that a candidate's own gate is no wider than its op allows, for every result the op can have.

    Args:
        op_gate: the op's gate.
        candidate_gate: the candidate's; what it leaves open is the op's.
        subject: the candidate, as the user names it (``gemm.tiled``).
        signature: the op's.

    Raises:
        DeclarationError: it is wider for some output and dtype, which the message names with both numbers; or it
            names something that is no output, mutated input or dtype.
    """
    refuse_unknown(candidate_gate, subject, signature)
    refined = replace(candidate_gate, refines=op_gate)
    for output, dtype in results_of(signature):
        _refuse_wider_at(op_gate, refined, subject, (output, dtype))


def candidate_gate(op_gate: Gate, own: Gate | None) -> Gate:
    """The gate a candidate is judged by: its own over its op's; its op's where it has none."""
    return op_gate if own is None else replace(own, refines=op_gate)


def refuse_unknown(gate: Gate, subject: str, signature: Signature) -> None:
    """Check that a gate names only what an op has, so that a misspelt name does not pass for a tolerance.

    Raises:
        DeclarationError: a name is no output, no input the op writes, and no dtype.
    """
    known = dict.fromkeys(output for output, _ in results_of(signature))
    for name in gate.names():
        if name not in known and not is_dtype(name):
            raise DeclarationError(subject, f"gate names {name!r}, expected a dtype or one of {', '.join(known)}")


def results_of(signature: Signature) -> tuple[tuple[str, str], ...]:
    """What an op writes, as (output or written input, dtype) pairs: every dtype each can have."""
    rows = {index.name: index.dtypes for index in signature.indices}
    written = [arg for arg in signature.tensor_args if arg.mutated or arg.write_only]
    return tuple(
        dict.fromkeys(
            (one.name, dtype)
            for one in (*signature.outs, *written)
            for case in one.form
            for dtype in rows.get(case.tensor.dtype, (case.tensor.dtype,))
        )
    )


def is_floating(dtype: str) -> bool:
    """Whether a dtype rounds: a float or a complex one."""
    return dtype in _EXTRA_LIMITS or (is_dtype(dtype) and dtype_of(dtype).kind in "fc")


def is_dtype(name: str) -> bool:
    """Whether a name is a dtype's."""
    if name in _EXTRA_LIMITS:
        return True
    try:
        return np.dtype(name).name == name
    except TypeError:
        return False


def is_small(dtype: str) -> bool:
    """Whether an element of this dtype has fewer than four bytes, so that its own rounding dominates."""
    return dtype in _EXTRA_LIMITS or (is_dtype(dtype) and dtype_of(dtype).itemsize < _SMALL_ITEMSIZE)


def float_limits(dtype: str) -> Limits:
    """What a floating dtype can hold; of a complex one, each of its parts."""
    if dtype in _EXTRA_LIMITS:
        return Limits(*_EXTRA_LIMITS[dtype])
    found = np.finfo(_REAL_OF.get(dtype, dtype))
    return Limits(float(found.eps), float(found.tiny), float(found.max))


def _first(gate: Gate, field: str, output: str, dtype: str, *, numbers: bool) -> float | None:
    """What a gate, or the nearest one it refines, gives for an output; None: nothing. Numbers alone may not count."""
    given = cast("Amount | None", getattr(gate, field))
    if isinstance(given, Mapping):
        found = given.get(output, given.get(dtype))
    elif numbers:
        found = given
    else:
        found = None
    if found is None and gate.refines is not None:
        return _first(gate.refines, field, output, dtype, numbers=numbers)
    return found


def _scale(gate: Gate) -> Scale:
    if gate.scale is not None:
        return gate.scale
    return "magnitude" if gate.refines is None else _scale(gate.refines)


def _refuse_wider_at(op_gate: Gate, refined: Gate, subject: str, where: tuple[str, str]) -> None:
    output, dtype = where
    own, allowed = refined.tolerance(output, dtype), op_gate.tolerance(output, dtype)
    widest = op_gate.widest(output, dtype)
    if own.rtol > max(widest, allowed.rtol):
        said = (
            f"gate rtol {own.rtol:.3g} for {output} ({dtype}) is wider than "
            f"the op's cap {widest:.3g}, its rtol {allowed.rtol:.3g}"
        )
        raise DeclarationError(subject, said, "tighten it, or give the op's gate a cap")
    if own.atol > CAP * allowed.atol:
        said = (
            f"gate atol {own.atol:.3g} for {output} ({dtype}) is wider than {CAP:g} times the op's {allowed.atol:.3g}"
        )
        raise DeclarationError(subject, said, "tighten it, or give the op's gate an atol")
    if own.scale == "magnitude" and allowed.scale == "reference":
        raise DeclarationError(subject, "gate scale 'magnitude' is wider than the op's 'reference'", "leave it out")


def _numbers(given: Amount | None) -> tuple[float, ...]:
    if given is None:
        return ()
    return tuple(given.values()) if isinstance(given, Mapping) else (given,)


def _check_amount(field: str, value: object) -> None:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    if not usable or not 0 <= float(cast("float", value)) < float("inf"):
        raise DeclarationError("gate", f"{field}={value!r}: expected a finite number, 0 or above")
