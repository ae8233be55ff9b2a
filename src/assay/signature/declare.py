"""Refusing a signature that no call could ever satisfy, when it is declared.

Names are told apart, and every name that is read exists and is of the right kind. That every index is settled and that
the predicates leave something is asked of `satisfy`.
"""

import keyword
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NoReturn

from assay.errors import SignatureError
from assay.signature.expression import Expr
from assay.signature.expression_tree import close_match
from assay.signature.nodes import (
    DTYPES,
    Attribute,
    Binary,
    Comparison,
    Constant,
    Function,
    Length,
    Member,
    Name,
    Node,
    Present,
    Unary,
    walk,
)
from assay.signature.satisfy import refuse_contradictory, refuse_unsettled
from assay.signature.signature import Signature
from assay.signature.terms import Rest, ScalarType, TensorType

_TAKEN: Mapping[str, str] = {
    "device": "it stands for the device in expressions",
    "out": "it is how a caller passes results",
}
_AXIS_OPERATORS = frozenset({"+", "-", "*", "//", "%"})
_AXIS_FUNCTIONS = frozenset({"min", "max"})


def refuse_unsatisfiable(signature: Signature) -> None:
    """Refuses a signature that no call could satisfy.

    Raises:
        SignatureError: a name is declared twice, unknown or of the wrong kind, an index is settled by no input, or a
            predicate is never true; the message quotes the part that is wrong.
    """
    _refuse_names(signature)
    _refuse_dtypes(signature)
    _refuse_effects(signature)
    for form in signature.forms:
        for case in form:
            _refuse_axes(signature, case.tensor)
    _refuse_expressions(signature)
    refuse_unsettled(signature)
    refuse_contradictory(signature)


def _refuse(said: str, remedy: str = "") -> NoReturn:
    raise SignatureError("signature", said, remedy)


def _refuse_names(signature: Signature) -> None:
    declared = (*signature.indices, *signature.params, *signature.args, *signature.outs, *signature.lets)
    inputs = {*signature.input_names}
    seen: set[str] = set()
    for name in (one.name for one in declared):
        if name in seen:
            _refuse(f"{name} is declared twice")
        seen.add(name)
        if name in DTYPES:
            _refuse(f"{name} is a dtype, and cannot be declared as something else")
        if keyword.iskeyword(name):
            _refuse(f"{name} is a word of Python, and kernels take arguments by name")
        if name in _TAKEN and (name != "out" or name in inputs):
            _refuse(f"{name} cannot be declared: {_TAKEN[name]}")


def _refuse_dtypes(signature: Signature) -> None:
    for index in signature.indices:
        for position, dtype in enumerate(index.dtypes):
            if dtype not in DTYPES:
                _refuse(f"{index.name}: no dtype is called {dtype!r}", close_match(dtype, DTYPES))
            if dtype in index.dtypes[:position]:
                _refuse(f"{index.name}: {dtype} is listed twice")
    known = {*DTYPES, *signature.dtype_names, *_scalars_of(signature, "DType")}
    for tensor in _tensors(signature):
        if tensor.dtype not in known:
            _refuse(f"{tensor}: no dtype or dtype index is called {tensor.dtype!r}", close_match(tensor.dtype, known))


def _refuse_effects(signature: Signature) -> None:
    tensors = {arg.name: arg for arg in signature.tensor_args}
    for arg in signature.tensor_args:
        if arg.mutated and arg.write_only:
            _refuse(f"{arg.name} is both mutated, which reads it, and write_only, which does not")
    aliased: set[str] = set()
    for out in signature.outs:
        if out.alias is None:
            continue
        if out.alias not in tensors:
            _refuse(f"{out.name} alias {out.alias}: expected a tensor argument", close_match(out.alias, tensors))
        if tensors[out.alias].optional:
            _refuse(f"{out.name} alias {out.alias}: {out.alias} is optional, and {out.name} has no memory without it")
        if out.alias in aliased:
            _refuse(f"{out.alias} is the alias of two results")
        aliased.add(out.alias)


