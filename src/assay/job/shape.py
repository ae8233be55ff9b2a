"""How shapes and budgets are read from the text a person types."""

import re

from assay.errors import TargetError

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BUDGET = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h)?")


def read_shape(text: str) -> dict[str, str]:
    """The indices a text gives, as typed.

    Args:
        text: ``NAME=VALUE`` pairs with commas between; an op knows what each value may be.

    Raises:
        TargetError: a pair has no name or no value, or a name comes twice.

    >>> read_shape("M=256, B=2x3,T=float32")
    {'M': '256', 'B': '2x3', 'T': 'float32'}
    """
    found: dict[str, str] = {}
    for pair in text.split(","):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (name and equals and value):
            raise TargetError(
                f"shape {text!r}", f"expected NAME=VALUE, got {pair.strip()!r}", "write it as M=256,N=256"
            )
        if name in found:
            raise TargetError(f"shape {text!r}", f"{name} is given twice")
        found[name] = value
    return found


def read_budget(text: str) -> float:
    """The seconds a budget gives: ``60``, ``60s``, ``2m`` or ``1h``.

    Raises:
        TargetError: it is no time above zero.

    >>> read_budget("60s"), read_budget("2m"), read_budget("90")
    (60.0, 120.0, 90.0)
    """
    found = _BUDGET.fullmatch(text.strip().lower())
    seconds = float(found[1]) * _SECONDS[found[2] or ""] if found else 0.0
    if seconds <= 0:
        raise TargetError(f"budget {text!r}", "expected a time above zero", "write it as 60s, 2m or 90")
    return seconds
