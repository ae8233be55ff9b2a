import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import MeasureError
from assay.measure import SELECT_BLOCKS_PER_ENTRANT, CallSampler, Protocol, plan_rounds, select
from assay.testing.sampler import ScriptedSampler
from assay.testing.simulated import Cost, Intruder, SimulatedDevice, Weather

EXACT = Protocol(margin=0.0)


def even(_entrant: int, _before: int) -> float:
    return 60_000.0


@pytest.mark.spec("M3", "X1")
def test_every_round_runs_each_live_entrant_once_in_an_order_of_its_own() -> None:
    sampler = ScriptedSampler(even)
    select(sampler, range(8), 0, EXACT)
    asked = [one.entrant for one in sampler.asked[1:]]
    rounds = [asked[at : at + 8] for at in range(0, 8 * plan_rounds(7)[0][1], 8)]
    assert len(rounds) > 3
    assert all(sorted(one) == list(range(8)) for one in rounds)
    assert len({tuple(one) for one in rounds}) == len(rounds)


@pytest.mark.spec("M3")
def test_the_orders_are_drawn_from_the_recorded_seed() -> None:
    def order(seed: int) -> tuple[int, list[int]]:
        sampler = ScriptedSampler(even)
        selection = select(sampler, range(5), 0, Protocol(seed=seed))
        return selection.seed, [one.entrant for one in sampler.asked]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1)[0] == 1


@pytest.mark.spec("X7")
def test_all_entrants_see_the_same_sequence_of_placements() -> None:
    sampler = ScriptedSampler(even)
    select(sampler, range(4), 0, EXACT)
    seen = {entrant: [one.placement for one in sampler.asked[1:] if one.entrant == entrant] for entrant in range(4)}
    assert all(seen[0][: len(placements)] == placements for placements in seen.values())
    assert len(set(seen[0])) > 8


@pytest.mark.spec("X1")
def test_the_slower_half_goes_after_each_level_until_one_is_left() -> None:
    sampler = ScriptedSampler(lambda entrant, _before: 60_000.0 + 100 * entrant)
    selection = select(sampler, range(9), 0, EXACT)
    assert selection.survivor == 1
    assert [standing.entrant for standing in selection.standings] == list(range(1, 9))
    rounds = [len(standing.rounds_ns) for standing in selection.standings]
    levels = [count for _, count in plan_rounds(8)]
    total = [sum(levels[: level + 1]) for level in range(3)]
    assert rounds == [total[2]] * 2 + [total[1]] * 2 + [total[0]] * 4


@given(st.integers(1, 200))
@pytest.mark.spec("X4")
def test_the_planned_blocks_keep_to_their_number(challengers: int) -> None:
    planned = sum((size + 1) * rounds for size, rounds in plan_rounds(challengers))
    assert planned <= SELECT_BLOCKS_PER_ENTRANT * (challengers + 1)


@pytest.mark.parametrize("count", [2, 3, 8, 32])
@pytest.mark.spec("X4")
def test_a_busy_machine_gets_no_more_blocks(count: int) -> None:
    device = SimulatedDevice(intruder=Intruder(every=3, wait_ns=50_000))
    sampler = CallSampler(device, device.bind([Cost(ns=60_000)] * count))
    selection = select(sampler, range(count), 0, EXACT)
    assert selection.dropped > 0
    assert selection.blocks <= SELECT_BLOCKS_PER_ENTRANT * count


@pytest.mark.spec("M5", "X1")
def test_a_drift_that_moves_a_round_does_not_choose() -> None:
    # The machine slows down by 3 % a round; entrant 2 is 2 % faster than the others all along.
    sampler = ScriptedSampler(lambda entrant, before: (980.0 if entrant == 2 else 1000.0) * 1.03**before)
    selection = select(sampler, range(4), 0, EXACT)
    best = selection.standings[0]
    assert (selection.survivor, best.entrant) == (2, 2)
    assert max(best.rounds_ns) > 1.5 * min(best.rounds_ns), "the premise: the drift is larger than the difference"


@pytest.mark.spec("M5")
def test_differences_are_paired_round_by_round_with_their_error() -> None:
    sampler = ScriptedSampler(lambda entrant, before: 60_000.0 + 1_000 * before - 500 * (entrant == 1))
    (standing,) = select(sampler, [0, 1], 0, EXACT).standings
    # The default ran one block before the rounds, so its figures are a step of 1000 ahead.
    assert (standing.delta_ns, standing.noise_ns) == (-1_500.0, 0.0)
    assert standing.rounds_ns == (59_500.0, 60_500.0, 61_500.0, 62_500.0)
    assert standing.default_rounds_ns == (61_000.0, 62_000.0, 63_000.0, 64_000.0)


