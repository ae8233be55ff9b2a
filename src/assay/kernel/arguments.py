"""What a compiled kernel's function is passed: tensors, scalars, and what a call's layout settles.

An argument is written as an expression over the op's names. A tensor's or a scalar's own name passes it; anything else
(``M``, ``a.stride[0]``, ``2*K``) is a number that is the same for every call of one layout, a `Shape` being its number
of elements. A launch takes the inputs, then the outputs; its parameters are called ``i0``, ``i1``, …, ``o0``, ….
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.array import ArrayView
from assay.errors import DeclarationError
from assay.signature import Expr, Signature, parse_expr
from assay.signature.call import Call, Scalar

WORKSPACE = "workspace"
"""The argument that is scratch memory, in the frontends that have it."""


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """A tensor that is present.

    Attributes:
        variable: the launch's parameter.
        view: its layout.
        written: whether the kernel may write into it.
    """

    variable: str
    view: ArrayView
    written: bool


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A scalar of the call, with the value it had when the launch was made, which has its type."""

    variable: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class ConstantArgument:
    """A number that the layout settles; None: an optional input that is absent."""

    value: int | float | bool | None


@dataclass(frozen=True, slots=True)
class ScratchArgument:
    """Scratch memory."""


Argument = ArrayArgument | ScalarArgument | ConstantArgument | ScratchArgument


def parse_arguments(subject: str, texts: Iterable[str]) -> tuple[Expr, ...]:
    """The arguments of their texts.

    Raises:
        DeclarationError: one is no expression.
    """
    return tuple(parse_expr(text, f"{subject}.args") for text in texts)


def settle_arguments(
    subject: str, args: tuple[Expr, ...] | None, signature: Signature, *, scratch: bool = False
) -> tuple[Expr, ...]:
    """The arguments a kernel declares, checked; where it declares none, the tensors, then the sizes in order.

    Args:
        subject: the kernel's name.
        args: what it declares.
        signature: its op's.
        scratch: whether it uses scratch memory, which comes last unless its place is declared.

    Raises:
        DeclarationError: an argument reads what the op does not declare.
    """
    if args is None:
        sizes = (one.name for one in signature.indices if one.kind in ("Dim", "Shape"))
        return parse_arguments(subject, (*signature.tensor_names, *sizes, *((WORKSPACE,) if scratch else ())))
    passed = {*signature.tensor_names, *((WORKSPACE,) if scratch else ())}
    for arg in args:
        if str(arg) not in passed:
            check_reads(subject, arg, signature)
    return args


def check_reads(subject: str, expr: Expr, signature: Signature, more: Iterable[str] = ()) -> None:
    """Refuses an expression that reads what an op does not declare.

    Raises:
        DeclarationError: it does; the message says what there is.
    """
    refuse_unknown(subject, expr.names, {*signature.value_names, *more})
    refuse_unknown(subject, expr.tensors, signature.tensor_names)


def refuse_unknown(subject: str, read: Iterable[str], known: Iterable[str]) -> None:
    """Refuses names that are not known.

    Raises:
        DeclarationError: one is not; the message says what there is.
    """
    unknown = sorted(set(read) - set(known))
    if unknown:
        said = f"reads {', '.join(unknown)}, which its op does not declare"
        raise DeclarationError(subject, said, f"there is {', '.join(sorted(known)) or 'nothing of this kind'}")


def settled(subject: str, args: tuple[Expr, ...] | None) -> tuple[Expr, ...]:
    """The arguments of a kernel that was added to an op, or declares them.

    Raises:
        DeclarationError: it has none yet.
    """
    if args is None:
        raise DeclarationError(subject, "its arguments are settled by the op it is added to", "add it, or give args")
    return args


def guarded_features(args: tuple[Expr, ...] | None) -> frozenset[str]:
    """The alignments that arguments pass: of all they may read, what is not the same for every call of one layout."""
    read = frozenset[str]().union(*(arg.features for arg in args or ()))
    return frozenset(feature for feature in read if feature.endswith(".align"))


def parameters(call: Call) -> list[str]:
    """The names of a launch's parameters: the inputs', then the outputs'."""
    inputs = (f"i{place}" for place in range(len(call.inputs)))
    outputs = (f"o{place}" for place in range(len(call.outputs)))
    return [*inputs, *outputs]


def resolve_arguments(subject: str, args: Sequence[Expr], call: Call) -> list[Argument]:
    """What each argument comes to in launches of a call's layout.

    Raises:
        DeclarationError: an argument has no value here, or one that is no number.
    """
    variables = dict(zip((*call.inputs, *call.outputs), parameters(call), strict=True))
    return [_resolve(subject, arg, call, variables) for arg in args]


def _resolve(subject: str, arg: Expr, call: Call, variables: dict[str, str]) -> Argument:
    name = str(arg)
    if name in call.views and name in variables:
        written = name in call.record.written or name in call.outputs
        return ArrayArgument(variables[name], call.views[name], written)
    if name in call.scalars and name in variables:
        return ScalarArgument(variables[name], call.scalars[name])
    if name in variables:
        return ConstantArgument(None)
    if name == WORKSPACE:
        return ScratchArgument()
    value = arg.evaluate(call.facts({}))
    if isinstance(value, tuple):
        return ConstantArgument(math.prod(value))
    if isinstance(value, (bool, int, float)):
        return ConstantArgument(value)
    raise DeclarationError(subject, f"argument {name} is {value!r}; expected a number")
