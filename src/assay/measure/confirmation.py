"""The second stage of a race: does the one survivor beat the default, on data that did not choose it?

Fresh adjacent pairs of blocks, on the rotating placements, each pair's order by the toss of a coin: whatever the
machine does over time befalls both sides of a pair alike, so between equals each pair is won with a chance of at most
one half, independent of the others, under any drift or burst. The pairs go into the anytime-valid sign test of
`assay.measure.statistics`; a tie is lost. A gain also needs the mean to agree (`assay.measure.guard`); where it does
not, the race goes on. What is reported comes from these pairs alone, and `decide` replays it from them.

A pair that is not won is lost, also when the candidate was faster by less than the margin; so futility ends the race
of a candidate that does not save the margin.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from assay.measure.guard import Block, MeanGuard, summarise
from assay.measure.plan import BlockPlan, Tally, is_clean, is_time, plan_blocks, run_block
from assay.measure.protocol import CONFIRM_BLOCKS, Protocol
from assay.measure.sampler import EntrantFailure, Sample, Sampler
from assay.measure.statistics import evidence, median, sign_interval, wins_needed
from assay.units import format_ratio

_STAGE = 2

Outcome = Literal["gain", "no gain", "refused"]


class Pair(msgspec.Struct, frozen=True):
    """Two adjacent blocks.

    Attributes:
        candidate: the candidate's block.
        default: the default's.
        placement: the set of buffers both ran on.
        candidate_first: whether the coin sent the candidate first.
    """

    candidate: Block
    default: Block
    placement: int
    candidate_first: bool

    @property
    def ratio(self) -> float:
        """The candidate's time over the default's."""
        return self.candidate.median_ns / self.default.median_ns


class Evidence(msgspec.Struct, frozen=True):
    """What a decision rests on.

    Attributes:
        k: pairs won.
        t: pairs judged.
        E: the evidence for a gain; one is claimed at ``1/alpha``.
        margin: the part of the default's time that had to be saved to win a pair.
        pairs: pairs run, those spoilt by waiting included.
        refused: calls dropped because they waited for a CPU.
        seed: what the order of the pairs was drawn from.
    """

    k: int
    t: int
    E: float
    margin: float
    pairs: int
    refused: int
    seed: int


class Decision(msgspec.Struct, frozen=True):
    """What a sequence of pairs says.

    Attributes:
        outcome: ``gain`` or ``no gain``; None while more pairs are needed.
        reason: why, in a sentence.
        k: pairs won.
        t: pairs judged.
    """

    outcome: Literal["gain", "no gain"] | None
    reason: str
    k: int
    t: int


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a confirmation.

    Attributes:
        candidate: the entrant that wanted the default's place.
        default: the default.
        outcome: the candidate takes it only on ``gain``.
        reason: why, in a sentence.
        ratio: candidate over default, the median of the pairs' ratios; None without pairs.
        interval: its 95 % interval; None from fewer than six pairs.
        mean_ratio: candidate over default by the mean the guard looked at; None without pairs.
        evidence: the counts behind it.
        pairs: the pairs judged, in order.
        calls: calls a block was to have; 0 when no block came out clean.
        blocks: blocks run.
    """

    candidate: int
    default: int
    outcome: Outcome
    reason: str
    ratio: float | None
    interval: tuple[float, float] | None
    mean_ratio: float | None
    evidence: Evidence
    pairs: tuple[Pair, ...]
    calls: int
    blocks: int


