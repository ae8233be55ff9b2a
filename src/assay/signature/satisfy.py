"""Whether some call could satisfy a signature: every index is settled by an input, and the predicates leave something.

An index is settled by an axis that is linear in it once the others are known, so indices are settled one after
another until none is added. Of predicates, those are tried that turn on finitely many things: dtypes of a row list,
truth values, enums, the presence of optional tensors. Sizes are endless and left to the calls.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

from assay.array import planned_view
from assay.errors import SignatureError
from assay.signature.arithmetic import EvaluationError, Value
from assay.signature.expression import Expr
from assay.signature.nodes import Binary, Name, Node, Unary
from assay.signature.scope import NotSettledError, Scope
from assay.signature.signature import Signature
from assay.signature.terms import Case, Param, Rest, ScalarArg, ScalarType, Size, TensorType

_MAX_POINTS = 4096


def refuse_unsettled(signature: Signature) -> None:
    """Refuses a signature with an index that no input settles.

    Raises:
        SignatureError: the index is in no axis that could be solved for it.
    """
    settled = {index.name for index in signature.indices if index.kind == "Seq[Int]" or len(index.dtypes) == 1}
    tensors = [case.tensor for form in _input_forms(signature) for case in form]
    while True:
        more = {name for tensor in tensors for name in _settles(signature, tensor, settled)}
        if more <= settled:
            break
        settled |= more
    for index in signature.indices:
        if index.name not in settled:
            places = ", ".join(str(tensor) for tensor in tensors if index.name in _indices_of(signature, tensor))
            why = f"it cannot be solved for in {places}" if places else "no input has it"
            raise SignatureError("signature", f"{index.name} is settled by no call: {why}")


def refuse_contradictory(signature: Signature) -> None:
    """Refuses a signature whose predicates are false in every call, or with an axis that is never a size.

    Raises:
        SignatureError: a constant axis is negative or has no value, or no dtypes, truth values and enums satisfy all
            predicates that turn on them alone.
    """
    scope = Scope(signature, {}, {})
    for expr in signature.axis_exprs:
        if expr.names:
            continue
        try:
            size = scope.whole(expr)
        except EvaluationError as trouble:
            raise SignatureError("signature", f"axis {expr}: {trouble}") from trouble
        if size < 0:
            raise SignatureError("signature", f"axis {Size(expr)} is {size}: expected 0 or more")
    choices = _choices(signature)
    finite = [where for where in signature.wheres if _read(signature, where) <= choices.keys()]
    names = sorted(frozenset[str]().union(*(_read(signature, where) for where in finite)))
    if prod(len(choices[name]) for name in names) > _MAX_POINTS:
        return
    points = product(*(choices[name] for name in names))
    if not any(_allows(signature, finite, dict(zip(names, point, strict=True))) for point in points):
        raise SignatureError("signature", f"no call satisfies where {', '.join(map(str, finite))}")


def _input_forms(signature: Signature) -> list[tuple[Case, ...]]:
    params = [(Case(param.type),) for param in signature.params if isinstance(param.type, TensorType)]
    return [*params, *(arg.form for arg in signature.tensor_args)]


def _settles(signature: Signature, tensor: TensorType, settled: set[str]) -> set[str]:
    """The indices a tensor settles when some are settled already."""
    found = {tensor.dtype} & {*signature.dtype_names}
    rests = {axis.name for axis in tensor.axes if isinstance(axis, Rest)} - settled
    if len(rests) == 1:
        found |= rests
    for axis in tensor.axes:
        if isinstance(axis, Size):
            unknown = _expanded(signature, axis.expr.names) - settled
            found |= {name for name in unknown if len(unknown) == 1 and _degree(signature, axis.expr.root, name) == 1}
    return found


def _degree(signature: Signature, node: Node, unknown: str) -> int | None:
    """The power of an index in an axis; None where it is not a polynomial of it."""
    if isinstance(node, Name):
        let = next((let for let in signature.lets if let.name == node.name), None)
        return int(node.name == unknown) if let is None else _degree(signature, let.expr.root, unknown)
    degrees = [_degree(signature, child, unknown) for child in node.children]
    if not any(degree != 0 for degree in degrees):
        return 0
    if not isinstance(node, Unary | Binary) or node.operator not in ("+", "-", "*"):
        return None
    known = [degree for degree in degrees if degree is not None]
    if len(known) < len(degrees):
        return None
    return sum(known) if node.operator == "*" else max(known)


def _indices_of(signature: Signature, tensor: TensorType) -> set[str]:
    sizes = frozenset[str]().union(*(axis.expr.names for axis in tensor.axes if isinstance(axis, Size)))
    return _expanded(signature, sizes) | {axis.name for axis in tensor.axes if isinstance(axis, Rest)} | {tensor.dtype}


def _expanded(signature: Signature, names: frozenset[str]) -> set[str]:
    """The indices behind some names, those a `let` reads included."""
    lets = {let.name: let.expr.names for let in signature.lets}
    found: set[str] = set()
    for name in names:
        found |= _expanded(signature, lets[name]) if name in lets else {name} & {*signature.index_names}
    return found


def _choices(signature: Signature) -> dict[str, Sequence[Value]]:
    """What everything that has finitely many values may be; presence under ``present(name)``."""
    choices: dict[str, Sequence[Value]] = {index.name: index.dtypes for index in signature.indices if index.dtypes}
    scalars: tuple[Param | ScalarArg, ...] = (*signature.scalar_params, *signature.scalar_args)
    for scalar in scalars:
        if isinstance(scalar.type, ScalarType) and scalar.type.kind in ("Bool", "Enum"):
            choices[scalar.name] = scalar.type.choices or (False, True)
    for arg in signature.tensor_args:
        choices[f"present({arg.name})"] = (False, True) if arg.optional else (True,)
    return choices


def _read(signature: Signature, expr: Expr) -> set[str]:
    """What an expression turns on, through every `let` it reads."""
    lets = {let.name: let.expr for let in signature.lets}
    read = {f"present({name})" for name in expr.presences}
    for name in expr.names:
        read |= _read(signature, lets[name]) if name in lets else {name}
    return read


def _allows(signature: Signature, wheres: Sequence[Expr], point: dict[str, Value]) -> bool:
    """Whether the predicates hold at a point; one without a value there is left to the calls."""
    present = {name: planned_view((), "bool") for name in signature.tensor_names if point.get(f"present({name})")}
    scope = Scope(signature, point, present)
    try:
        return all(where.root.value(scope.facts) for where in wheres)
    except (EvaluationError, NotSettledError):
        return True
