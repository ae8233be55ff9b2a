"""Checking a call against its signature, before anything is loaded, allocated or run.

The order is: what is there and of which kind, ranks, dtypes, shared sizes, axes to be solved, devices, predicates,
results. The first thing that fails is the one error. What comes out is a `Call`: the record and the layouts.
"""

from collections.abc import Mapping
from typing import cast

from assay.errors import CallError
from assay.signature.arguments import Arguments, sort_arguments
from assay.signature.arithmetic import EvaluationError, Value, value_text
from assay.signature.bind import Binding, Tensor
from assay.signature.call import Call, read_only
from assay.signature.expression_tree import close_match
from assay.signature.outputs import refuse_overlap, refuse_read_only, settle_outputs
from assay.signature.record import Matched, record_call
from assay.signature.scope import NotSettledError, Scope
from assay.signature.signature import Signature
from assay.signature.values import index_value

_NOTHING: Mapping[str, object] = {}


def check(
    signature: Signature,
    subject: str,
    arguments: Mapping[str, object],
    *,
    params: Mapping[str, object] = _NOTHING,
    given: Mapping[str, object] = _NOTHING,
    in_place: bool = True,
) -> Call:
    """The call these arguments make.

    Args:
        signature: what is declared.
        subject: the op's name, for messages.
        arguments: arrays and scalars by name, an `out` under the result's name; None stands for an absent one.
        params: the construction parameters that are set.
        given: indices by name that the caller claims; the tensors must agree with them.
        in_place: whether a result that aliases a written input is that input.

    Raises:
        CallError: the arguments break the declaration.
    """
    sorted_ = sort_arguments(signature, subject, arguments, params)
    present = {name: seen for name, seen in sorted_.views.items() if name in sorted_.forms}
    claimed = _claimed(signature, subject, given)
    indices = cast("dict[str, Value]", {name: claimed[name] for name in signature.index_names if name in claimed})
    scope = Scope(signature, {**sorted_.params, **sorted_.scalars, **indices}, present)
    binding = Binding(signature, subject, scope)
    binding.match([Tensor(name, form, present[name]) for name, form in sorted_.forms.items()])
    _settle_lone_dtypes(signature, scope)
    device = _device(signature, subject, sorted_)
    _refuse_false(signature, subject, scope, binding)
    aliases: Mapping[str, str] = signature.in_place_outputs if in_place else {}
    outputs = settle_outputs(signature, subject, sorted_, binding, device, aliases)
    refuse_read_only(signature, subject, sorted_.objects)
    refuse_overlap(signature, subject, sorted_.objects, in_place=in_place)
    _reach_unread_lets(signature, subject, scope)
    _refuse_contradiction(subject, claimed, scope)
    call = Matched(signature, sorted_, scope, binding.decided, {**present, **outputs}, aliases, device, in_place)
    return Call(
        record=record_call(call),
        inputs=signature.input_names,
        outputs=signature.output_names,
        views=read_only(call.views),
        scalars=read_only(sorted_.scalars),
        params=read_only(sorted_.params),
        aliases=read_only(aliases),
    )


def _claimed(signature: Signature, subject: str, given: Mapping[str, object]) -> dict[str, object]:
    """The indices a caller gave, as a record would hold them; other names keep what was given."""
    known = signature.claimable_names
    claimed: dict[str, object] = {}
    for name, value in given.items():
        if name not in known:
            raise CallError(subject, f"nothing is called {name!r}", close_match(name, known))
        if name not in signature.index_names:
            claimed[name] = value
            continue
        try:
            claimed[name] = index_value(signature.index(name), value)
        except ValueError as wrong:
            raise CallError(subject, f"{name}: {wrong}") from wrong
    return claimed


def _settle_lone_dtypes(signature: Signature, scope: Scope) -> None:
    """A dtype that can be one thing only is that, whether or not an input has it."""
    for index in signature.indices:
        if len(index.dtypes) == 1:
            scope.settled.setdefault(index.name, index.dtypes[0])


def _device(signature: Signature, subject: str, given: Arguments) -> str:
    hosts = {arg.name for arg in signature.tensor_args if arg.host}
    settled: tuple[str, str] | None = None
    for name, seen in given.views.items():
        if name in hosts:
            if seen.device != "cpu":
                raise CallError(subject, f"{name} is on {seen.device}: the signature has it on the host")
        elif settled is None:
            settled = (name, seen.device)
        elif settled[1] != seen.device:
            raise CallError(
                subject, f"{settled[0]} is on {settled[1]}, {name} is on {seen.device}: expected one device"
            )
    return "cpu" if settled is None else settled[1]


def _refuse_false(signature: Signature, subject: str, scope: Scope, binding: Binding) -> None:
    for where in signature.wheres:
        try:
            holds = where.root.value(scope.facts)
        except EvaluationError as trouble:
            raise CallError(subject, f"where {where}: {trouble}") from trouble
        except NotSettledError as missing:
            raise CallError(subject, f"where {where}: {missing.name} is settled by nothing in this call") from missing
        if not holds:
            raise CallError(subject, f"expected {where}: {binding.reading(where)}")


def _reach_unread_lets(signature: Signature, subject: str, scope: Scope) -> None:
    """Computes the values that nothing in the signature reads; one whose indices are absent is not reached."""
    for name in signature.unread_lets:
        try:
            scope[name]
        except NotSettledError:
            continue
        except EvaluationError as trouble:
            raise CallError(subject, str(trouble)) from trouble


def _refuse_contradiction(subject: str, claimed: Mapping[str, object], scope: Scope) -> None:
    for name, value in claimed.items():
        seen = scope.settled.get(name, value)
        if seen != value and value_text(seen) != value_text(value):
            raise CallError(subject, f"{name} is given as {value}, and is {value_text(seen)} in this call")
