"""Values as a caller gives them, made into the ones a record holds: scalars by their type, indices by their kind.

A call gives Python or NumPy values. A tune shape may also give text, as it is typed on a command line: ``256``,
``2x3``, ``float32``, ``1e-5``, ``true``. A truth value is never taken for a number, nor a float for an integer.
"""

import operator
from collections.abc import Callable, Mapping
from typing import SupportsIndex, cast

import numpy as np

from assay.array import dtype_name
from assay.signature.arithmetic import value_text
from assay.signature.nodes import DTYPES
from assay.signature.terms import Default, Index, IndexKind, ScalarKind, ScalarType

_INT64 = range(-(1 << 63), 1 << 63)
_LONGEST = 40
"""More digits than this are no size, however many of them are zeros in front."""


def scalar_value(declared: ScalarType, value: object) -> Default:
    """A scalar of a call as its declared type.

    Raises:
        ValueError: it is none of that type; the message says what was expected and seen.
    """
    made = _SCALARS[declared.kind](value)
    if made is None or (declared.kind == "Enum" and made not in declared.choices):
        raise ValueError(f"expected {declared}, found {_shown(value)}")
    return made


def scalar_from_text(declared: ScalarType, value: object) -> Default:
    """As `scalar_value`, text of a number or truth value accepted too.

    Raises:
        ValueError: it is none of that type, or its text is not.
    """
    if not isinstance(value, str) or declared.kind in ("Enum", "DType"):
        return scalar_value(declared, value)
    try:
        return scalar_value(declared, _TEXTS[declared.kind](value.strip()))
    except (KeyError, ValueError) as wrong:
        raise ValueError(f"expected {declared}, found {value!r}") from wrong


def index_value(index: Index, value: object) -> int | str | tuple[int, ...]:
    """An index as it is given by name: a size, sizes, or a dtype of its rows; text accepted.

    Raises:
        ValueError: it is nothing of the index's kind; the message says what was expected and seen.
    """
    made = _INDICES[index.kind](value)
    if made is None or (index.kind == "DType" and made not in index.dtypes):
        raise ValueError(f"expected {_EXPECTED[index.kind] or ' | '.join(index.dtypes)}, found {_shown(value)}")
    return made


def _shown(value: object) -> str:
    return value_text(value) if isinstance(value, bool) else repr(value)


def _integer(value: object) -> int | None:
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        return None
    try:
        made = operator.index(cast("SupportsIndex", value))
    except TypeError:
        return None
    return made if made in _INT64 else None


def _float(value: object) -> float | None:
    if isinstance(value, float | np.floating):
        return float(cast("float", value))
    integer = _integer(value)
    return None if integer is None else float(integer)


def _truth(value: object) -> bool | None:
    return bool(cast("bool", value)) if isinstance(value, bool | np.bool_) else None


def _dtype(value: object) -> str | None:
    if isinstance(value, str):
        return value if value in DTYPES else None
    try:
        name = dtype_name(np.dtype(cast("type", value)))
    except (TypeError, ValueError):
        return None
    return name if value is not None and name in DTYPES else None


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _size(value: object) -> int | None:
    if isinstance(value, str):
        digits = value.strip()
        value = int(digits) if digits.isdecimal() and len(digits) <= _LONGEST else None
    made = _integer(value)
    return made if made is not None and made >= 0 else None


def _sizes(value: object) -> tuple[int, ...] | None:
    if isinstance(value, str):
        parts: tuple[object, ...] = tuple(value.strip("()[] ").replace(",", "x").split("x"))
        parts = () if parts == ("",) else parts
    elif isinstance(value, list | tuple):
        parts = tuple(cast("list[object]", value))
    else:
        parts = (value,)
    sizes = tuple(_size(part) for part in parts)
    return None if None in sizes else cast("tuple[int, ...]", sizes)


_SCALARS: Mapping[ScalarKind, Callable[[object], Default | None]] = {
    "Int": _integer,
    "Float": _float,
    "Bool": _truth,
    "DType": _dtype,
    "Enum": _string,
}
_TEXTS: Mapping[ScalarKind, Callable[[str], object]] = {
    "Int": int,
    "Float": float,
    "Bool": lambda text: {"true": True, "false": False}[text.lower()],
}
_INDICES: Mapping[IndexKind, Callable[[object], int | str | tuple[int, ...] | None]] = {
    "Dim": _size,
    "Shape": _sizes,
    "DType": _dtype,
    "Seq[Int]": _sizes,
}
_EXPECTED: Mapping[IndexKind, str] = {
    "Dim": "a size (256)",
    "Shape": "sizes (2x3)",
    "DType": "",
    "Seq[Int]": "sizes (2x3)",
}
