import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.measure import MeanGuard, mean_ratio, summarise, surplus_chance

times = st.lists(st.floats(1.0, 1e6), min_size=1, max_size=30)


def test_a_block_keeps_its_median_mean_and_far_calls() -> None:
    block = summarise([10.0, 12.0, 80.0, 11.0], limit_ns=16.5)
    # clipped: (10 + 12 + 16.5 + 11) / 4
    assert (block.median_ns, block.mean_ns, block.clipped_ns, block.far, block.calls) == (11.5, 28.25, 12.375, 1, 4)


@given(times, st.floats(1.0, 1e6))
def test_clipping_never_raises_a_mean(values: list[float], limit: float) -> None:
    block = summarise(values, limit)
    assert block.clipped_ns <= block.mean_ns * (1 + 1e-12)
    assert (block.far == 0) == (max(values) <= limit)


@pytest.mark.spec("X6")
def test_the_mean_sees_a_slow_mode_the_median_does_not() -> None:
    candidate = summarise([98.0, 98.0, 98.0, 120.0, 120.0], limit_ns=150.0)
    default = summarise([100.0] * 5, limit_ns=150.0)
    assert candidate.median_ns < default.median_ns
    assert mean_ratio([(candidate, default)]) == pytest.approx(1.068)


def test_far_calls_that_befall_both_do_not_decide() -> None:
    guard = MeanGuard(0.0)
    guard.add(summarise([98.0, 98.0, 1000.0, 98.0], 150.0), summarise([100.0, 100.0, 100.0, 1000.0], 150.0))
    guard.add(summarise([98.0, 98.0, 1000.0, 98.0], 150.0), summarise([100.0, 100.0, 100.0, 100.0], 150.0))
    # two far calls against one are no surprise (1/2): (2·(3·98 + 150))/((3·100 + 150) + 400)
    assert guard.ratio == pytest.approx(888 / 850)


def test_far_calls_of_the_candidates_own_count_in_full() -> None:
    guard = MeanGuard(0.0)
    guard.add(summarise([50.0, 50.0, 1000.0, 1000.0], 150.0), summarise([100.0] * 4, 150.0))
    clipped = (50 + 50 + 150 + 150) / 400
    assert guard.ratio == pytest.approx(2100 / 400)
    assert guard.ratio > clipped


def test_the_mean_must_save_the_margin_too() -> None:
    for margin, agrees in ((0.0, True), (0.01, False)):
        guard = MeanGuard(margin)
        guard.add(summarise([99.5] * 3, 150.0), summarise([100.0] * 3, 150.0))
        assert guard.agrees is agrees


@pytest.mark.parametrize(("candidate", "default", "chance"), [(0, 0, 1.0), (2, 0, 0.25), (3, 1, 5 / 16), (0, 4, 1.0)])
def test_the_chance_of_a_surplus_is_a_binomial_tail(candidate: int, default: int, chance: float) -> None:
    assert surplus_chance(candidate, default) == chance


def test_the_chance_of_a_surplus_of_many_is_the_normal_one() -> None:
    assert surplus_chance(270, 230) == pytest.approx(surplus_chance(271, 231), rel=0.02)
    assert surplus_chance(100_000, 1) == 0.0
