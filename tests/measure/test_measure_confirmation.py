import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import MeasureError
from assay.measure import (
    CONFIRM_BLOCKS,
    Block,
    CallSampler,
    Pair,
    Protocol,
    confirm,
    decide,
    evidence,
    sign_interval,
)
from assay.testing.sampler import ScriptedSampler
from assay.testing.simulated import Cost, Intruder, SimulatedDevice, Weather

EXACT = Protocol(margin=0.0)
DEFAULT, CANDIDATE = 0, 1
BIMODAL = Cost(ns=98_000, slow_share=0.4, slow_factor=1.2 / 0.98)


def pair(ratio: float) -> Pair:
    """A pair of a default of 1000 ns a call and a candidate of `ratio` times that."""
    mine = 1000 * ratio
    return Pair(Block(mine, mine, mine, 0, 5), Block(1000, 1000, 1000, 0, 5), placement=0, candidate_first=True)


def simulated(candidate: Cost, protocol: Protocol, weather: Weather | None = None, seed: int = 0) -> CallSampler:
    device = SimulatedDevice(weather=weather or Weather(), seed=seed)
    return CallSampler(device, device.bind([Cost(ns=100_000), candidate], protocol.placements))


@pytest.mark.spec("X1", "X5")
def test_seven_wins_of_seven_are_a_gain_and_six_are_not_yet() -> None:
    assert decide([pair(0.9)] * 6, EXACT).outcome is None
    decision = decide([pair(0.9)] * 7, EXACT)
    assert (decision.outcome, decision.k, decision.t) == ("gain", 7, 7)


@pytest.mark.spec("X1")
def test_a_tie_is_lost() -> None:
    assert decide([pair(1.0)] * 4, EXACT).k == 0
    exactly_the_margin = Protocol(margin=0.25)
    assert decide([pair(0.75)] * 4, exactly_the_margin).k == 0
    assert decide([pair(0.7499)] * 4, exactly_the_margin).k == 4


@pytest.mark.spec("X1", "X5")
def test_four_losses_of_four_end_a_hopeless_race_and_three_do_not() -> None:
    # Losses: E(3, 3) = 15/4 = 3.75 and E(4, 4) = 31/5 = 6.2, beside futility at 4.
    assert decide([pair(1.1)] * 3, EXACT).outcome is None
    decision = decide([pair(1.1)] * 4, EXACT)
    assert (decision.outcome, decision.k, decision.t) == ("no gain", 0, 4)
    assert decide([pair(1.1)] * 4, Protocol(margin=0.0, futility=None)).outcome is None


@pytest.mark.spec("X1")
def test_a_candidate_that_does_not_save_the_margin_loses_its_pairs() -> None:
    assert decide([pair(0.995)] * 8, EXACT).outcome == "gain"
    assert decide([pair(0.995)] * 8, Protocol(margin=0.01)).outcome == "no gain"


def test_a_race_that_comes_to_its_last_pair_without_a_claim_is_no_gain() -> None:
    alternating = [pair(0.9 if turn % 2 else 1.1) for turn in range(64)]
    assert decide(alternating[:63], EXACT).outcome is None
    assert decide(alternating, EXACT).outcome == "no gain"


@given(st.lists(st.floats(0.9, 1.1), max_size=64), st.sampled_from([0.0, 0.01, 0.05]))
@pytest.mark.spec("X1", "X5")
def test_the_interval_of_a_gain_lies_below_the_margin(ratios: list[float], margin: float) -> None:
    pairs = [pair(ratio) for ratio in ratios]
    decision = decide(pairs, Protocol(margin=margin))
    if decision.outcome == "gain":
        interval = sign_interval([one.ratio for one in pairs[: decision.t]])
        assert interval is not None
        assert interval[1] < 1 - margin


