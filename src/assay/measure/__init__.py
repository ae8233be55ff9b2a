"""How long does it take, and is one thing really faster than another?"""

from assay.measure.confirmation import Confirmation, Decision, Evidence, Judge, Outcome, Pair, confirm, decide
from assay.measure.guard import Block, MeanGuard, mean_ratio, summarise, surplus_chance
from assay.measure.measurement import Measurement, measurement
from assay.measure.placement import Placed, Placements
from assay.measure.protocol import CONFIRM_BLOCKS, SELECT_BLOCKS_PER_ENTRANT, Protocol
from assay.measure.race import Race, race
from assay.measure.sampler import CallSampler, EntrantFailure, Sample, Sampler
from assay.measure.selection import Selection, Standing, plan_rounds, select
from assay.measure.statistics import (
    add_errors,
    evidence,
    false_gain_rate,
    gain_rate,
    median,
    median_difference,
    median_error,
    midmean,
    sign_interval,
    wins_needed,
)

__all__ = [
    "CONFIRM_BLOCKS",
    "SELECT_BLOCKS_PER_ENTRANT",
    "Block",
    "CallSampler",
    "Confirmation",
    "Decision",
    "EntrantFailure",
    "Evidence",
    "Judge",
    "MeanGuard",
    "Measurement",
    "Outcome",
    "Pair",
    "Placed",
    "Placements",
    "Protocol",
    "Race",
    "Sample",
    "Sampler",
    "Selection",
    "Standing",
    "add_errors",
    "confirm",
    "decide",
    "evidence",
    "false_gain_rate",
    "gain_rate",
    "mean_ratio",
    "measurement",
    "median",
    "median_difference",
    "median_error",
    "midmean",
    "plan_rounds",
    "race",
    "select",
    "sign_interval",
    "summarise",
    "surplus_chance",
    "wins_needed",
]
