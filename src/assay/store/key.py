"""What an answer is kept under: the key, how coarse its sizes are, and the checksum of the list it was decided under.

A key is one value in memory and in storage: its text is the JSON of its fields, and a row's id is the digest of that
text and the checksum. A field that has its default is not written, so a field added later leaves old ids as they are.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

import msgspec

from assay.errors import CallError, DeclarationError, StoreError
from assay.store.values import Value, require_finite, require_sorted

Level = Literal["minimal", "balanced", "extensive", "full"]
"""How coarse sizes are in a key: powers of four, of two, of the square root of two, or as they are."""

LEVELS: tuple[Level, ...] = get_args(Level)
DEFAULT_LEVEL: Level = "balanced"

Size = int | tuple[int, ...]
Pairs = tuple[tuple[str, Value], ...]

_ID_DIGITS = 32


class AnswerKey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an answer holds for.

    Attributes:
        device: key of the device's fingerprint: what it is, not its ordinal.
        mode: its power mode (``performance``), or ``unknown``.
        target: the backend (``cpu``).
        op: the op's full name.
        sizes: every `Dim` and `Shape`, by name in order, rounded up by `anchored`.
        dtypes: every tensor's or index's dtype name, by name in order.
        branch: the discriminants something reads, by name in order.
        scalars: the scalars and parameters that matter, by name in order.
        layout: the layout features the kernels' `serves` read (``a.contiguous``), by name in order.
        level: how coarse `sizes` are.
        timing: what clock the figures come from: ``wall``, or a device's ``event`` clock.
    """

    device: str
    mode: str
    target: str
    op: str
    sizes: tuple[tuple[str, Size], ...] = ()
    dtypes: tuple[tuple[str, str], ...] = ()
    branch: Pairs = ()
    scalars: Pairs = ()
    layout: Pairs = ()
    level: Level = DEFAULT_LEVEL
    timing: str = "wall"

    def __post_init__(self) -> None:
        """Checks that the fields are in the one form a key may have.

        Raises:
            DeclarationError: names are out of order, a float is not finite, or a size is not rounded to the level.
        """
        for field in (self.sizes, self.dtypes, self.branch, self.scalars, self.layout):
            require_sorted(f"key of {self.op}", tuple(name for name, _ in field))
        for field in (self.branch, self.scalars, self.layout):
            require_finite(f"key of {self.op}", ((name, value) for name, value in field if isinstance(value, float)))
        if self.sizes != anchored(dict(self.sizes), self.level):
            raise DeclarationError(f"key of {self.op}", f"sizes {dict(self.sizes)} are not rounded to {self.level}")

    def __str__(self) -> str:
        """The key as one line of JSON; `parse` reads it back."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def parse(cls, text: str) -> "AnswerKey":
        """The key a line was printed from.

        Raises:
            StoreError: the text is not a key; the message says why.
        """
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, ValueError) as unread:
            raise StoreError("key", f"{text!r} is not one: {unread}", "copy it from `assay records`") from unread

    @property
    def label(self) -> str:
        """The key for a person: ``gemm M=256 T=float32 (performance)``."""
        pairs = (*self.sizes, *self.dtypes, *self.branch, *self.scalars, *self.layout)
        words = (f"{name}={_shown(value)}" for name, value in pairs)
        return " ".join((self.op, *words, f"({self.mode})"))


def anchor(size: int, level: Level = DEFAULT_LEVEL) -> int:
    """A size rounded up to the level's steps; what is already a step stays, and so does zero.

    The steps are powers of 4 (``minimal``), of 2 (``balanced``) or of the square root of 2, rounded up
    (``extensive``); ``full`` has every size. All in integers, so no size is off by a rounding of a logarithm.

    >>> [anchor(size) for size in (0, 1, 2, 3, 16, 17)]
    [0, 1, 2, 4, 16, 32]
    >>> [anchor(17, level) for level in ("minimal", "extensive", "full")]
    [64, 23, 17]

    Raises:
        CallError: the size is negative or no integer, or the level does not exist.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:  # pyright: ignore[reportUnnecessaryIsInstance] callers pass what users wrote
        raise CallError(f"size {size!r}", "expected an integer, 0 or more")
    if level not in LEVELS:
        raise CallError(f"level {level!r}", f"expected one of {', '.join(LEVELS)}")
    if size == 0 or level == "full":
        return size
    power = (size - 1).bit_length()
    if level == "minimal":
        return 1 << (power + power % 2)
    if level == "extensive" and power > 0:
        between = math.isqrt((1 << (2 * power - 1)) - 1) + 1  # 2 ** (power - 1/2), rounded up
        return between if size <= between else 1 << power
    return 1 << power


def anchored(sizes: Mapping[str, Size], level: Level = DEFAULT_LEVEL) -> tuple[tuple[str, Size], ...]:
    """The sizes of a call as a key holds them: by name in order, each rounded up; a `Shape` axis by axis.

    >>> anchored({"N": 17, "B": (3, 5)})
    (('B', (4, 8)), ('N', 32))

    Raises:
        CallError: a size is negative or no integer, or the level does not exist.
    """
    return tuple(
        (name, tuple(anchor(axis, level) for axis in size) if isinstance(size, tuple) else anchor(size, level))
        for name, size in sorted(sizes.items())
    )


def digest(parts: Iterable[str | bytes]) -> str:
    """The SHA-256 of the parts, each with its kind and length before it, in hexadecimal.

    >>> digest(["ab", "c"]) == digest(["a", "bc"])
    False
    """
    state = hashlib.sha256()
    for part in parts:
        kind, content = ("s", part.encode("utf-8", "surrogatepass")) if isinstance(part, str) else ("b", part)
        state.update(f"{kind}{len(content)}:".encode())
        state.update(content)
    return state.hexdigest()


def checksum(candidates: Iterable[Iterable[str]]) -> str:
    """The checksum of a candidate list, in its order.

    Args:
        candidates: what tells each candidate apart: name, tunables with their domains, build identity.
    """
    return digest(digest(parts) for parts in candidates)


def row_id(key: AnswerKey, checksum: str) -> str:
    """The id of an answer's row: half a digest of the key's text and the checksum."""
    return digest((str(key), checksum))[:_ID_DIGITS]


def _shown(value: Value | Size) -> str:
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
