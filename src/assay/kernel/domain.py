"""The values a tunable may have.

A value is one of the domain's by being equal and of one kind: ``8.0`` and NumPy's ``int64(8)`` mean ``8``; ``true``
never means ``1``. What a domain hands out is always its own value, so that settings that mean the same are equal.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import msgspec

from assay.errors import DeclarationError
from assay.kernel.setting import Value, format_value


class Domain(msgspec.Struct, frozen=True):
    """The values of one tunable, in order, distinct, at least one.

    Attributes:
        values: the values, in the order they are tried.
    """

    values: tuple[Value, ...]

    def find(self, value: object) -> Value | None:
        """The domain's own value that `value` means; None: it is not one of them."""
        plain = _plain(value)
        for own in self.values:
            if isinstance(own, bool) == isinstance(plain, bool) and own == plain:
                return own
        return None

    def __contains__(self, value: object) -> bool:
        return self.find(value) is not None

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        return "{" + ", ".join(format_value(value) for value in self.values) + "}"


def declare_domain(subject: str, values: object) -> Domain:
    """The domain of the values a kernel lists.

    Args:
        subject: what is declared, for the error: ``tiled.MR``.
        values: an iterable of ints, floats, bools or texts; NumPy's scalars count as Python's.

    Raises:
        DeclarationError: no values, a value twice, a value that is no such scalar or is not finite.
    """
    if isinstance(values, Domain):
        return values
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise DeclarationError(subject, f"its values are {values!r}; expected a list of values", "write [value, …]")
    kept: list[Value] = []
    for given in cast("Iterable[object]", values):
        value = _plain(given)
        if not isinstance(value, (int, float, bool, str)) or (isinstance(value, float) and not math.isfinite(value)):
            raise DeclarationError(subject, f"{given!r} is not a finite int or float, a bool or a text")
        if value in kept:
            raise DeclarationError(subject, f"{format_value(value)} is listed twice", "list each value once")
        kept.append(value)
    if not kept:
        raise DeclarationError(subject, "has no values", "list at least one")
    return Domain(tuple(kept))


def _plain(value: object) -> object:
    """A NumPy scalar as Python's own; anything else as it is."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value
