"""What a caller handed over, sorted into scalars and tensors before anything is compared.

Presence and kind are settled here: an argument is there, a tensor is an array, a scalar is of its type. Arrays are
looked at through `assay.array` and never copied.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from assay.array import ArrayView, view
from assay.errors import CallError
from assay.signature.expression_tree import close_match
from assay.signature.signature import Signature
from assay.signature.terms import Case, Default, ScalarArg, ScalarType, TensorType, form_text
from assay.signature.values import scalar_value


@dataclass(frozen=True, slots=True)
class Arguments:
    """The sorted arguments of one call.

    Attributes:
        scalars: the call's scalars, defaults filled in.
        params: the construction parameters that are scalars, defaults filled in.
        objects: the tensors as they were given, by name: inputs, construction-time tensors and `out`s.
        views: how each of them looks.
        forms: the declared types of those that are given, in order: construction-time tensors, then inputs.
    """

    scalars: Mapping[str, Default]
    params: Mapping[str, Default]
    objects: Mapping[str, object]
    views: Mapping[str, ArrayView]
    forms: Mapping[str, tuple[Case, ...]]


def sort_arguments(
    signature: Signature, subject: str, arguments: Mapping[str, object], params: Mapping[str, object]
) -> Arguments:
    """The arguments of a call, each of the kind its signature declares.

    Raises:
        CallError: one is unknown, missing, no array, or a scalar of another type.
    """
    _refuse_unknown(subject, "argument", arguments, (*signature.input_names, *signature.output_names))
    _refuse_unknown(subject, "param", params, [param.name for param in signature.params])
    forms: dict[str, tuple[Case, ...]] = {}
    objects: dict[str, object] = {}
    for param in signature.tensor_params:
        forms[param.name] = (Case(cast("TensorType", param.type)),)
        objects[param.name] = params.get(param.name)
    scalars: dict[str, Default] = {}
    for arg in signature.args:
        given = arguments.get(arg.name)
        if isinstance(arg, ScalarArg):
            if given is not None or not arg.optional or arg.default is not None:
                scalars[arg.name] = _scalar(subject, arg.name, arg.type, arg.default if given is None else given)
        elif given is not None or not arg.optional:
            forms[arg.name] = arg.form
            objects[arg.name] = given
    for out in signature.outs:
        if arguments.get(out.name) is not None:
            objects[out.name] = arguments[out.name]
    declared = forms | {out.name: out.form for out in signature.outs}
    return Arguments(
        scalars=scalars,
        params=scalar_params(signature, subject, params),
        objects=objects,
        views={name: _view(subject, name, declared[name], given) for name, given in objects.items()},
        forms=forms,
    )


def scalar_params(signature: Signature, subject: str, params: Mapping[str, object]) -> dict[str, Default]:
    """The construction parameters that are scalars, defaults filled in.

    Raises:
        CallError: one is missing, or of another type.
    """
    return {
        param.name: _scalar(subject, param.name, cast("ScalarType", param.type), params.get(param.name, param.default))
        for param in signature.scalar_params
    }


def _refuse_unknown(subject: str, kind: str, given: Mapping[str, object], known: "tuple[str, ...] | list[str]") -> None:
    for name in given:
        if name not in known:
            remedy = close_match(name, known) or f"there are {', '.join(known) or 'none'}"
            raise CallError(subject, f"no {kind} is called {name!r}", remedy)


def _scalar(subject: str, name: str, declared: ScalarType, value: object) -> Default:
    if value is None:
        raise CallError(subject, f"{name} is missing: a scalar of type {declared} is expected")
    try:
        return scalar_value(declared, value)
    except ValueError as wrong:
        raise CallError(subject, f"{name}: {wrong}") from wrong


def _view(subject: str, name: str, form: tuple[Case, ...], given: object) -> ArrayView:
    if isinstance(given, ArrayView):
        return given
    if given is None:
        raise CallError(subject, f"{name} is missing: a tensor {form_text(form)} is expected")
    seen = view(given)
    if seen is None:
        raise CallError(subject, f"{name} is of type {type(given).__name__}: a tensor {form_text(form)} is expected")
    return seen