class Judge:
    """The stopping rule, fed pair by pair.

    Args:
        protocol: gives margin, alpha, futility and the most pairs.
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._keep = 1 - protocol.margin
        self.guard = MeanGuard(protocol.margin)
        self.wins = 0
        self.pairs = 0

    def add(self, pair: Pair) -> Decision | None:
        """Takes one pair into account: the decision it brings, None when the race goes on."""
        protocol = self._protocol
        self.guard.add(pair.candidate, pair.default)
        self.pairs += 1
        self.wins += pair.candidate.median_ns < self._keep * pair.default.median_ns
        losses = self.pairs - self.wins
        proven = self.wins >= wins_needed(self.pairs, 1 / protocol.alpha)
        if proven and self.guard.agrees:
            return self._decision("gain", f"won {self._score}")
        if protocol.futility is not None and losses >= wins_needed(self.pairs, protocol.futility):
            return self._decision("no gain", f"won only {self._score}: more would hardly change it")
        if self.pairs < protocol.max_pairs:
            return None
        if proven:
            mean = format_ratio(self.guard.ratio)
            return self._decision("no gain", f"won {self._score}, but its mean is {mean} than the default's")
        return self._decision("no gain", f"won {self._score}: too few for a claim")

    @property
    def _score(self) -> str:
        margin = self._protocol.margin
        by = f" by more than {margin * 100:g} %" if margin else ""
        return f"{self.wins} of {self.pairs} pairs{by}"

    def _decision(self, outcome: Literal["gain", "no gain"], reason: str) -> Decision:
        return Decision(outcome, reason, self.wins, self.pairs)


def decide(pairs: Sequence[Pair], protocol: Protocol) -> Decision:
    """What a sequence of pairs decides, by the rule `confirm` follows; the same pairs always decide the same.

    Pairs after the one that decides are not looked at.
    """
    judge = Judge(protocol)
    for pair in pairs:
        decision = judge.add(pair)
        if decision is not None:
            return decision
    return Decision(None, "more pairs are needed", judge.wins, judge.pairs)


def confirm(sampler: Sampler, candidate: int, default: int, protocol: Protocol) -> Confirmation:
    """Whether `candidate` beats `default`, by fresh pairs, in at most `CONFIRM_BLOCKS` blocks.

    Raises:
        MeasureError: the default failed, or is too fast to time.
    """
    return _Confirming(sampler, candidate, default, protocol).run()


class _Confirming:
    """One confirmation as it runs."""

    def __init__(self, sampler: Sampler, candidate: int, default: int, protocol: Protocol) -> None:
        self._sampler = sampler
        self._candidate = candidate
        self._default = default
        self._protocol = protocol
        self._tally = Tally()
        self._pairs: list[Pair] = []
        self._tried = 0
        self._plan: BlockPlan | None = None
        self._judge = Judge(protocol)

    def run(self) -> Confirmation:
        protocol, tally = self._protocol, self._tally
        self._plan = plan_blocks(self._sampler, self._default, protocol.max_calls, protocol, tally)
        if self._plan is None:
            return self._end("refused", tally.trouble or "no block of the default came out clean")
        coin = np.random.default_rng((protocol.seed, _STAGE)).integers(2, size=CONFIRM_BLOCKS).tolist()
        while tally.blocks + 2 <= CONFIRM_BLOCKS:
            try:
                pair = self._pair(self._plan, self._tried, candidate_first=bool(coin[self._tried]))
            except EntrantFailure as failure:
                return self._end("refused", str(failure))
            self._tried += 1
            if pair is None:
                continue
            self._pairs.append(pair)
            decision = self._judge.add(pair)
            if decision is not None:
                return self._end(decision.outcome or "refused", decision.reason)
        return self._end("refused", tally.trouble or f"{len(self._pairs)} pairs came out clean: too few to decide")

    def _pair(self, plan: BlockPlan, placement: int, *, candidate_first: bool) -> Pair | None:
        """One pair; None when waiting spoilt a block of it.

        Raises:
            EntrantFailure: the candidate failed.
        """
        if candidate_first:
            mine = self._candidate_block(plan, placement)
            beside = run_block(self._sampler, self._default, placement, plan, self._tally)
        else:
            beside = run_block(self._sampler, self._default, placement, plan, self._tally)
            mine = self._candidate_block(plan, placement)
        if not (is_clean(mine, plan.calls) and is_clean(beside, plan.calls)):
            return None
        middle = median(beside.times_ns)
        if not (is_time(middle) and is_time(median(mine.times_ns))):
            raise EntrantFailure("a call took no time by this clock: too fast to time")
        limit_ns = self._protocol.far * middle
        return Pair(
            summarise(mine.times_ns, limit_ns),
            summarise(beside.times_ns, limit_ns),
            placement % self._protocol.placements,
            candidate_first,
        )

    def _candidate_block(self, plan: BlockPlan, placement: int) -> Sample:
        sample = self._sampler.block(self._candidate, placement, plan.calls, plan.wait_limit_ns)
        self._tally.take(sample)
        return sample

    def _end(self, outcome: Outcome, reason: str) -> Confirmation:
        tally, judge = self._tally, self._judge
        if outcome != "refused" and tally.trouble is not None:
            outcome, reason = "refused", tally.trouble
        ratios = [pair.ratio for pair in self._pairs]
        return Confirmation(
            candidate=self._candidate,
            default=self._default,
            outcome=outcome,
            reason=reason,
            ratio=median(ratios) if ratios else None,
            interval=sign_interval(ratios),
            mean_ratio=judge.guard.ratio if ratios else None,
            evidence=Evidence(
                k=judge.wins,
                t=judge.pairs,
                E=float(evidence(judge.wins, judge.pairs)),
                margin=self._protocol.margin,
                pairs=self._tried,
                refused=tally.dropped,
                seed=self._protocol.seed,
            ),
            pairs=tuple(self._pairs),
            calls=self._plan.calls if self._plan else 0,
            blocks=tally.blocks,
        )
