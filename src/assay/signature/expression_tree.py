"""From the parser's tree of an expression to its nodes."""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from assay.signature.arithmetic import FUNCTIONS, TAKE_MANY
from assay.signature.nodes import (
    ATTRIBUTES,
    DTYPES,
    Attribute,
    Binary,
    Comparison,
    Conditional,
    Constant,
    Dtype,
    Function,
    Length,
    Member,
    Name,
    Node,
    Present,
    Unary,
)

if TYPE_CHECKING:
    from lark import Token, Tree

    Piece: TypeAlias = "Tree[Token] | Token | None"

TRUTH: Mapping[str, bool] = {"true": True, "True": True, "false": False, "False": False}
WORDS = frozenset({"None", *TRUTH})
"""What reads as a name and may not be one; the other words of the language are no names to the grammar."""

MAX_DEPTH = 100
"""How deep an expression may be nested; a recursion stays far from Python's own limit."""


class TextError(ValueError):
    """A text that the grammar allows and that means nothing; it knows where.

    Attributes:
        line: from 1.
        column: from 1.
    """

    def __init__(self, token: "Token", said: str) -> None:
        self.line = token.line or 1
        self.column = token.column or 1
        super().__init__(said)


def build_node(piece: "Piece", depth: int = 0) -> Node:
    """The node of a piece of the parser's tree.

    Raises:
        TextError: a word stands where a name is expected, or a function or attribute does not exist.
    """
    if isinstance(piece, str):
        return _LEAVES[token_of(piece).type](token_of(piece))
    tree = tree_of(piece)
    if depth > MAX_DEPTH:
        raise TextError(first_token(tree), f"expected an expression nested at most {MAX_DEPTH} deep")
    builder = _CALLS.get(tree.data)
    if builder is not None:
        return builder(tree.children, depth + 1)
    return _FORMS[tree.data](
        tree.children, [build_node(child, depth + 1) for child in tree.children if _operand(child)]
    )


def close_match(word: str, known: Iterable[str]) -> str:
    """A remedy that names the closest known word; empty when none is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def token_of(piece: "Piece") -> "Token":
    """A piece that the grammar says is a token."""
    return cast("Token", piece)


def tree_of(piece: "Piece") -> "Tree[Token]":
    """A piece that the grammar says is a tree."""
    return cast("Tree[Token]", piece)


def first_token(tree: "Tree[Token]") -> "Token":
    """The first token below a tree."""
    return next(iter(tree.scan_values(lambda _: True)))


def name_of(piece: "Piece") -> str:
    """A token's text as a name.

    Raises:
        TextError: it is a word of the language.
    """
    token = token_of(piece)
    if token in WORDS:
        raise TextError(token, f"expected a name, found the word {str(token)!r}")
    return str(token)


def integer_of(piece: "Piece") -> int:
    """A token's text as an integer of at most 64 bits.

    Raises:
        TextError: it is longer.
    """
    token = token_of(piece)
    value = int(token) if len(token) < 20 else 1 << 64
    if value >= 1 << 63:
        raise TextError(token, f"expected an integer of at most 64 bits, found {token}")
    return value


def float_of(piece: "Piece") -> float:
    """A token's text as a finite float.

    Raises:
        TextError: it is too large for one.
    """
    value = float(token_of(piece))
    if math.isinf(value):
        raise TextError(token_of(piece), f"expected a float of 64 bits, found {token_of(piece)}")
    return value


def string_of(piece: "Piece") -> str:
    """A token's text without its quotes."""
    return str(token_of(piece))[1:-1]


def _operand(piece: "Piece") -> bool:
    """Whether a piece is a part of its own; the signs between operands are not."""
    return piece is not None and (not isinstance(piece, str) or token_of(piece).type in _LEAVES)


def _signs(pieces: "Sequence[Piece]") -> list[str]:
    return [str(token_of(piece)) for piece in pieces if isinstance(piece, str) and not _operand(piece)]


def _word_or_name(token: "Token") -> Node:
    if token in TRUTH:
        return Constant(TRUTH[token])
    return Dtype(str(token)) if token in DTYPES else Name(name_of(token))


def _binary(pieces: "Sequence[Piece]", operands: list[Node]) -> Node:
    return Binary(_signs(pieces)[0], operands[0], operands[1])


def _unary(pieces: "Sequence[Piece]", operands: list[Node]) -> Node:
    return Unary(_signs(pieces)[0], operands[0])


def _comparison(pieces: "Sequence[Piece]", operands: list[Node]) -> Node:
    return Comparison(operands[0], tuple(zip(_signs(pieces), operands[1:], strict=True)))


def _member(pieces: "Sequence[Piece]", operands: list[Node]) -> Node:
    return Member(operands[0], tuple(operands[1:]), negated="not" in _signs(pieces))


def _conditional(pieces: "Sequence[Piece]", operands: list[Node]) -> Node:
    del pieces
    return Conditional(*operands)


def _call(pieces: "Sequence[Piece]", depth: int) -> Node:
    word = token_of(pieces[0])
    arguments = tuple(build_node(piece, depth) for piece in pieces[1:] if piece is not None)
    if word in _OF_NAMES:
        if len(arguments) == 1 and isinstance(arguments[0], Name):
            return _OF_NAMES[word](arguments[0].name)
        raise TextError(word, f"{word}: expected one name")
    if word not in FUNCTIONS:
        known = (*_OF_NAMES, *FUNCTIONS)
        hint = close_match(word, known) or f"there are {', '.join(known)}"
        raise TextError(word, f"no function is called {str(word)!r}; {hint}")
    if (len(arguments) < 2) == (word in TAKE_MANY) or not arguments:
        expected = "two or more arguments" if word in TAKE_MANY else "one argument"
        raise TextError(word, f"{word}: expected {expected}, found {len(arguments)}")
    return Function(str(word), arguments)


def _attribute(pieces: "Sequence[Piece]", depth: int) -> Node:
    del depth
    subject, word = name_of(pieces[0]), token_of(pieces[1])
    position = None
    if pieces[2] is not None:
        sign, digits = cast("list[Piece]", tree_of(pieces[2]).children)
        position = integer_of(digits) if sign is None else -integer_of(digits)
    if subject == "device":
        takes_position = False
    elif word in ATTRIBUTES:
        takes_position = ATTRIBUTES[word]
    else:
        hint = close_match(word, ATTRIBUTES) or f"a tensor has {', '.join(ATTRIBUTES)}"
        raise TextError(word, f"{subject} has no attribute {str(word)!r}; {hint}")
    if takes_position != (position is not None):
        expected = f"an axis: {subject}.{word}[0]" if takes_position else "no position in brackets"
        raise TextError(word, f"{subject}.{word}: expected {expected}")
    return Attribute(subject, str(word), position)


_OF_NAMES: Mapping[str, Callable[[str], Node]] = {"len": Length, "present": Present}
_LEAVES: "Mapping[str, Callable[[Token], Node]]" = {
    "INTEGER": lambda token: Constant(integer_of(token)),
    "FLOAT": lambda token: Constant(float_of(token)),
    "STRING": lambda token: Constant(string_of(token)),
    "NAME": _word_or_name,
}
_CALLS: "Mapping[str, Callable[[Sequence[Piece], int], Node]]" = {"call": _call, "attribute": _attribute}
_FORMS: "Mapping[str, Callable[[Sequence[Piece], list[Node]], Node]]" = {
    "either": _binary,
    "both": _binary,
    "sum": _binary,
    "product": _binary,
    "power": _binary,
    "negation": _unary,
    "minus": _unary,
    "comparison": _comparison,
    "member": _member,
    "conditional": _conditional,
}
