"""The first stage of a race: which entrant is worth confirming? It claims nothing.

Interleaved successive halving. In each round every live entrant and the default run one block each, in an order
drawn from the seed, on the same set of buffers; rounds go on over the rotating placements. After a level's rounds
the slower half goes, until one is left. Each level is given about the same number of blocks: the fewer are left, the
finer they are told apart.

Live entrants are ranked by their figures over the round's level, the median of all that are live, averaged over the
middle half of the rounds: a drift that moves a round does not decide, nor does the noise of a single block, and the
level of many is less noisy than the default's figure alone. What is reported is each entrant against the default,
paired by round.

Source: successive halving is Karnin, Koren, Somekh (2013), "Almost optimal exploration in multi-armed bandits".
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import cast

import msgspec
import numpy as np

from assay.measure.plan import BlockPlan, Tally, is_clean, is_time, plan_blocks, run_block
from assay.measure.protocol import SELECT_BLOCKS_PER_ENTRANT, Protocol
from assay.measure.sampler import EntrantFailure, Sample, Sampler
from assay.measure.statistics import median, median_difference, midmean

_STAGE = 1

_PLANNED_SHARE = 0.9
"""The part of the blocks that is planned; the rest is for finding the plan and for repeating spoilt blocks."""

_ROUNDS_ALONE = 4
"""Rounds of a single entrant, which is confirmed whatever they say: enough for its figure and its noise."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How one entrant did in selection.

    Attributes:
        entrant: which.
        rounds_ns: its figure of each round it was in with the default: the median of the block's calls.
        default_rounds_ns: the default's figures beside those; empty for the default itself.
        median_ns: the median of its figures; None without any.
        ratio: its time over the default's, paired by round; None without common rounds.
        delta_ns: its time less the default's, paired by round; None without common rounds.
        noise_ns: the standard error of `delta_ns`; None, unknown, from fewer than two common rounds.
        refused: why its figures are not used; None when they are.
        dropped: its calls that waited for a CPU.
        waited_ns: how long its calls waited; None where the system does not count it.
    """

    entrant: int
    rounds_ns: tuple[float, ...]
    default_rounds_ns: tuple[float, ...]
    median_ns: float | None
    ratio: float | None
    delta_ns: float | None
    noise_ns: float | None
    refused: str | None
    dropped: int
    waited_ns: int | None


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a selection.

    Attributes:
        standings: every entrant but the default, best first, the refused ones last.
        default: the default's own figures.
        survivor: the entrant to confirm; None when none is left, or the selection was refused.
        refused: why all figures are refused; None when they stand.
        calls: calls a block was to have; 0 when no block came out clean.
        blocks: blocks run.
        dropped: calls that waited for a CPU.
        seed: what the orders were drawn from.
    """

    standings: tuple[Standing, ...]
    default: Standing
    survivor: int | None
    refused: str | None
    calls: int
    blocks: int
    dropped: int
    seed: int


