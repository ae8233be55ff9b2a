"""What every block of a stage has in common, decided once from the default, and whether a block came out of it usable.

All entrants of a stage are given the same number of calls a block and the same bound on waiting: a median depends on
how many calls it is of.
"""

import math

import msgspec

from assay.errors import MeasureError
from assay.measure.protocol import Protocol
from assay.measure.sampler import EntrantFailure, Sample, Sampler
from assay.measure.statistics import median

_WAIT_FLOOR_NS = 2_000
"""A wait up to this is the counter's own grain: a thread that wakes on an idle core shows as much."""

_WAIT_SHARE = 0.005
"""A wait up to this share of the default's time is half the shipped margin: it cannot make or break a gain."""

_MOST_CALLS = 1_000
"""Calls of a block at most, however short they are."""

_TRIES = 8
"""Blocks the default may take to come out clean once, before the place is said to be too busy."""


class BlockPlan(msgspec.Struct, frozen=True):
    """The blocks of a stage.

    Attributes:
        calls: how many clean calls a block should have.
        wait_limit_ns: a call that waited longer for a processor is dropped.
    """

    calls: int
    wait_limit_ns: int


class Tally:
    """The blocks and calls a stage has used so far."""

    def __init__(self) -> None:
        self.blocks = 0
        self.clean = 0
        self.dropped = 0

    def take(self, sample: Sample) -> None:
        """Counts one block."""
        self.blocks += 1
        self.clean += len(sample.times_ns)
        self.dropped += sample.dropped

    @property
    def trouble(self) -> str | None:
        """Why the stage's figures are refused: fewer than half its calls were clean; None when they stand."""
        made = self.clean + self.dropped
        if 2 * self.clean >= made:
            return None
        return f"{self.dropped} of {made} calls waited for a CPU: at least half must not"


def plan_blocks(sampler: Sampler, default: int, least: int, protocol: Protocol, tally: Tally) -> BlockPlan | None:
    """The plan of a stage's blocks, from as many blocks of the default as it takes to get a clean one.

    Args:
        sampler: runs the blocks.
        default: the entrant all others are compared with.
        least: calls a block has at least.
        protocol: gives the time a block should fill.
        tally: counts the blocks used here.

    Returns:
        The plan; None when the default never came out clean.

    Raises:
        MeasureError: the default failed, or is too fast to time.
    """
    for placement in range(_TRIES):
        sample = run_block(sampler, default, placement, BlockPlan(least, _WAIT_FLOOR_NS), tally)
        if is_clean(sample, least):
            call_ns = median(sample.times_ns)
            if not is_time(call_ns):
                raise MeasureError("default", f"a call takes {call_ns} ns by this clock", "it is too fast to time")
            calls = max(least, math.ceil(protocol.target_block_ns / call_ns))
            return BlockPlan(min(calls, _MOST_CALLS), max(_WAIT_FLOOR_NS, round(call_ns * _WAIT_SHARE)))
    return None


def run_block(sampler: Sampler, default: int, placement: int, plan: BlockPlan, tally: Tally) -> Sample:
    """A block of the default, which must not fail.

    Raises:
        MeasureError: it did.
    """
    try:
        sample = sampler.block(default, placement, plan.calls, plan.wait_limit_ns)
    except EntrantFailure as failure:
        raise MeasureError("default", str(failure), "nothing can be compared with it") from failure
    tally.take(sample)
    return sample


def is_clean(sample: Sample, calls: int) -> bool:
    """Whether at least half the calls asked for are there."""
    return 2 * len(sample.times_ns) >= calls


def is_time(time_ns: float) -> bool:
    """Whether a figure is one: positive and finite."""
    return 0 < time_ns < math.inf
