"""What a call writes: whether its memory may be written, and whether results and inputs keep apart."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from assay.array import ArrayView, overlaps, planned_view, view
from assay.errors import CallError
from assay.signature.arguments import Arguments
from assay.signature.bind import Binding
from assay.signature.scope import NotSettledError
from assay.signature.signature import Signature
from assay.signature.terms import Out, TensorType

_MAX_WORK = 10_000
"""How many candidate elements NumPy may try before two views count as meeting; a few microseconds' worth."""


def settle_outputs(
    signature: Signature, subject: str, given: Arguments, binding: Binding, device: str, aliases: Mapping[str, str]
) -> dict[str, ArrayView]:
    """The views of the results: those of the `out`s, else of the aliased inputs, else of what will be allocated.

    Raises:
        CallError: an `out` has another shape, dtype or device than the result, or an alias than its input.
    """
    views: dict[str, ArrayView] = {}
    for out in signature.outs:
        declared = _chosen(subject, out, binding)
        shape, dtype = binding.shape_of(out.name, declared), binding.dtype_of(out.name, declared)
        seen = given.views.get(out.name)
        if seen is None and out.name in aliases:
            seen = given.views[aliases[out.name]]
        if seen is None:
            views[out.name] = plan_view(subject, out.name, shape, dtype, device)
            continue
        if (seen.shape, seen.dtype) != (shape, dtype):
            whose = out.name if out.name in given.views else f"{out.name}, which is {aliases[out.name]} itself,"
            raise CallError(
                subject, f"{whose} is {seen.shape} {seen.dtype}: {declared} is {shape} {dtype} in this call"
            )
        if out.name in aliases and not _same_memory(seen, given.views[aliases[out.name]]):
            raise CallError(subject, f"{out.name} is {aliases[out.name]} itself, and its out is other memory")
        views[out.name] = seen
    return views


def refuse_read_only(signature: Signature, subject: str, objects: Mapping[str, object]) -> None:
    """Refuses memory that this call would write and may not.

    Raises:
        CallError: a result or a written input is read-only.
    """
    written = [arg.name for arg in signature.tensor_args if arg.written]
    for name in (*written, *signature.output_names):
        interface = getattr(objects.get(name), "__array_interface__", None)
        if interface is not None and cast("Mapping[str, tuple[int, bool]]", interface)["data"][1]:
            raise CallError(subject, f"{name} is read-only, and this call writes it")


def refuse_overlap(signature: Signature, subject: str, objects: Mapping[str, object], *, in_place: bool = True) -> None:
    """Refuses an `out` whose memory meets an input's or another `out`'s; addresses alone are looked at.

    An alias that is declared must be the input itself: a result that is shifted against it would overwrite what is
    still to be read. A call that has already been checked needs this again whenever it passes `out`, as it depends on
    addresses and not on shapes.

    Args:
        signature: what is declared.
        subject: the op, for messages.
        objects: the tensors of the call by name.
        in_place: whether declared aliases are allowed.

    Raises:
        CallError: two tensors meet that may not.
    """
    outs = [out for out in signature.outs if objects.get(out.name) is not None]
    if not outs:
        return
    views = {name: seen for name, one in objects.items() if (seen := one if isinstance(one, ArrayView) else view(one))}
    for position, out in enumerate(outs):
        others = [name for name in views if name not in signature.output_names]
        others += [before.name for before in outs[:position]]
        for name in others:
            if in_place and out.alias == name and _same_memory(views[out.name], views[name]):
                continue
            if _meet(views[out.name], views[name], objects[out.name], objects[name]):
                said = (
                    "is not that input itself" if in_place and out.alias == name else "the signature has no such alias"
                )
                raise CallError(subject, f"{out.name} overlaps {name}: {said}", "pass an out of its own memory")


def _chosen(subject: str, out: Out, binding: Binding) -> TensorType:
    try:
        return binding.choose(out.name, out.form)
    except NotSettledError as missing:
        raise CallError(
            subject, f"{out.name}: its type turns on {missing.name}, which nothing in this call settles"
        ) from missing


def plan_view(subject: str, name: str, shape: tuple[int, ...], dtype: str, device: str = "cpu") -> ArrayView:
    """The view of a tensor that would be allocated.

    Raises:
        CallError: the package that has its dtype is not installed.
    """
    try:
        return planned_view(shape, dtype, device)
    except ValueError as missing:
        raise CallError(subject, f"{name}: {missing}") from missing


def _same_memory(one: ArrayView, other: ArrayView) -> bool:
    same_walk = one.strides == other.strides or (one.contiguous and other.contiguous)
    return one.pointer == other.pointer and one.nbytes == other.nbytes and same_walk


def _meet(one: ArrayView, other: ArrayView, first: object, second: object) -> bool:
    if 0 in (one.pointer, other.pointer) or not overlaps(one, other):
        return False
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        # Interleaved views of one buffer have meeting address ranges and no element in common.
        try:
            return np.shares_memory(cast("Any", first), cast("Any", second), max_work=cast("Any", _MAX_WORK))
        except np.exceptions.TooHardError:
            return True
    return True
