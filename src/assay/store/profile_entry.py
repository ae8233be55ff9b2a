"""One entry of a profile: what it matches, what it sets, and its place in the file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from assay.errors import DeclarationError
from assay.store.values import Dimension, Value, require_finite, same


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"setting": "set"}):
    """What a profile says of the shapes it matches.

    Attributes:
        op: the op.
        kernel: the kernel that is set.
        when: the dimensions it names, each with the one value it matches; those it does not name may be anything.
        setting: the tunables it sets (``set`` in the file).
        choose: whether the kernel is the one to run.
    """

    op: str
    kernel: str
    when: dict[str, Dimension] = {}
    setting: dict[str, Value] = {}
    choose: bool = False

    def __post_init__(self) -> None:
        """Checks what the types cannot say.

        Raises:
            DeclarationError: the op or the kernel has no name, or a number is not finite.
        """
        if not self.op or not self.kernel:
            raise DeclarationError("profile entry", "op and kernel must not be empty")
        numbers = {**self.when, **self.setting}
        require_finite("profile entry", ((name, each) for name, each in numbers.items() if isinstance(each, float)))

    def __str__(self) -> str:
        """The entry as the file has it, without the comma."""
        fields: dict[str, object] = {
            "op": self.op,
            "kernel": self.kernel,
            "when": self.when,
            "set": self.setting,
        }
        if self.choose:
            fields["choose"] = True
        return json.dumps(fields)


@dataclass(frozen=True, eq=False)
class Line:
    """An entry and the text it was read from.

    Attributes:
        entry: the entry.
        text: what the file says, kept as it is for as long as the entry is; None for an entry that was made here.
        number: its line in the file; None for an entry that was made here.
    """

    entry: Entry
    text: str | None = None
    number: int | None = None

    def __str__(self) -> str:
        """The line's text."""
        return str(self.entry) if self.text is None else self.text

    @property
    def place(self) -> str:
        """The entry for a message, with its line where it has one."""
        return str(self.entry) if self.number is None else f"line {self.number} ({self.entry})"


def covers(when: Mapping[str, Dimension], dims: Mapping[str, Dimension]) -> bool:
    """Whether every dimension that is named has its value.

    >>> covers({"M": 256}, {"M": 256, "N": 8}), covers({}, {"M": 1}), covers({"K": 1}, {"M": 1})
    (True, True, False)
    """
    return all(name in dims and same(value, dims[name]) for name, value in when.items())


def alike(one: Mapping[str, Dimension], other: Mapping[str, Dimension]) -> bool:
    """Whether two name the same dimensions, or tunables, with the same values."""
    return len(one) == len(other) and covers(one, other)


def sort_key(line: Line) -> tuple[object, ...]:
    """Where an entry stands in the file: by op, then dimensions (numbers by size), then kernel."""
    entry = line.entry
    dims = tuple((name, *_placed(value)) for name, value in entry.when.items())
    return entry.op, dims, entry.kernel, str(line)


def _placed(value: Dimension) -> tuple[int, Dimension]:
    if isinstance(value, bool):
        return 0, value
    if isinstance(value, int | float):
        return 1, value
    return (2, value) if isinstance(value, tuple) else (3, value)
