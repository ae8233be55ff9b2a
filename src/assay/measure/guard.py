"""The mean guard: whether the mean of the calls agrees with the sign test.

A sign test on block medians does not see how slow the slow calls are: a candidate that is 2 % faster in 60 calls of
100 and 20 % slower in the others can win most pairs and lose time all the same. So a gain also needs the mean of the
candidate's clean calls to lie below ``(1 - margin)`` times that of the default's.

A mean is at the mercy of its slowest calls, and a machine has slow moments no counter reports. A call slower than
``far`` times the default's median beside it is *far*. Far calls that befall both are the machine's: they count as
``far`` times that median, so that chance in who was hit does not decide. Where so many fall to the candidate that
chance would give it as many in one case of four or fewer (two against none, five against two), they are held to be
its own and count in full; that delays a gain rather than denying it, for the race goes on and the count with it.
Nothing is ever dropped for its time.

What this cannot see: a slow mode so rare that a race that ends early meets it once or never. Choosing by a high
quantile is the objective for that.

Source: the clipping is Huber's (1964), "Robust estimation of a location parameter"; the conditional test of two
    counts is Przyborowski and Wilenski (1940).
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from assay.measure.statistics import median

_OWN_FAR = 0.25
"""Chance up to which a surplus of far calls is held to be the candidate's own. On a simulated machine where 5 % of all
calls take ten times as long, a candidate 2 % faster is confirmed in 96 of 100 races; at 5 % instead of a quarter in
97, but there a candidate with 5 % such calls of its own is taken twice as often."""


_EXACT = 500
"""Far calls up to which their chance is computed exactly; beyond it the normal approximation is right to 1 in 1000."""


class Block(msgspec.Struct, frozen=True):
    """What is kept of one confirming block.

    Attributes:
        median_ns: the median of its clean calls.
        mean_ns: their mean.
        clipped_ns: their mean with far calls counted as the far limit.
        far: how many were far.
        calls: how many there were.
    """

    median_ns: float
    mean_ns: float
    clipped_ns: float
    far: int
    calls: int


def summarise(times_ns: Sequence[float], limit_ns: float) -> Block:
    """What is kept of a block whose calls are far above `limit_ns`.

    Raises:
        ValueError: there are no calls.

    Example:
        >>> summarise([10.0, 11.0, 99.0], limit_ns=20.0)
        Block(median_ns=11.0, mean_ns=40.0, clipped_ns=13.666666666666666, far=1, calls=3)
    """
    calls, total = len(times_ns), math.fsum(times_ns)
    middle = median(times_ns)
    beyond = [time for time in times_ns if time > limit_ns]
    clipped = total - math.fsum(beyond) + limit_ns * len(beyond)
    return Block(middle, total / calls, clipped / calls, len(beyond), calls)


class MeanGuard:
    """A running comparison of two means.

    Args:
        margin: the part of the default's mean the candidate's must save.
    """

    def __init__(self, margin: float) -> None:
        self._keep = 1 - margin
        self._candidate = [0.0, 0.0]  # sums of the means: in full, clipped
        self._default = [0.0, 0.0]
        self._far = [0, 0]  # far calls: the candidate's, the default's

    def add(self, candidate: Block, default: Block) -> None:
        """Takes one pair into account."""
        self._candidate[0] += candidate.mean_ns
        self._candidate[1] += candidate.clipped_ns
        self._default[0] += default.mean_ns
        self._default[1] += default.clipped_ns
        self._far[0] += candidate.far
        self._far[1] += default.far

    @property
    def ratio(self) -> float:
        """The candidate's mean over the default's, far calls weighed as the module says; needs at least one pair."""
        which = 0 if surplus_chance(self._far[0], self._far[1]) <= _OWN_FAR else 1
        return self._candidate[which] / self._default[which]

    @property
    def agrees(self) -> bool:
        """Whether the mean, too, says that the candidate is faster by more than the margin."""
        return self.ratio < self._keep


def mean_ratio(pairs: Iterable[tuple[Block, Block]]) -> float:
    """The candidate's mean over the default's, of pairs of a candidate's and a default's block.

    Raises:
        ZeroDivisionError: there are no pairs.
    """
    guard = MeanGuard(0.0)
    for candidate, default in pairs:
        guard.add(candidate, default)
    return guard.ratio


@cache
def surplus_chance(candidate: int, default: int) -> float:
    """The chance that at least `candidate` of all far calls fall to the candidate when each is as likely either's.

    Example:
        >>> surplus_chance(0, 0), surplus_chance(5, 0), surplus_chance(2, 2)
        (1.0, 0.03125, 0.6875)
    """
    total = candidate + default
    if total > _EXACT:
        return 0.5 * math.erfc((candidate - 0.5 - total / 2) / math.sqrt(total / 2))
    return sum(math.comb(total, share) for share in range(candidate, total + 1)) / 2**total
