"""From the parser's tree of a signature to its terms."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

from assay.signature.expression import Expr
from assay.signature.expression_tree import (
    TRUTH,
    TextError,
    build_node,
    float_of,
    integer_of,
    name_of,
    string_of,
    token_of,
    tree_of,
)
from assay.signature.nodes import DTYPES
from assay.signature.signature import Signature
from assay.signature.terms import (
    EFFECTS,
    Case,
    Default,
    Index,
    IndexKind,
    Let,
    Out,
    Param,
    Rest,
    ScalarArg,
    ScalarKind,
    ScalarType,
    Size,
    TensorArg,
    TensorType,
)

if TYPE_CHECKING:
    from lark import Token, Tree

    from assay.signature.expression_tree import Piece

_T = TypeVar("_T")

_KINDS: Mapping[str, IndexKind] = {"dim": "Dim", "shape": "Shape", "dtypes": "DType", "sequence": "Seq[Int]"}


def build_signature(tree: "Tree[Token]") -> Signature:
    """The signature of the parser's tree.

    Raises:
        TextError: a default does not fit its type, an effect is said twice or of a scalar, or an expression of it means
            nothing.
    """
    forall, args, outs, lets, wheres = tree.children
    binders = _all(forall, tree_of)
    indices = [index for binder in binders if binder.data == "indices" for index in _indices(binder)]
    params = [param for binder in binders if binder.data == "params" for param in _all(binder, _param)]
    return Signature(
        indices=tuple(indices),
        params=tuple(params),
        args=tuple(_all(args, _arg)),
        outs=tuple(_all(outs, _out)),
        lets=tuple(_all(lets, _let)),
        wheres=tuple(_all(wheres, _expr)),
    )


def _all(piece: "Piece", build: "Callable[[Piece], _T]") -> list[_T]:
    return [] if piece is None else [build(child) for child in tree_of(piece).children]


def _indices(binder: "Tree[Token]") -> list[Index]:
    names, kind = map(tree_of, binder.children)
    dtypes = tuple(str(child) for child in kind.children if token_of(child).type == "NAME")
    return [Index(name, _KINDS[kind.data], dtypes) for name in _all(names, name_of)]


def _param(piece: "Piece") -> Param:
    name, kind, *default = tree_of(piece).children
    if tree_of(piece).data == "tensor_param":
        return Param(name_of(name), _tensor(kind))
    scalar = _scalar(kind)
    return Param(name_of(name), scalar, _default(default[0], scalar))


def _arg(piece: "Piece") -> TensorArg | ScalarArg:
    effects, name, optional, kind, *default = tree_of(piece).children
    said = [token_of(effect) for effect in tree_of(effects).children]
    for position, effect in enumerate(said):
        if effect in said[:position]:
            raise TextError(effect, f"{name}: {effect} is said twice")
    is_optional = cast("Piece", optional) is not None
    if tree_of(piece).data == "tensor_arg":
        flags = {effect: effect in said for effect in EFFECTS}
        return TensorArg(name_of(name), _form(kind), is_optional, **flags)
    if said:
        raise TextError(said[0], f"{name} is a scalar, and only a tensor can be {said[0]}")
    scalar = _scalar(kind)
    return ScalarArg(name_of(name), scalar, _default(default[0], scalar), is_optional)


def _out(piece: "Piece") -> Out:
    name, form, alias = cast("list[Piece]", tree_of(piece).children)
    return Out(name_of(name), _form(form), None if alias is None else name_of(alias))


def _let(piece: "Piece") -> Let:
    name, expr = tree_of(piece).children
    return Let(name_of(name), _expr(expr))


def _expr(piece: "Piece") -> Expr:
    return Expr(build_node(piece))


def _form(piece: "Piece") -> tuple[Case, ...]:
    cases: list[Case] = []
    while piece is not None:
        tensor, *rest = cast("list[Piece]", tree_of(piece).children)
        condition, piece = rest if len(rest) == 2 else (None, None)
        cases.append(Case(_tensor(tensor), None if condition is None else _expr(condition)))
    return tuple(cases)


def _tensor(piece: "Piece") -> TensorType:
    dtype, axes = cast("list[Piece]", tree_of(piece).children)
    return TensorType(name_of(dtype), tuple(_all(axes, _axis)))


def _axis(piece: "Piece") -> Size | Rest:
    tree = tree_of(piece)
    return Rest(name_of(tree.children[0])) if tree.data == "rest" else Size(_expr(tree.children[0]))


def _scalar(piece: "Piece") -> ScalarType:
    kind, *choices = tree_of(piece).children
    listed = tuple(map(string_of, choices))
    for position, choice in enumerate(listed):
        if choice in listed[:position]:
            raise TextError(token_of(choices[position]), f"{choice!r} is listed twice")
    return ScalarType(cast("ScalarKind", str(kind)), listed)


def _default(piece: "Piece", scalar: ScalarType) -> Default | None:
    if piece is None:
        return None
    *sign, token = cast("list[Token | None]", tree_of(piece).children)
    value = _literal(cast("Token", token))
    if sign and sign[0] is not None:
        value = -cast("int | float", value)
    if scalar.kind == "Float" and type(value) is int:
        value = float(value)
    if not _fits(value, scalar):
        raise TextError(cast("Token", token), f"expected a default of type {scalar}, found {token}")
    return value


def _literal(token: "Token") -> Default:
    if token.type == "STRING":
        return string_of(token)
    if token.type == "NAME":
        return TRUTH.get(token, str(token))
    return integer_of(token) if token.type == "INTEGER" else float_of(token)


def _fits(value: Default, scalar: ScalarType) -> bool:
    if scalar.kind == "Enum":
        return value in scalar.choices
    if scalar.kind == "DType":
        return value in DTYPES
    return type(value) is {"Int": int, "Float": float, "Bool": bool}[scalar.kind]
