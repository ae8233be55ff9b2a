"""What is right on a probe: the op's reference on the same values in higher precision, computed once and shared.

Floats below eight bytes go in as float64. Eight-byte floats go in as longdouble while the work is small (NumPy has no
library for it: about 10 ns a multiplication), else as float64, where the reference rounds as the kernel does; the
verdict says which. Integers go in as the widest of their kind, so that nothing overflows that the output could hold;
a result is brought to the output's own integer dtype as C would. The magnitude is the reference on absolute values, in
float64.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from assay.array import dtype_of
from assay.errors import reason_of
from assay.gate.judge import magnitude_scale
from assay.gate.probes import Probe, Work, loop_work
from assay.gate.tolerance import is_floating
from assay.signature.call import Call

Array = npt.NDArray[Any]

LONGDOUBLE_WORK = 1 << 23
"""Most operations a reference may take in longdouble: 2**23 took 0.08 s on a 2-core EPYC, and a gate asks ten times."""


@dataclass(frozen=True, eq=False, slots=True)
class Expected:
    """What is right on one probe.

    Attributes:
        values: by output, and by input that the call writes: floats in higher precision, integers in their own dtype.
        precision: what the reference was computed in.
    """

    values: Mapping[str, Array]
    precision: str


@dataclass(frozen=True, eq=False, slots=True)
class Unjudged:
    """A probe that has no reference.

    Attributes:
        reason: why the reference gave none.
    """

    reason: str


class Oracle:
    """The reference of an op, asked once per probe.

    One oracle serves one set of probes; it keeps every answer as long as it lives.

    Args:
        reference: the op's body: called with the inputs by position in signature order, it returns one array, or a
            tuple of as many as there are outputs.
        work: operations of a call; None means the product of its dimensions.
    """

    def __init__(self, reference: Callable[..., object], *, work: Work | None = None) -> None:
        self.body = reference
        self._work = loop_work if work is None else work
        # By identity of the values, which are kept alive here so that no other can have it.
        self._expected: dict[int, tuple[object, Expected | Unjudged]] = {}
        self._scales: dict[int, tuple[object, Mapping[str, Array]]] = {}

    def reference(self, probe: Probe) -> Expected | Unjudged:
        """What is right on a probe, or why nobody knows."""
        slot = id(probe.inputs)
        if slot not in self._expected:
            self._expected[slot] = (probe.inputs, self._compute(probe))
        return self._expected[slot][1]

    def scale(self, probe: Probe, expected: Expected) -> Mapping[str, Array]:
        """The scale of a tolerance relative to magnitude, by output; empty where absolute values have no reference."""
        slot = id(probe.inputs)
        if slot not in self._scales:
            found = _answer(self.body, probe, "float64", absolute=True)
            magnitudes: Mapping[str, Array] = {} if isinstance(found, Unjudged) else found
            kept = {name: magnitude_scale(expected.values[name], array) for name, array in magnitudes.items()}
            self._scales[slot] = (probe.inputs, kept)
        return self._scales[slot][1]

    def _compute(self, probe: Probe) -> Expected | Unjudged:
        precision = self._precision(probe.call)
        found = _answer(self.body, probe, precision)
        if isinstance(found, Unjudged) and precision == "longdouble":
            # The body calls something that knows no longdouble (linear algebra, SciPy).
            precision = "float64"
            found = _answer(self.body, probe, precision)
        return found if isinstance(found, Unjudged) else Expected(found, precision)

    def _precision(self, call: Call) -> str:
        dtypes = {view.dtype for view in call.views.values()}
        if not any(is_floating(dtype) for dtype in dtypes):
            return "int64"
        wide = dtypes & {"float64", "complex128"}
        extended = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps
        return "longdouble" if wide and extended and self._work(call) <= LONGDOUBLE_WORK else "float64"


def _answer(
    body: Callable[..., object], probe: Probe, precision: str, *, absolute: bool = False
) -> Mapping[str, Array] | Unjudged:
    """The body's results by name, in their own precision, or why there are none."""
    call = probe.call
    given = {name: _widened(probe.inputs.get(name), precision, absolute=absolute) for name in call.inputs}
    try:
        with np.errstate(all="ignore"):
            returned = body(*(given[name] for name in call.inputs))
            results = cast("tuple[object, ...]", returned) if isinstance(returned, tuple) else (returned,)
            return _named(call, given, results)
    except Exception as failure:  # noqa: BLE001 (any failure of the user's body is kept as the reason)
        return Unjudged(f"the reference {reason_of(failure)}")


def _named(call: Call, given: Mapping[str, object], results: tuple[object, ...]) -> Mapping[str, Array] | Unjudged:
    if len(results) != len(call.outputs):
        return Unjudged(f"the reference returned {len(results)} results, the signature has {len(call.outputs)}")
    found = dict(zip(call.outputs, results, strict=True))
    found.update({name: given[name] for name in call.record.written if name not in found})
    named: dict[str, Array] = {}
    for name, value in found.items():
        view = call.views[name]
        result: Array = np.asarray(value)
        if result.shape != view.shape:
            return Unjudged(f"the reference returned {result.shape} for {name}, the signature says {view.shape}")
        named[name] = _at_least(result) if is_floating(view.dtype) else result.astype(dtype_of(view.dtype))
    return named


def _at_least(result: Array) -> Array:
    """A result as floats of eight bytes or more; its own where it is wider."""
    floor = np.complex128 if result.dtype.kind == "c" else np.float64
    return result.astype(np.result_type(result.dtype, floor) if result.dtype.kind in "fciub" else floor)


def _widened(value: object, precision: str, *, absolute: bool) -> object:
    """A private copy of an input in the precision of the reference; scalars as they are."""
    if not isinstance(value, np.ndarray):
        return _absolute_scalar(value) if absolute else value
    array = cast("Array", value)
    kind = array.dtype.kind
    if kind == "c":
        wide: npt.DTypeLike = np.clongdouble if precision == "longdouble" else np.complex128
    elif kind in "iu":
        # Small unsigned ones become int64: NumPy has no integer for int64 with uint64.
        wide = np.uint64 if array.dtype == np.uint64 else np.int64
    elif kind == "b":
        wide = np.bool_
    elif kind == "f" or is_floating(array.dtype.name):
        wide = np.longdouble if precision == "longdouble" else np.float64
    else:
        # ml-dtypes' small integers are of NumPy's kind "V".
        wide = np.int64
    copy = np.array(array, dtype=wide, order="C")
    return np.abs(copy) if absolute and copy.dtype.kind in "fc" else copy


def _absolute_scalar(value: object) -> object:
    return abs(value) if isinstance(value, float) else value
