"""Arrays for a call that is planned: laid out as its views say, filled by the user's maker or at random.

A kernel is timed on the layout it will serve: where a view has gaps, runs backwards or is transposed, so is the array
made here.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np

from assay.array import ArrayView, dtype_of, view
from assay.errors import CallError, reason_of
from assay.signature.arithmetic import value_text
from assay.signature.call import Call
from assay.signature.expression_tree import close_match
from assay.signature.signature import Signature
from assay.signature.terms import ScalarArg, TensorArg
from assay.signature.values import scalar_value

Maker: TypeAlias = Callable[..., object]
"""A user's function of a generator and the indices by name that returns the inputs, as a tuple or a dict."""

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_SMALL = {"int4": (-8, 8), "uint4": (0, 16), "bool": (0, 2)}
_SIGNED, _UNSIGNED = (-8, 9), (0, 17)


def array_like(seen: ArrayView) -> Array:
    """A new array of a view's shape, dtype and strides; contents undefined."""
    dtype = dtype_of(seen.dtype)
    if seen.contiguous:
        return np.empty(seen.shape, dtype)
    low, high = seen.reach
    memory = np.empty(high - low, dtype)
    strides = tuple(step * dtype.itemsize for step in seen.strides)
    return np.lib.stride_tricks.as_strided(memory[-low:], seen.shape, strides)


def allocate_outputs(call: Call) -> dict[str, Array]:
    """Memory for the results of a call, by name, contents undefined; results that are an input itself are left out."""
    return {name: array_like(call.views[name]) for name in call.outputs if name not in call.aliases}


def make_inputs(
    signature: Signature,
    call: Call,
    rng: np.random.Generator,
    maker: Maker | None = None,
    *,
    subject: str = "inputs",
) -> dict[str, object]:
    """The inputs of a call by name, in signature order: arrays, scalars, and None for an optional one it lacks.

    Args:
        signature: what is declared.
        call: what the inputs are for; its views give shapes, dtypes and layouts.
        rng: where random values come from; floats are standard normal, integers small.
        maker: the user's own function; None: values are random.
        subject: the op, for messages.

    Raises:
        CallError: there is a metadata input and no maker, or what the maker gives is not what the call declares.
    """
    if maker is None:
        for arg in signature.tensor_args:
            if arg.metadata and arg.name in call.views:
                raise CallError(
                    subject, f"{arg.name}: its values matter, so random ones would mislead", "give a maker: @op.inputs"
                )
        return {name: _random(call, name, rng) for name in call.inputs}
    made = _made(signature, call, rng, maker, subject)
    return {
        arg.name: _same_scalar(arg, call, made, subject)
        if isinstance(arg, ScalarArg)
        else _same_tensor(arg, call, made.get(arg.name), subject)
        for arg in signature.args
    }


def _random(call: Call, name: str, rng: np.random.Generator) -> object:
    if name not in call.views:
        return call.scalars.get(name)
    array = array_like(call.views[name])
    numbers: Any = rng
    if array.dtype.kind in "biu" or call.views[name].dtype in _SMALL:
        low, high = _SMALL.get(call.views[name].dtype) or (_UNSIGNED if array.dtype.kind == "u" else _SIGNED)
        values = numbers.integers(low, high, array.shape)
    else:
        values = numbers.standard_normal(array.shape)
        if array.dtype.kind == "c":
            values = values + 1j * numbers.standard_normal(array.shape)
    array[...] = values.astype(array.dtype)
    return array


def _made(
    signature: Signature, call: Call, rng: np.random.Generator, maker: Maker, subject: str
) -> Mapping[str, object]:
    """What the maker returns, by name."""
    try:
        returned = maker(rng, **_maker_indices(signature, call, subject))
    except CallError:
        raise
    except Exception as raised:
        raise CallError(subject, f"the input maker {reason_of(raised)}") from raised
    if isinstance(returned, Mapping):
        made = cast("Mapping[str, object]", returned)
        for name in made:
            if name not in call.inputs:
                remedy = close_match(name, call.inputs) or f"inputs are {', '.join(call.inputs)}"
                raise CallError(subject, f"the input maker returned {name!r}, which is no input", remedy)
        return made
    values = cast("tuple[object, ...]", returned) if isinstance(returned, tuple) else (returned,)
    if len(values) != len(call.inputs):
        expected = f"expected {len(call.inputs)} ({', '.join(call.inputs)})"
        raise CallError(subject, f"the input maker returned {len(values)} values, {expected}")
    return dict(zip(call.inputs, values, strict=True))


def _maker_indices(signature: Signature, call: Call, subject: str) -> dict[str, object]:
    given: dict[str, object] = {}
    for index in signature.indices:
        if index.name in call.record.indices:
            value = call.record.indices[index.name]
            given[index.name] = dtype_of(str(value)) if index.kind == "DType" else value
        elif index.name in call.sequences:
            given[index.name] = call.sequences[index.name]
        elif index.kind == "Seq[Int]":
            raise CallError(subject, f"{index.name} is known only from a tune shape, and the input maker needs it")
    return given


def _same_scalar(arg: ScalarArg, call: Call, made: Mapping[str, object], subject: str) -> object:
    """A scalar of the call; a maker may repeat it, and may not change what the call is."""
    expected = call.scalars.get(arg.name)
    if made.get(arg.name) is None:
        return expected
    try:
        value = scalar_value(arg.type, made[arg.name])
    except ValueError as wrong:
        raise CallError(subject, f"the input maker's {arg.name}: {wrong}") from wrong
    if value != expected:
        said = f"the input maker's {arg.name} is {value_text(value)}, the call's is {value_text(expected)}"
        raise CallError(subject, said, f"give {arg.name} in the shape")
    return expected


def _same_tensor(arg: TensorArg, call: Call, made: object, subject: str) -> object:
    """A tensor of the maker, laid out as the call has it."""
    expected = call.views.get(arg.name)
    if expected is None:
        return None
    seen = view(made)
    if seen is None:
        raise CallError(subject, f"the input maker's {arg.name} is of type {type(made).__name__}, expected an array")
    if (seen.shape, seen.dtype) != (expected.shape, expected.dtype):
        said = f"the input maker's {arg.name} is {seen.shape} {seen.dtype}"
        raise CallError(subject, f"{said}, expected {expected.shape} {expected.dtype}")
    if seen.strides == expected.strides or (seen.contiguous and expected.contiguous):
        return made
    array = array_like(expected)
    array[...] = np.asarray(made)
    return array