def _refuse_axes(signature: Signature, tensor: TensorType) -> None:
    sizes = {*signature.dim_names, *(let.name for let in signature.lets), *_scalars_of(signature, "Int")}
    for axis in tensor.axes:
        if isinstance(axis, Rest):
            if axis.name not in signature.shape_names:
                _refuse(f"{tensor}: {axis} expects a Shape of forall", close_match(axis.name, signature.shape_names))
            continue
        for node in walk(axis.expr.root):
            if not _is_arithmetic(node):
                _refuse(f"{tensor}: {node.text()} cannot stand in an axis", "use integers, + - * // % min max len")
        _refuse_lengths(signature, axis.expr)
        for name in sorted(_numbers_of(axis.expr) - sizes):
            if name in signature.shape_names:
                _refuse(f"{tensor}: {name} is a Shape, and its sizes are written *{name}")
            _refuse(f"{tensor}: no Dim, let or Int is called {name!r}", close_match(name, sizes))


def _refuse_expressions(signature: Signature) -> None:
    lets = {let.name for let in signature.lets}
    before = signature.value_names - lets
    for let in signature.lets:
        _refuse_reads(signature, let.expr, before)
        before |= {let.name}
    for predicate in (*signature.conditions, *signature.wheres):
        _refuse_reads(signature, predicate, signature.value_names)
        if not _is_predicate(signature, predicate.root):
            _refuse(f"{predicate}: expected a predicate, which is true or false")


def _refuse_reads(signature: Signature, expr: Expr, known: AbstractSet[str]) -> None:
    for node in walk(expr.root):
        if isinstance(node, Attribute):
            _refuse(f"{expr}: a signature cannot read a layout or the device ({node.text()})", "use serves of a kernel")
    for name in sorted(expr.names - known):
        if name in signature.sequence_names:
            _refuse(f"{expr}: {name} is a Seq[Int], which only a tune shape has")
        if name in signature.value_names:
            _refuse(f"{expr}: it reads {name!r}, which is computed later")
        _refuse(f"{expr}: no index, scalar or let is called {name!r}", close_match(name, known))
    for name in sorted(expr.presences - {*signature.input_names}):
        _refuse(f"{expr}: no argument is called {name!r}", close_match(name, signature.input_names))
    _refuse_lengths(signature, expr)


def _refuse_lengths(signature: Signature, expr: Expr) -> None:
    for node in walk(expr.root):
        if isinstance(node, Length) and node.shape not in signature.shape_names:
            _refuse(f"{node.text()}: no Shape is called {node.shape!r}", close_match(node.shape, signature.shape_names))


def _numbers_of(expr: Expr) -> set[str]:
    """The names an expression reads as numbers; a shape whose length it takes is none of them."""
    return {node.name for node in walk(expr.root) if isinstance(node, Name)}


def _is_arithmetic(node: Node) -> bool:
    if isinstance(node, Constant):
        return type(node.constant) is int
    if isinstance(node, Unary | Binary):
        return node.operator in _AXIS_OPERATORS
    return isinstance(node, Name | Length) or (isinstance(node, Function) and node.name in _AXIS_FUNCTIONS)


def _is_predicate(signature: Signature, node: Node) -> bool:
    if isinstance(node, Name):
        return node.name in {*_scalars_of(signature, "Bool"), *(let.name for let in signature.lets)}
    if isinstance(node, Constant):
        return isinstance(node.constant, bool)
    if isinstance(node, Unary | Binary):
        return node.operator in ("not", "and", "or")
    return isinstance(node, Comparison | Member | Present)


def _tensors(signature: Signature) -> list[TensorType]:
    return [case.tensor for form in signature.forms for case in form]


def _scalars_of(signature: Signature, kind: str) -> set[str]:
    """The scalars of a kind that every call has."""
    required = (arg for arg in signature.scalar_args if not arg.optional or arg.default is not None)
    scalars = (*signature.scalar_params, *required)
    return {one.name for one in scalars if isinstance(one.type, ScalarType) and one.type.kind == kind}
