"""What a checked call is: the record a user reads, and the layouts the kernels are chosen by.

`SignatureCall` is the public record (`op.last_call`). `Call` is the record plus what the record leaves out: each
tensor's layout, the scalars and the parameters, so that kernels, keys, gates and figures can be settled from
values alone, before anything is loaded or run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from assay.array import ArrayView
from assay.signature.facts import Facts

Scalar = int | float | bool | str
IndexValue = int | float | bool | str | tuple[int, ...]

_K = TypeVar("_K")
_V = TypeVar("_V")

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


def read_only(mapping: Mapping[_K, _V]) -> Mapping[_K, _V]:
    """A view of a private copy that refuses assignment; every empty one is the same."""
    return MappingProxyType(dict(mapping)) if mapping else _NOTHING


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class SignatureCall:
    """The record of one call of an op.

    Attributes:
        indices: value of every dim, dtype, parameter in an index position and `let` that was reached.
        branch_key: the point of the discriminants that something reads, as (name, value) pairs.
        device: where the tensors are (``cpu``).
        tensors: (shape, dtype name) of every tensor present, outputs included.
        traffic: (reads, writes) of every tensor.
        written: the inputs this call wrote.
        has_out: whether the caller passed `out`.
        metadata: the tensors whose values matter to the kernels, by reference.
        stages: of a composite, the records of the sub-ops' calls by stage.
    """

    indices: Mapping[str, IndexValue]
    branch_key: tuple[tuple[str, Scalar], ...]
    device: str
    tensors: Mapping[str, tuple[tuple[int, ...], str]]
    traffic: Mapping[str, tuple[int, int]]
    written: tuple[str, ...]
    has_out: bool
    metadata: Mapping[str, object]
    stages: Mapping[str, tuple["SignatureCall", ...]]

    def metadata_values(self, name: str) -> object:
        """A copy of a metadata tensor's contents, read now.

        Raises:
            KeyError: the call has no metadata tensor of this name.
        """
        import numpy as np

        if name not in self.metadata:
            known = ", ".join(self.metadata) or "none"
            raise KeyError(f"no metadata tensor {name!r} in this call; it has {known}")
        return np.array(self.metadata[name])

    def with_metadata(self, tensors: Sequence[object]) -> "SignatureCall":
        """This record for another call of the same layout, which brought these metadata tensors, in the same order."""
        return replace(self, metadata=read_only(dict(zip(self.metadata, tensors, strict=True))))


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """A checked call: the record, and what kernels are chosen by.

    Attributes:
        record: what the user reads.
        inputs: names of the arguments in signature order, scalars and absent optional ones included.
        outputs: names of the results in signature order.
        views: the view of every tensor present; an output that is not given has the view it will be allocated with.
        scalars: the per-call scalars, defaults filled in; an optional one that is absent is missing.
        params: the construction parameters that are scalars, defaults filled in.
        aliases: each result that is an input's own memory in this call, with that input; nothing is allocated for it.
        sequences: the lengths a tune shape gave for `Seq[Int]` indices; empty for a call of a user.
    """

    record: SignatureCall
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    views: Mapping[str, ArrayView]
    scalars: Mapping[str, Scalar]
    params: Mapping[str, Scalar]
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    sequences: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    def facts(self, device: Mapping[str, Scalar]) -> Facts:
        """What an expression may read of this call.

        Args:
            device: the device's facts by name (``cores``).
        """
        values: dict[str, object] = {**self.params, **self.scalars, **self.record.indices}
        return Facts(values=values, tensors=self.views, device=device)
