"""The values answers, records and profiles are made of, and how they are told apart.

Everything kept is written as JSON, which has no infinity and no NaN, and Python holds `True` equal to `1`: both would
let two different calls meet in one row. So a float that is not finite is kept as its name, and a bool is equal only
to a bool.
"""

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

from assay.errors import DeclarationError

Value = int | float | bool | str
"""A tunable's value or a scalar."""

Dimension = int | float | bool | str | tuple[int, ...]
"""What an entry or a key may name: a size, a `Shape` as a tuple, a dtype's name, a scalar, a parameter."""


def plain(value: Dimension) -> Dimension:
    """The value as it is kept: a float that is not finite becomes its name.

    >>> plain(float("-inf")), plain(1e-5), plain((2, 3))
    ('-inf', 1e-05, (2, 3))
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def same(one: Dimension, other: Dimension) -> bool:
    """Whether two values are one value: `1` and `1.0` are, `1` and `True` are not.

    >>> same(1, 1.0), same(1, True), same((2, 3), (2, 3))
    (True, False, True)
    """
    return isinstance(one, bool) == isinstance(other, bool) and plain(one) == plain(other)


def settled(values: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    """The pairs of a mapping, sorted by name and fit for a key.

    >>> settled({"eps": 1e-5, "causal": True})
    (('causal', True), ('eps', 1e-05))
    """
    kept: list[tuple[str, Value]] = []
    for name, value in sorted(values.items()):
        fit = plain(value)
        kept.append((name, str(fit) if isinstance(fit, tuple) else fit))
    return tuple(kept)


def require_finite(subject: str, figures: Iterable[tuple[str, float | None]]) -> None:
    """Refuses a figure that is NaN or infinite; None, an absent figure, is let through.

    Raises:
        DeclarationError: a figure is not finite; the message names it.
    """
    for name, figure in figures:
        if figure is not None and not math.isfinite(figure):
            raise DeclarationError(subject, f"{name} is {figure}, expected a finite number")


def require_sorted(subject: str, names: tuple[str, ...]) -> None:
    """Refuses names that are not in strictly ascending order.

    Raises:
        DeclarationError: two names are out of order, or one is there twice.
    """
    for name, after in pairwise(names):
        if name >= after:
            raise DeclarationError(subject, f"{name!r} stands before {after!r}, expected names in order, each once")