@pytest.mark.spec("X1")
def test_pairs_are_fresh_adjacent_blocks_in_an_order_tossed_for_each() -> None:
    sampler = ScriptedSampler(lambda entrant, before: 1000.0 + (before % 2 if entrant else 0.5))
    confirmed = confirm(sampler, CANDIDATE, DEFAULT, EXACT)
    asked = sampler.asked[1:]  # the first finds out how many calls a block takes
    turns = [(asked[at], asked[at + 1]) for at in range(0, len(asked), 2)]
    assert len(turns) == confirmed.evidence.pairs == len(confirmed.pairs)
    assert all({one.entrant, two.entrant} == {CANDIDATE, DEFAULT} for one, two in turns)
    assert [one.entrant == CANDIDATE for one, _ in turns] == [one.candidate_first for one in confirmed.pairs]
    first = sum(one.candidate_first for one in confirmed.pairs)
    assert 0.25 < first / len(turns) < 0.75


@pytest.mark.spec("X7")
def test_both_sides_of_a_pair_run_on_one_placement_and_pairs_rotate_over_all() -> None:
    sampler = ScriptedSampler(lambda entrant, before: 1000.0 + (before % 2 if entrant else 0.5))
    confirm(sampler, CANDIDATE, DEFAULT, EXACT)
    asked = sampler.asked[1:]
    assert all(asked[at].placement == asked[at + 1].placement for at in range(0, len(asked), 2))
    assert {one.placement % EXACT.placements for one in asked} == set(range(EXACT.placements))


@pytest.mark.spec("X8")
@pytest.mark.parametrize(("call_ns", "calls"), [(60_000.0, 5), (5_000.0, 10), (1.0, 1000)])
def test_a_block_is_five_calls_or_enough_for_fifty_microseconds(call_ns: float, calls: int) -> None:
    sampler = ScriptedSampler(lambda _entrant, _before: call_ns)
    assert confirm(sampler, CANDIDATE, DEFAULT, EXACT).calls == calls
    assert {one.calls for one in sampler.asked[1:]} == {calls}


@pytest.mark.spec("X5")
def test_the_same_seed_and_figures_replay_the_same_decision() -> None:
    weather = Weather(sigma=0.02)
    outcomes: set[str] = set()
    for seed in range(20):
        protocol = Protocol(margin=0.0, seed=seed)
        one, other = (confirm(simulated(Cost(ns=99_200), protocol, weather, seed), 1, 0, protocol) for _ in range(2))
        assert one == other
        decision = decide(one.pairs, protocol)
        assert (decision.outcome, decision.reason) == (one.outcome, one.reason)
        assert (decision.k, decision.t) == (one.evidence.k, one.evidence.t)
        outcomes.add(one.outcome)
    assert outcomes == {"gain", "no gain"}


@pytest.mark.spec("X5")
def test_what_is_reported_is_the_pairs_own() -> None:
    confirmed = confirm(simulated(Cost(ns=90_000), EXACT), CANDIDATE, DEFAULT, EXACT)
    assert confirmed.outcome == "gain"
    assert confirmed.ratio == pytest.approx(0.9, rel=0.01)
    ratios = [one.ratio for one in confirmed.pairs]
    assert confirmed.interval == sign_interval(ratios)
    told = confirmed.evidence
    assert (told.k, told.t, told.margin, told.pairs, told.refused, told.seed) == (7, 7, 0.0, 7, 0, 0)
    assert float(evidence(7, 7)) == told.E


@pytest.mark.spec("X6")
def test_a_candidate_with_a_slow_mode_wins_most_pairs_and_is_never_taken() -> None:
    won = 0
    for seed in range(200):
        protocol = Protocol(margin=0.0, seed=seed, futility=None)
        confirmed = confirm(simulated(BIMODAL, protocol, seed=seed), CANDIDATE, DEFAULT, protocol)
        assert confirmed.outcome == "no gain"
        won += any(
            evidence(sum(one.ratio < 1 for one in confirmed.pairs[:t]), t) >= 20
            for t in range(1, len(confirmed.pairs) + 1)
        )
    assert won > 60, "the trap: by the sign test alone it would be taken in nearly half the races"


