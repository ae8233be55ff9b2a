"""From text to a signature or an expression, or to an error that says where the text goes wrong.

The grammar is `grammar.lark`, read by an LALR parser that is built once, when the first text is parsed; lark is loaded
no sooner. Whether a signature that reads well also makes sense is settled in `declare`.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import DeclarationError, SignatureError
from assay.signature.declare import refuse_unsatisfiable
from assay.signature.expression import Expr
from assay.signature.expression_tree import TextError, build_node
from assay.signature.signature import Signature
from assay.signature.signature_tree import build_signature

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

_KINDS = {"NAME": "a name", "INTEGER": "an integer", "FLOAT": "a float", "STRING": "a string", "$END": "the end"}
_STARTS_EXPRESSION = frozenset({"INTEGER", "FLOAT", "STRING", "NAME", "MINUS", "LPAR"})
_JOINS_NUMBERS = frozenset({"PLUS", "MINUS", "TIMES", "DIVIDE", "FLOOR_DIVIDE", "MODULO", "POWER"})
_JOINS_TRUTHS = frozenset({"COMPARE", "_IN", "NOT", "AND", "OR"})


def parse(text: str) -> Signature:
    """The signature a text says.

    Raises:
        SignatureError: the text cannot be parsed (the message gives line, column and what was expected), or no call
            could ever satisfy it.
    """
    try:
        signature = build_signature(_tree(text, "signature"))
    except TextError as wrong:
        raise SignatureError("signature", _located(wrong)) from wrong
    refuse_unsatisfiable(signature)
    return signature


def parse_expr(text: str, subject: str) -> Expr:
    """The expression a text says.

    Args:
        text: the expression.
        subject: what it belongs to, for the error message (``gemm flops``).

    Raises:
        DeclarationError: the text cannot be parsed; the message gives line, column and what was expected.
    """
    try:
        return Expr(build_node(_tree(text, "expression").children[0]))
    except TextError as wrong:
        raise DeclarationError(subject, f"{text!r}: {_located(wrong)}") from wrong


@cache
def _parser() -> "Lark":
    from lark import Lark

    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=["signature", "expression"], maybe_placeholders=True)


def _tree(text: str, start: Literal["signature", "expression"]) -> "Tree[Token]":
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    parser: Any = _parser()
    try:
        return parser.parse(text, start=start)
    except UnexpectedCharacters as caught:
        wrong: Any = caught
        before = parser.parse_interactive(text[: wrong.pos_in_stream], start=start)
        before.exhaust_lexer()
        token = Token("CHARACTER", wrong.char, line=wrong.line, column=wrong.column)
        raise TextError(token, f"expected {_expectation(before.accepts())}, found {wrong.char!r}") from caught
    except UnexpectedToken as caught:
        wrong = caught
        if wrong.token.type != "$END":
            found, line, column = repr(str(wrong.token)), wrong.line, wrong.column
        else:
            found, line, column = "the end", text.count("\n") + 1, len(text) - text.rfind("\n")
        token = Token("FOUND", found, line=line, column=column)
        raise TextError(token, f"expected {_expectation(wrong.accepts or wrong.expected)}, found {found}") from caught


def _located(wrong: TextError) -> str:
    return f"line {wrong.line}, column {wrong.column}: {wrong}"


def _expectation(terminals: Iterable[str]) -> str:
    """What may stand at a place, in words: the many signs an expression can start or go on with become one."""
    left, said = set(terminals), list[str]()
    for group, words in (
        (_STARTS_EXPRESSION, "an expression"),
        (_JOINS_NUMBERS | _JOINS_TRUTHS, "an operator"),
        (_JOINS_NUMBERS, "an operator"),
    ):
        if group <= left:
            left -= group | {"NOT"}
            said.append(words)
    return " or ".join([*said, *sorted(_terminal_text(terminal) for terminal in left)])


def _terminal_text(terminal: str) -> str:
    if terminal in _KINDS:
        return _KINDS[terminal]
    return repr(_parser().get_terminal(terminal).pattern.value.removesuffix(r"\b"))
