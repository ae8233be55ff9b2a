"""The arithmetic of expressions: Python's, on exact integers, with nothing that could grow without bound.

A power whose result would be longer than `MAX_POWER_BITS` has no value, and neither has one that is not a real number.
Truth values count as 0 and 1; strings and shapes are no numbers.
"""

import math
from collections.abc import Callable, Mapping
from typing import cast

Plain = int | float | bool | str
Value = Plain | tuple[int, ...]
Number = int | float

MAX_POWER_BITS = 4096


class EvaluationError(ValueError):
    """An expression has no value on these facts; the message says why."""


def literal_text(constant: Plain) -> str:
    """A constant as it is written; a float has digits on both sides of its point.

    >>> literal_text(1e-05), literal_text(True), literal_text("causal")
    ('1.0e-05', 'true', '"causal"')
    """
    if isinstance(constant, bool):
        return "true" if constant else "false"
    if isinstance(constant, str):
        return f"'{constant}'" if '"' in constant else f'"{constant}"'
    text = repr(constant)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def value_text(value: object) -> str:
    """A value as a message shows it: truth values as they are written in an expression, the rest as Python shows it."""
    return literal_text(value) if isinstance(value, bool) else str(value)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > MAX_POWER_BITS:
        raise EvaluationError(f"{base} ** {exponent} is longer than {MAX_POWER_BITS} bits")
    result: object = base**exponent
    if isinstance(result, complex):
        raise EvaluationError(f"{base} ** {exponent} is not a real number")
    return cast("Number", result)


ARITHMETIC: Mapping[str, Callable[[Number, Number], Number]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "//": lambda left, right: left // right,
    "%": lambda left, right: left % right,
    "**": _power,
}
FUNCTIONS: Mapping[str, Callable[[list[Number]], Number]] = {
    "min": min,
    "max": max,
    "abs": lambda values: abs(values[0]),
    "ceil": lambda values: math.ceil(values[0]),
    "floor": lambda values: math.floor(values[0]),
    "log2": lambda values: math.log2(values[0]),
}
"""The functions of numbers."""

TAKE_MANY = frozenset({"min", "max"})
"""The functions of two or more arguments; the others take one."""

_ORDERED: Mapping[str, Callable[[Number, Number], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def computed(compute: Callable[[], Number]) -> Number:
    """What a computation gives.

    Raises:
        EvaluationError: it has no result (a division by zero, the logarithm of 0).
    """
    try:
        return compute()
    except ZeroDivisionError:
        raise EvaluationError("division by zero") from None
    except (OverflowError, ValueError) as impossible:
        raise EvaluationError(str(impossible)) from impossible


def number(value: object) -> Number:
    """A value that must be a number, as it is.

    Raises:
        EvaluationError: it is a string or a shape.
    """
    if isinstance(value, int | float):
        return value
    raise EvaluationError(f"{value!r} is not a number")


def truth(value: object) -> bool:
    """Whether a number, or a truth value, is other than 0.

    Raises:
        EvaluationError: it is a string or a shape.
    """
    return number(value) != 0


def compare(sign: str, left: Value, right: Value) -> bool:
    """Whether two values stand in the relation a sign names; only numbers are ordered.

    Raises:
        EvaluationError: an ordering of a string or a shape.
    """
    if sign in ("==", "!="):
        return (left == right) == (sign == "==")
    return _ORDERED[sign](number(left), number(right))
