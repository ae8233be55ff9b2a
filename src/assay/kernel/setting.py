"""What is chosen: a value for each tunable, the kernel it belongs to, and how much a kernel's author vouches for it.

Values are plain scalars, kept in the order the kernel declares its tunables, so that two equal settings are one
object's worth of text, hash and bytes wherever they come from.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

Value = int | float | bool | str


Tier = Literal["synthesized", "emitted", "hand-tuned"]
"""How a kernel came to be."""

TIERS: tuple[Tier, ...] = ("synthesized", "emitted", "hand-tuned")
"""The tiers from least to most preferred while nothing is measured."""


class Setting(msgspec.Struct, frozen=True):
    """A value per tunable, in the kernel's order of tunables.

    >>> str(Setting.of({"MR": 8, "NR": 16}))
    'MR=8, NR=16'

    Attributes:
        pairs: (tunable, value) in order; empty for a kernel without tunables.
    """

    pairs: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Value] | Iterable[tuple[str, Value]]) -> "Setting":
        """The setting of a mapping, in the mapping's order."""
        return cls(tuple(dict(values).items()))

    def as_dict(self) -> dict[str, Value]:
        """The values by tunable, in order."""
        return dict(self.pairs)

    def encoded(self) -> bytes:
        """The setting as bytes that no other setting has: ``1``, ``1.0`` and ``true`` differ."""
        return msgspec.json.encode(self.pairs)

    def distance(self, other: "Setting") -> int:
        """How many tunables have another value in `other`.

        >>> Setting.of({"MR": 8, "NR": 16}).distance(Setting.of({"MR": 4, "NR": 16}))
        1
        """
        theirs = other.as_dict()
        return sum(theirs.get(name) != value for name, value in self.pairs)

    def __str__(self) -> str:
        return ", ".join(f"{name}={format_value(value)}" for name, value in self.pairs)


class Entrant(msgspec.Struct, frozen=True):
    """A kernel at a setting: what is built, judged and timed.

    >>> str(Entrant("tiled", Setting.of({"MR": 8})))
    'tiled[MR=8]'
    >>> str(Entrant("numpy"))
    'numpy'
    """

    kernel: str
    setting: Setting = Setting()

    def __str__(self) -> str:
        return f"{self.kernel}[{self.setting}]" if self.setting.pairs else self.kernel


def format_value(value: Value) -> str:
    """A value as users write it in expressions: ``true``, ``0.5``, ``row``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
