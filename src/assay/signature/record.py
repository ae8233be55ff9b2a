"""Assembling the record of a checked call: indices, branch, traffic, what is written."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay.array import ArrayView
from assay.signature.arguments import Arguments
from assay.signature.call import IndexValue, Scalar, SignatureCall, read_only
from assay.signature.scope import Scope
from assay.signature.signature import Signature


@dataclass(frozen=True, slots=True)
class Matched:
    """A call that passed its check.

    Attributes:
        signature: what is declared.
        given: the arguments.
        scope: the names settled.
        decided: the predicates of cases that were asked, by text.
        views: every tensor present, results included.
        aliases: the results that are an input's own memory.
        device: where the tensors are.
        in_place: whether a result that aliases an input may be that input.
    """

    signature: Signature
    given: Arguments
    scope: Scope
    decided: Mapping[str, bool]
    views: Mapping[str, ArrayView]
    aliases: Mapping[str, str]
    device: str
    in_place: bool


def record_call(call: Matched) -> SignatureCall:
    """The record of a call that passed its check."""
    signature, objects = call.signature, call.given.objects
    metadata = {arg.name: objects[arg.name] for arg in signature.tensor_args if arg.metadata and arg.name in objects}
    stages: dict[str, tuple[SignatureCall, ...]] = {}
    traffic = _traffic(call)
    return SignatureCall(
        indices=read_only(_indices(call)),
        branch_key=_branch_key(call),
        device=call.device,
        tensors=read_only({name: (seen.shape, seen.dtype) for name, seen in call.views.items()}),
        traffic=read_only(traffic),
        written=_written(call, traffic),
        has_out=any(name in objects for name in signature.output_names),
        metadata=read_only(metadata),
        stages=read_only(stages),
    )


def _indices(call: Matched) -> dict[str, IndexValue]:
    signature, values = call.signature, call.scope.settled
    names = (*signature.index_names, *signature.index_params, *(let.name for let in signature.lets))
    return {name: values[name] for name in names if name in values and name not in signature.sequence_names}


def _branch_key(call: Matched) -> tuple[tuple[str, Scalar], ...]:
    """The discriminants' values, and the outcome of each predicate that turned on something else (``M > 64``)."""
    scalars = {**call.given.params, **call.given.scalars}
    presence = {f"present({name})": name in call.given.forms or name in scalars for name in call.signature.input_names}
    point = {
        name: presence[name] if name in presence else scalars.get(name, False) for name in call.signature.discriminants
    }
    known = {name for name in point if name not in presence}
    conditions = {expr: str(expr) for expr in call.signature.conditions if not expr.names <= known}
    other = {text: call.decided[text] for text in conditions.values() if text in call.decided}
    return tuple({**point, **other}.items())


def _traffic(call: Matched) -> dict[str, tuple[int, int]]:
    """How often each tensor is read and written; an alias that is written is charged at its input alone."""
    traffic: dict[str, tuple[int, int]] = dict.fromkeys(call.views, (1, 0))
    kept = set[str]() if call.in_place else {out.alias for out in call.signature.outs}
    for arg in call.signature.tensor_args:
        if arg.name in traffic:
            traffic[arg.name] = (0 if arg.write_only else 1, int(arg.written and arg.name not in kept))
    for name in call.signature.output_names:
        traffic[name] = (0, int(name not in call.aliases))
    return traffic


def _written(call: Matched, traffic: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    """The inputs that are written: those that say so, and those whose own memory was passed as `out`."""
    given = call.given.views
    as_out = {out.alias for out in call.signature.outs if call.in_place and out.alias and out.name in given}
    return tuple(
        arg.name
        for arg in call.signature.tensor_args
        if arg.name in given and (traffic[arg.name][1] or arg.name in as_out)
    )