@pytest.mark.spec("X6")
def test_a_candidate_whose_pairs_win_and_whose_mean_does_not_is_told_so() -> None:
    fast = Block(median_ns=980, mean_ns=1068, clipped_ns=1068, far=0, calls=5)
    spoilt = Pair(fast, Block(1000, 1000, 1000, 0, 5), placement=0, candidate_first=False)
    decision = decide([spoilt] * 64, EXACT)
    assert decision.outcome == "no gain"
    assert decision.reason == "won 64 of 64 pairs, but its mean is 6.8 % slower than the default's"


@pytest.mark.spec("X3", "X6")
def test_a_machine_with_tenfold_outliers_does_not_veto_a_real_gain() -> None:
    weather = Weather(sigma=0.01, outlier_share=0.05)
    taken = 0
    for seed in range(100):
        protocol = Protocol(seed=seed)
        taken += confirm(simulated(Cost(ns=98_000), protocol, weather, seed), 1, 0, protocol).outcome == "gain"
    assert taken >= 94


@pytest.mark.spec("X9")
def test_fewer_than_half_the_calls_clean_refuses_the_race() -> None:
    def busy(every: float) -> CallSampler:
        device = SimulatedDevice(intruder=Intruder(every=every, wait_ns=50_000), seed=1)
        return CallSampler(device, device.bind([Cost(ns=100_000), Cost(ns=50_000)], 8))

    assert confirm(busy(4), CANDIDATE, DEFAULT, EXACT).outcome == "gain", "the premise: one call in four is bearable"
    confirmed = confirm(busy(1.2), CANDIDATE, DEFAULT, EXACT)
    assert confirmed.outcome == "refused"
    assert confirmed.blocks <= CONFIRM_BLOCKS
    assert "calls waited for a CPU" in confirmed.reason
    assert confirmed.evidence.refused > 0


@pytest.mark.spec("X9")
def test_a_race_in_which_every_call_waits_ends_refused() -> None:
    confirmed = confirm(ScriptedSampler(lambda _entrant, _before: None), CANDIDATE, DEFAULT, EXACT)
    assert (confirmed.outcome, confirmed.ratio, confirmed.interval, confirmed.pairs) == ("refused", None, None, ())


@pytest.mark.spec("X4")
def test_spoilt_pairs_are_taken_again_within_the_blocks_there_are() -> None:
    sampler = ScriptedSampler(lambda entrant, before: None if entrant and before % 3 else 1000.0)
    confirmed = confirm(sampler, CANDIDATE, DEFAULT, Protocol(margin=0.0, futility=None))
    assert confirmed.blocks == len(sampler.asked) <= CONFIRM_BLOCKS
    assert confirmed.evidence.pairs > confirmed.evidence.t > 0


@pytest.mark.spec("A9")
def test_a_candidate_that_fails_while_timed_is_refused_with_its_reason() -> None:
    sampler = ScriptedSampler(lambda entrant, before: "raised OSError: gone" if entrant and before == 3 else 1000.0)
    confirmed = confirm(sampler, CANDIDATE, DEFAULT, Protocol(margin=0.0, futility=None))
    assert (confirmed.outcome, confirmed.reason, confirmed.evidence.t) == ("refused", "raised OSError: gone", 3)


def test_a_default_that_fails_ends_the_race() -> None:
    with pytest.raises(MeasureError, match="default: raised OSError: gone"):
        confirm(ScriptedSampler(lambda entrant, _: 1000.0 if entrant else "raised OSError: gone"), 1, 0, EXACT)


@pytest.mark.parametrize("figure", [0.0, -5.0, math.inf, math.nan])
@pytest.mark.spec("M13")
def test_a_figure_that_is_no_time_is_refused(figure: float) -> None:
    confirmed = confirm(ScriptedSampler(lambda entrant, _: figure if entrant else 1000.0), 1, 0, EXACT)
    assert confirmed.outcome == "refused"
    assert "too fast to time" in confirmed.reason
    with pytest.raises(MeasureError, match="too fast to time"):
        confirm(ScriptedSampler(lambda _entrant, _before: figure), CANDIDATE, DEFAULT, EXACT)
