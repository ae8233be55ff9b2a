"""The statistics of a race: pure functions of counts and figures.

The confirming test is a sign test whose evidence may be looked at after every pair. After ``t`` pairs with ``k`` wins
the evidence is how much likelier this sequence is if the chance of a win is above one half (every chance from one
half to one, mixed evenly) than if it is one half. Where the chance is one half or less, the evidence ever reaches
``1/α`` with a chance of at most ``α`` (Ville's inequality), however often it is looked at.

Source: the beta-binomial mixture of Robbins (1970), "Statistical methods related to the law of the iterated
    logarithm"; Howard, Ramdas, McAuliffe, Sekhon (2021), "Time-uniform, nonparametric, nonasymptotic confidence
    sequences"; Ville (1939).
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

_NORMAL_MEDIAN = math.sqrt(math.pi / 2)
"""Standard error of a median over that of a mean, normal samples, many of them."""


@cache
def evidence(wins: int, pairs: int) -> Fraction:
    """The evidence of `wins` among `pairs` for a win chance above one half, exactly.

    ``E = Σ_{j≤k} C(t+1, j) / ((t+1)·C(t, k))``.

    Raises:
        ValueError: the counts cannot be.

    Example:
        >>> float(evidence(7, 7)), float(evidence(0, 0))
        (31.875, 1.0)
    """
    if not 0 <= wins <= pairs:
        raise ValueError(f"{wins} wins of {pairs} pairs: wins are from 0 to the number of pairs")
    return Fraction(sum(math.comb(pairs + 1, j) for j in range(wins + 1)), (pairs + 1) * math.comb(pairs, wins))


@cache
def wins_needed(pairs: int, bound: float) -> int:
    """The fewest wins of `pairs` whose evidence reaches `bound`; ``pairs + 1`` where none does.

    Example:
        >>> [wins_needed(pairs, 20.0) for pairs in (6, 7, 16, 32, 64)]
        [7, 7, 14, 24, 44]
    """
    limit = Fraction(bound)
    for wins in range(pairs + 1):  # evidence grows with wins
        if evidence(wins, pairs) >= limit:
            return wins
    return pairs + 1


def false_gain_rate(alpha: float, max_pairs: int, futility: float | None = None) -> float:
    """The chance that equals are claimed to differ: the stopping rule, by dynamic programming over pairs and wins.

    Args:
        alpha: a gain is claimed at evidence ``1/alpha``.
        max_pairs: pairs after which the race ends.
        futility: evidence for losses at which it ends early; None: it never does, which gives the larger rate.

    Example:
        >>> round(false_gain_rate(0.05, 64), 4), round(false_gain_rate(0.05, 64, futility=4.0), 4)
        (0.0266, 0.0265)
    """
    return gain_rate(0.5, alpha, max_pairs, futility)


def gain_rate(win_chance: float, alpha: float, max_pairs: int, futility: float | None = None) -> float:
    """The chance that the stopping rule claims a gain when each pair is won with `win_chance`, independently.

    Example:
        >>> gain_rate(1.0, 0.05, 7), gain_rate(1.0, 0.05, 6)
        (1.0, 0.0)
    """
    claimed = 0.0
    running = [1.0]  # chance of being still in the race with this many wins
    for pairs in range(1, max_pairs + 1):
        after = [0.0] * (pairs + 1)
        for wins, chance in enumerate(running):
            after[wins + 1] += chance * win_chance
            after[wins] += chance * (1 - win_chance)
        gain_at = wins_needed(pairs, 1 / alpha)
        claimed += sum(after[gain_at:])
        after[gain_at:] = [0.0] * len(after[gain_at:])
        if futility is not None:
            hopeless = pairs - wins_needed(pairs, futility)
            after[: hopeless + 1] = [0.0] * max(hopeless + 1, 0)
        running = after
    return claimed


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two.

    Raises:
        ValueError: there are no values.

    Example:
        >>> median([5.0, 1.0, 100.0]), median([1.0, 3.0])
        (5.0, 2.0)
    """
    count = len(values)
    if not count:
        raise ValueError("the median of no values")
    ordered = sorted(values)
    half = count >> 1
    return ordered[half] if count & 1 else (ordered[half - 1] + ordered[half]) / 2


def midmean(values: Sequence[float]) -> float:
    """The mean of the middle half: nearly as steady as a mean, and nearly as deaf to outliers as a median.

    Raises:
        ValueError: there are no values.

    Example:
        >>> midmean([1.0, 2.0, 4.0, 900.0]), midmean([1.0, 2.0])
        (3.0, 1.5)
    """
    cut = len(values) // 4
    middle = sorted(values)[cut : len(values) - cut]
    if not middle:
        raise ValueError("the mean of no values")
    return math.fsum(middle) / len(middle)


def median_error(values: Sequence[float]) -> float | None:
    """The standard error of the median of `values`; None, unknown, from fewer than two.

    The median's error under normal noise, from the sample deviation divided by its small-sample bias: few samples
    show less than their spread.

    Source: ``c4`` of Holtzman (1950), "The unbiased estimation of the population variance and standard deviation".

    Example:
        >>> round(median_error([1.0, 3.0]), 3), median_error([1.0])
        (1.571, None)
    """
    count = len(values)
    if count < 2:
        return None
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    return _NORMAL_MEDIAN * deviation / _small_sample_factor(count) / math.sqrt(count)


def median_difference(one: Sequence[float], other: Sequence[float]) -> tuple[float, float | None]:
    """How much larger `one` is than `other`, and the standard error of that: the median of paired differences.

    What moves both figures of a pair cancels, so a drift leaves the difference right.

    Args:
        one: a figure per round.
        other: the figure beside it, of the same round.

    Returns:
        The difference, and its standard error; None, unknown, from a single round.

    Raises:
        ValueError: the rounds do not pair, or there are none.

    Example:
        >>> median_difference([11.0, 21.0, 31.0], [10.0, 20.0, 30.0])
        (1.0, 0.0)
    """
    differences = [mine - beside for mine, beside in zip(one, other, strict=True)]
    return median(differences), median_error(differences)


def add_errors(errors: Sequence[float | None]) -> float | None:
    """The standard error of a sum of independent terms; one unknown makes it unknown.

    Example:
        >>> add_errors([3.0, 4.0]), add_errors([3.0, None])
        (5.0, None)
    """
    known = [error for error in errors if error is not None]
    return math.hypot(*known) if len(known) == len(errors) else None


def sign_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """The interval of the median that the sign test does not reject: two order statistics of `values`.

    Returns:
        Its ends; None where there are too few values for any interval (at 95 %, fewer than six).

    Example:
        >>> sign_interval([0.97, 0.98, 0.96, 0.99, 0.95, 0.94, 0.93])
        (0.93, 0.99)
        >>> sign_interval([0.97, 0.98, 0.96, 0.99, 0.95]) is None
        True
    """
    rank = _interval_rank(len(values), confidence)
    if rank == 0:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[-rank]


@cache
def _interval_rank(count: int, confidence: float) -> int:
    """The largest rank whose binomial tail keeps to its half of what `confidence` leaves; 0 for none."""
    tail, limit = 0, (1 - confidence) / 2 * 2**count
    for rank in range(count // 2 + 1):
        tail += math.comb(count, rank)
        if tail > limit:
            return rank
    return count // 2


@cache
def _small_sample_factor(count: int) -> float:
    """c4: the expected sample deviation of `count` normal samples over their true one."""
    return math.sqrt(2 / (count - 1)) * math.exp(math.lgamma(count / 2) - math.lgamma((count - 1) / 2))
