"""The numbers a race follows, kept beside whatever it decides."""

import math

import msgspec

from assay.errors import MeasureError


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """How a race is run. Two figures compare only if their protocols are equal.

    Attributes:
        name: ``race``.
        margin: the part of the default's time a candidate must save to win a pair; 0 takes any gain.
        alpha: the largest false-gain rate the confirming test may have.
        max_pairs: confirming pairs after which a race ends without a gain.
        futility: the evidence for losses at which it ends early; ``None`` never ends it early.
        target_block_ns: a block has as many calls as fill this time, if `min_calls` or `max_calls` do not.
        min_calls: calls of a block that selects, at least.
        max_calls: calls of a block that confirms, at least.
        placements: sets of buffers the calls rotate over.
        cutoff: in selection, an entrant slower than this many times the fastest after `settle` rounds is stopped;
            inf stops none.
        settle: rounds before `cutoff` applies.
        far: a call slower than this many times the default's beside it is far (see `assay.measure.guard`).
        seed: what all that is drawn is drawn from.

    Raises:
        MeasureError: a number is out of its range; the message names it.
    """

    name: str = "race"
    margin: float = 0.01
    alpha: float = 0.05
    max_pairs: int = 64
    futility: float | None = 4.0
    target_block_ns: int = 50_000
    min_calls: int = 3
    max_calls: int = 5
    placements: int = 8
    cutoff: float = 1.5
    settle: int = 2
    far: float = 1.5
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuses numbers no race can follow."""
        _require("margin", self.margin, "from 0 up to, not including, 1", 0 <= self.margin < 1)
        _require("alpha", self.alpha, "between 0 and 1", 0 < self.alpha < 1)
        _require("max_pairs", self.max_pairs, "from 1 to 96", 1 <= self.max_pairs <= _MOST_PAIRS)
        _require("futility", self.futility, "above 1, or None", self.futility is None or self.futility > 1)
        _require("target_block_ns", self.target_block_ns, "at least 1 ns", self.target_block_ns >= 1)
        _require("min_calls", self.min_calls, "at least 1", self.min_calls >= 1)
        _require("max_calls", self.max_calls, "at least min_calls", self.max_calls >= self.min_calls)
        _require("placements", self.placements, "at least 1", self.placements >= 1)
        _require("cutoff", self.cutoff, "above 1 (inf stops none)", self.cutoff > 1)
        _require("settle", self.settle, "at least 1", self.settle >= 1)
        _require("far", self.far, "above 1", math.isfinite(self.far) and self.far > 1)
        _require("seed", self.seed, "at least 0", self.seed >= 0)


_MOST_PAIRS = 96
"""Two blocks a pair, and a race may confirm on at most `CONFIRM_BLOCKS`: this leaves some for repeats."""

SELECT_BLOCKS_PER_ENTRANT = 20
"""Blocks selection may use for each entrant."""

CONFIRM_BLOCKS = 220
"""Blocks confirmation may use, whatever the number of entrants; repeats of spoilt ones included."""


def _require(name: str, value: object, expected: str, holds: bool) -> None:  # noqa: FBT001 - a condition, not a switch
    if not holds:
        raise MeasureError(f"{name}={value}", f"expected {expected}")