def plan_rounds(challengers: int) -> list[tuple[int, int]]:
    """How many entrants beside the default are live at each level, and for how many rounds.

    Example:
        >>> plan_rounds(31)
        [(31, 3), (16, 7), (8, 13), (4, 24), (2, 41)]
        >>> plan_rounds(1)
        [(1, 4)]
    """
    sizes = [challengers]
    while sizes[-1] > 2:
        sizes.append((sizes[-1] + 1) // 2)
    left = int(SELECT_BLOCKS_PER_ENTRANT * (challengers + 1) * _PLANNED_SHARE)
    levels: list[tuple[int, int]] = []
    for level, size in enumerate(sizes):
        rounds = max(left // (len(sizes) - level) // (size + 1), 1) if size > 1 else _ROUNDS_ALONE
        levels.append((size, rounds))
        left -= rounds * (size + 1)
    return levels


def select(sampler: Sampler, entrants: Sequence[int], default: int, protocol: Protocol) -> Selection:
    """The entrant most worth confirming against `default`, in at most `SELECT_BLOCKS_PER_ENTRANT` blocks for each.

    Args:
        sampler: runs the blocks.
        entrants: the entrants, the default with or without; earlier ones win ties.
        default: the entrant in force.
        protocol: how the race is run.

    Raises:
        MeasureError: the default failed, or is too fast to time.
    """
    challengers = [entrant for entrant in dict.fromkeys(entrants) if entrant != default]
    return _Selecting(sampler, challengers, default, protocol).run()


class _Runner:
    """What one entrant has shown so far."""

    def __init__(self, entrant: int) -> None:
        self.entrant = entrant
        self.figures: dict[int, float] = {}  # by round
        self.level = 0
        self.refused: str | None = None
        self.clean = 0
        self.dropped = 0
        self.waited_ns: int | None = 0

    def take(self, sample: Sample) -> None:
        self.clean += len(sample.times_ns)
        self.dropped += sample.dropped
        if self.waited_ns is not None:
            self.waited_ns = None if sample.waited_ns is None else self.waited_ns + sample.waited_ns

    def beside(self, default: "_Runner") -> tuple[list[float], list[float]]:
        """The figures of the rounds both were in."""
        common = default.figures
        both = [(figure, common[turn]) for turn, figure in self.figures.items() if turn in common]
        return [mine for mine, _ in both], [other for _, other in both]

    def ratio(self, default: "_Runner") -> float | None:
        """Its time over the default's, the median over common rounds; None without any."""
        mine, other = self.beside(default)
        return median([one / two for one, two in zip(mine, other, strict=True)]) if mine else None


class _Selecting:
    """One selection as it runs."""

    def __init__(self, sampler: Sampler, challengers: Sequence[int], default: int, protocol: Protocol) -> None:
        self._sampler = sampler
        self._protocol = protocol
        self._default = _Runner(default)
        self._all = [_Runner(entrant) for entrant in challengers]
        self._live = list(self._all)
        self._tally = Tally()
        self._most_blocks = SELECT_BLOCKS_PER_ENTRANT * (len(challengers) + 1)
        self._rng = np.random.default_rng((protocol.seed, _STAGE))
        self._round = 0

    def run(self) -> Selection:
        protocol = self._protocol
        if not self._live:
            return self._selection(None, None)
        plan = plan_blocks(self._sampler, self._default.entrant, protocol.min_calls, protocol, self._tally)
        if plan is None:
            return self._selection(None, self._tally.trouble)
        levels = plan_rounds(len(self._live))
        sizes = [size for size, _ in levels[1:]] + [1]
        for (_, rounds), keep in zip(levels, sizes, strict=True):
            for _ in range(rounds):
                self._run_round(plan)
                if self._round == protocol.settle:
                    self._stop_slow()
            self._halve(keep)
            if len(self._live) <= 1:
                break
        return self._selection(plan, self._tally.trouble)

    def _run_round(self, plan: BlockPlan) -> None:
        runners = [*self._live, self._default]
        order = cast("list[int]", self._rng.permutation(len(runners)).tolist())
        for runner in map(runners.__getitem__, order):
            figure = self._figure(runner, plan)
            if figure is None and runner.refused is None:
                figure = self._figure(runner, plan)  # waiting spoilt it: once more, if blocks are left
            if figure is not None:
                runner.figures[self._round] = figure
        self._live = [runner for runner in self._live if runner.refused is None]
        self._round += 1

    def _figure(self, runner: _Runner, plan: BlockPlan) -> float | None:
        """The median of one block; None when waiting spoilt it, the entrant is refused, or no block is left."""
        if self._tally.blocks >= self._most_blocks:
            return None
        if runner is self._default:
            sample = run_block(self._sampler, runner.entrant, self._round, plan, self._tally)
        else:
            try:
                sample = self._sampler.block(runner.entrant, self._round, plan.calls, plan.wait_limit_ns)
            except EntrantFailure as failure:
                runner.refused = str(failure)
                return None
            self._tally.take(sample)
        runner.take(sample)
        if not is_clean(sample, plan.calls):
            return None
        figure = median(sample.times_ns)
        if not is_time(figure):
            runner.refused = f"a call takes {figure} ns by this clock: too fast to time"
            return None
        return figure

    def _stop_slow(self) -> None:
        """Drops from the live those beyond the cutoff; the default is never stopped."""
        ratios = {runner.entrant: runner.ratio(self._default) for runner in self._live}
        fastest = min([1.0, *(ratio for ratio in ratios.values() if ratio is not None)])
        limit = self._protocol.cutoff * fastest
        self._live = [runner for runner in self._live if (ratios[runner.entrant] or fastest) <= limit]

    def _halve(self, keep: int) -> None:
        ranked: list[tuple[float, _Runner]] = []
        levels = self._levels()
        for runner in self._live:
            relative = [figure / levels[turn] for turn, figure in runner.figures.items() if turn in levels]
            if relative:
                ranked.append((midmean(relative), runner))
        ranked.sort(key=itemgetter(0))  # stable: earlier entrants win ties
        self._live = [runner for _, runner in ranked[:keep]]
        for runner in self._live:
            runner.level += 1

    def _levels(self) -> dict[int, float]:
        """The median figure of each round over those still in the race, who were in all of them."""
        live = [*self._live, self._default]
        figures = [[runner.figures[turn] for runner in live if turn in runner.figures] for turn in range(self._round)]
        return {turn: median(of_round) for turn, of_round in enumerate(figures) if of_round}

    def _selection(self, plan: BlockPlan | None, refused: str | None) -> Selection:
        standings = [(runner, self._standing(runner)) for runner in self._all]
        standings.sort(key=lambda pair: (pair[1].ratio is None, -pair[0].level, pair[1].ratio or 0.0))
        survivor = self._live[0].entrant if self._live and plan is not None and refused is None else None
        return Selection(
            standings=tuple(standing for _, standing in standings),
            default=self._standing(self._default),
            survivor=survivor,
            refused=refused,
            calls=plan.calls if plan else 0,
            blocks=self._tally.blocks,
            dropped=self._tally.dropped,
            seed=self._protocol.seed,
        )

    def _standing(self, runner: _Runner) -> Standing:
        own = runner is self._default
        mine, beside = (list(runner.figures.values()), []) if own else runner.beside(self._default)
        refused = runner.refused
        if refused is None and 2 * runner.clean < runner.clean + runner.dropped:
            refused = f"{runner.dropped} of {runner.clean + runner.dropped} calls waited for a CPU"
        compared = not own and bool(mine) and refused is None
        delta, noise = median_difference(mine, beside) if compared else (None, None)
        return Standing(
            entrant=runner.entrant,
            rounds_ns=tuple(mine),
            default_rounds_ns=tuple(beside),
            median_ns=median(mine) if mine and refused is None else None,
            ratio=runner.ratio(self._default) if compared else None,
            delta_ns=delta,
            noise_ns=noise,
            refused=refused,
            dropped=runner.dropped,
            waited_ns=runner.waited_ns,
        )