def test_a_tie_goes_to_the_earlier_entrant() -> None:
    assert select(ScriptedSampler(even), [3, 2, 1], 0, EXACT).survivor == 3


def test_an_entrant_far_slower_is_stopped_early_and_the_default_never_is() -> None:
    times = {0: 900_000.0, 1: 60_000.0, 2: 65_000.0, 3: 200_000.0}
    sampler = ScriptedSampler(lambda entrant, _before: times[entrant])
    selection = select(sampler, range(4), 0, EXACT)
    rounds = {standing.entrant: len(standing.rounds_ns) for standing in selection.standings}
    assert rounds[3] == EXACT.settle
    assert min(rounds[1], rounds[2]) > EXACT.settle
    assert len(selection.default.rounds_ns) == max(rounds.values())


def test_where_nobody_comes_near_the_default_nobody_is_left() -> None:
    selection = select(ScriptedSampler(lambda entrant, _: 900.0 if entrant else 90.0), range(4), 0, EXACT)
    assert (selection.survivor, selection.refused) == (None, None)
    unlimited = Protocol(cutoff=math.inf)
    assert select(ScriptedSampler(lambda entrant, _: 900.0 if entrant else 90.0), range(4), 0, unlimited).survivor == 1


@pytest.mark.spec("A9")
def test_an_entrant_that_fails_is_refused_with_its_reason_and_the_others_go_on() -> None:
    def figure(entrant: int, before: int) -> float | str:
        return "raised OSError: gone" if entrant == 1 and before == 2 else 1000.0 + entrant

    selection = select(ScriptedSampler(figure), range(4), 0, EXACT)
    assert selection.survivor == 2
    last = selection.standings[-1]
    assert (last.entrant, last.refused, last.ratio, last.median_ns) == (1, "raised OSError: gone", None, None)


@pytest.mark.parametrize("figure", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.spec("M13")
def test_an_entrant_whose_figure_is_no_time_never_wins(figure: float) -> None:
    selection = select(ScriptedSampler(lambda entrant, _: figure if entrant == 1 else 1000.0), range(3), 0, EXACT)
    assert selection.survivor == 2
    assert "too fast to time" in (selection.standings[-1].refused or "")


def test_a_default_that_fails_ends_the_race() -> None:
    with pytest.raises(MeasureError, match="default: raised OSError: gone"):
        select(ScriptedSampler(lambda entrant, _: 1000.0 if entrant else "raised OSError: gone"), range(3), 0, EXACT)


@pytest.mark.spec("X9", "M10")
def test_figures_of_a_machine_that_is_mostly_busy_are_refused() -> None:
    device = SimulatedDevice(intruder=Intruder(every=1.2, wait_ns=50_000))
    sampler = CallSampler(device, device.bind([Cost(ns=60_000)] * 4))
    selection = select(sampler, range(4), 0, EXACT)
    assert selection.survivor is None
    assert "calls waited for a CPU" in (selection.refused or "")


@pytest.mark.spec("M10")
def test_an_entrant_whose_calls_waited_has_no_figure() -> None:
    selection = select(ScriptedSampler(lambda entrant, _: None if entrant == 1 else 1000.0), range(6), 0, EXACT)
    last = selection.standings[-1]
    assert (last.entrant, last.median_ns) == (1, None)
    assert "calls waited for a CPU" in (last.refused or "")
    assert (last.waited_ns or 0) > 0


def test_the_default_alone_is_not_timed() -> None:
    sampler = ScriptedSampler(even)
    selection = select(sampler, [0], 0, EXACT)
    assert (selection.survivor, selection.standings, sampler.asked) == (None, (), [])


@pytest.mark.spec("X1")
def test_on_a_noisy_machine_the_faster_one_of_thirty_two_is_found() -> None:
    found = 0
    for seed in range(30):
        device = SimulatedDevice(weather=Weather(sigma=0.02), seed=seed)
        costs = [Cost(ns=58_800 if entrant == 17 else 60_000) for entrant in range(32)]
        found += select(CallSampler(device, device.bind(costs)), range(32), 0, Protocol(seed=seed)).survivor == 17
    assert found >= 29
