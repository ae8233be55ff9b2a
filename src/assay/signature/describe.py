"""A call from indices alone, as a tune shape gives them: the tensors are the ones that would be allocated."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import cast

from assay.array import planned_view
from assay.errors import CallError
from assay.signature.arguments import scalar_params
from assay.signature.bind import Binding
from assay.signature.call import Call, read_only
from assay.signature.check import check
from assay.signature.expression import Expr
from assay.signature.expression_tree import close_match
from assay.signature.outputs import plan_view
from assay.signature.scope import NotSettledError, Scope
from assay.signature.signature import Signature
from assay.signature.terms import Case, Default, ScalarType, Size, TensorType
from assay.signature.values import index_value, scalar_from_text

_NOTHING: Mapping[str, object] = {}


def describe(
    signature: Signature, subject: str, given: Mapping[str, object], *, params: Mapping[str, object] = _NOTHING
) -> Call:
    """The call that a tune shape stands for.

    Args:
        signature: what is declared.
        subject: the op's name, for messages.
        given: indices and scalars by name; ``True`` under an optional tensor's name includes it. Values may be text.
        params: the construction parameters that are set.

    Raises:
        CallError: a name is unknown, an index that is needed is missing, or no such call is legal.
    """
    _refuse_unknown(signature, subject, given)
    indices = _indices(signature, subject, given)
    scalars = _scalars(signature, subject, given)
    wanted = {name for name in signature.optional_tensors if _included(subject, name, given.get(name, False))}
    forms = {param.name: (Case(cast("TensorType", param.type)),) for param in signature.tensor_params}
    forms |= {arg.name: arg.form for arg in signature.tensor_args if not arg.optional or arg.name in wanted}
    # Of these only the names are read, by `present`: no expression of a signature reads a layout.
    names = dict.fromkeys(forms, planned_view((), "bool"))
    known = {**scalar_params(signature, subject, params), **scalars, **indices}
    scope = Scope(signature, known, names)
    planning = Binding(signature, subject, scope)
    lacking = _lacking(signature, scope, planning, forms)
    lacking += [arg.name for arg in signature.scalar_args if arg.required and arg.name not in scalars]
    if lacking:
        needs = ", ".join([*signature.index_names, *(arg.name for arg in signature.scalar_args if arg.required)])
        raise CallError(subject, f"shape lacks {', '.join(lacking)} (needs {needs})")
    planned: dict[str, object] = {}
    for name, form in forms.items():
        declared = planning.choose(name, form)
        shape, dtype = planning.shape_of(name, declared), planning.dtype_of(name, declared)
        planned[name] = plan_view(subject, name, shape, dtype)
    tensor_params = {param.name: planned.pop(param.name) for param in signature.tensor_params}
    claims = {name: value for name, value in given.items() if name in signature.claimable_names}
    sequences = {name: indices[name] for name in signature.sequence_names}
    call = check(signature, subject, {**planned, **scalars}, params={**tensor_params, **params}, given=claims)
    return replace(call, sequences=read_only(cast("Mapping[str, tuple[int, ...]]", sequences)))


def _refuse_unknown(signature: Signature, subject: str, given: Mapping[str, object]) -> None:
    known = (*signature.index_names, *signature.scalar_names, *signature.optional_tensors, *signature.claimable_names)
    for name in given:
        if name not in known:
            expected = ", ".join(dict.fromkeys(known))
            raise CallError(
                subject,
                f"shape has {name}, which the signature does not bind",
                close_match(name, known) or f"there are {expected}",
            )


def _indices(signature: Signature, subject: str, given: Mapping[str, object]) -> dict[str, int | str | tuple[int, ...]]:
    indices: dict[str, int | str | tuple[int, ...]] = {}
    for index in signature.indices:
        if index.name in given:
            try:
                indices[index.name] = index_value(index, given[index.name])
            except ValueError as wrong:
                raise CallError(subject, f"{index.name}: {wrong}") from wrong
        elif len(index.dtypes) == 1:
            indices[index.name] = index.dtypes[0]
    return indices


def _scalars(signature: Signature, subject: str, given: Mapping[str, object]) -> dict[str, Default]:
    scalars: dict[str, Default] = {}
    for arg in signature.scalar_args:
        value = given.get(arg.name, arg.default)
        if value is not None:
            try:
                scalars[arg.name] = scalar_from_text(arg.type, value)
            except ValueError as wrong:
                raise CallError(subject, f"{arg.name}: {wrong}") from wrong
    return scalars


def _included(subject: str, name: str, value: object) -> bool:
    try:
        return bool(scalar_from_text(ScalarType("Bool"), value))
    except ValueError as wrong:
        raise CallError(
            subject, f"{name}: {wrong}", "true includes this optional input, false leaves it out"
        ) from wrong


def _lacking(signature: Signature, scope: Scope, planning: Binding, forms: Mapping[str, tuple[Case, ...]]) -> list[str]:
    """The indices that planning these tensors needs and a shape did not give, in `forall`'s order."""
    lacking = {name for name in signature.sequence_names if name not in scope}
    for name, form in forms.items():
        try:
            declared = planning.choose(name, form)
        except NotSettledError as missing:
            lacking.add(missing.name)
            continue
        lacking |= {declared.dtype} & ({*signature.dtype_names} - {*scope})
        for axis in declared.axes:
            names = axis.expr.names if isinstance(axis, Size) else {axis.name}
            lacking |= _unsettled(scope, names)
    return [name for name in signature.index_names if name in lacking]


def _unsettled(scope: Scope, names: AbstractSet[str]) -> set[str]:
    """The indices that some names need and that are not settled; a `let` needs those it reads."""
    unsettled: set[str] = set()
    for name in names:
        definition = scope.definition(name)
        if definition is not None:
            unsettled |= _unsettled(scope, Expr(definition).names)
        elif name not in scope:
            unsettled.add(name)
    return unsettled
