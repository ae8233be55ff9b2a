import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.measure import (
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

counts = st.integers(0, 80).flatmap(lambda pairs: st.tuples(st.integers(0, pairs), st.just(pairs)))
figures = st.floats(1.0, 1e9, allow_nan=False)


@pytest.mark.spec("X1")
def test_seven_of_seven_has_the_evidence_of_hand_arithmetic() -> None:
    # Σ_{j≤7} C(8, j) = 2^8 - 1 = 255, over 8·C(7, 7) = 8
    assert evidence(7, 7) == Fraction(255, 8)
    assert float(evidence(7, 7)) == 31.875


@pytest.mark.parametrize(("wins", "pairs"), [(7, 7), (14, 16), (24, 32), (44, 64)])
@pytest.mark.spec("X1")
def test_the_published_counts_pass_at_five_per_cent_and_one_win_fewer_does_not(wins: int, pairs: int) -> None:
    assert evidence(wins, pairs) >= 20
    assert evidence(wins - 1, pairs) < 20
    assert wins_needed(pairs, 20.0) == wins


def test_before_any_pair_the_evidence_is_one() -> None:
    assert evidence(0, 0) == 1


@given(counts)
@pytest.mark.spec("X1")
def test_between_equals_the_evidence_is_a_fair_game(count: tuple[int, int]) -> None:
    # The mean of what it becomes after a fair coin is what it is: exactly, in integers. This is what allows looking
    # at it after every pair.
    wins, pairs = count
    assert (evidence(wins + 1, pairs + 1) + evidence(wins, pairs + 1)) / 2 == evidence(wins, pairs)


@given(counts)
def test_evidence_grows_with_wins(count: tuple[int, int]) -> None:
    wins, pairs = count
    if wins:
        assert evidence(wins, pairs) > evidence(wins - 1, pairs)


@pytest.mark.parametrize(("wins", "pairs"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(wins: int, pairs: int) -> None:
    with pytest.raises(ValueError, match=f"{wins} wins of {pairs} pairs"):
        evidence(wins, pairs)


@pytest.mark.spec("X1", "X2")
def test_the_exact_false_gain_rate_of_the_defaults_is_two_point_six_six_per_cent() -> None:
    assert round(false_gain_rate(0.05, 64), 4) == 0.0266
    assert false_gain_rate(0.05, 64, futility=4.0) < false_gain_rate(0.05, 64)


@pytest.mark.parametrize("chance", [0.5, 0.75])
@pytest.mark.parametrize("futility", [None, 4.0])
def test_the_dynamic_programme_agrees_with_every_sequence_of_twelve_pairs(
    chance: float, futility: float | None
) -> None:
    total = 0.0
    for sequence in product((0, 1), repeat=12):
        if claims(sequence, futility):
            won = sum(sequence)
            total += chance**won * (1 - chance) ** (12 - won)
    assert total > 0
    assert gain_rate(chance, 0.05, 12, futility) == pytest.approx(total, rel=1e-12)


def claims(sequence: tuple[int, ...], futility: float | None) -> bool:
    for pairs in range(1, len(sequence) + 1):
        wins = sum(sequence[:pairs])
        if evidence(wins, pairs) >= 20:
            return True
        if futility is not None and evidence(pairs - wins, pairs) >= futility:
            return False
    return False


@pytest.mark.spec("X2")
@given(st.floats(0.01, 0.5), st.integers(1, 64))
def test_no_length_of_race_has_more_false_gains_than_alpha(alpha: float, pairs: int) -> None:
    assert false_gain_rate(alpha, pairs) <= alpha


@pytest.mark.spec("M4")
def test_one_call_a_hundred_times_slower_leaves_the_median_where_it_was() -> None:
    assert median([10.0, 11.0, 12.0, 11.0, 11.0]) == median([10.0, 11.0, 12.0, 11.0, 1100.0]) == 11.0


def test_a_median_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        median([])


@pytest.mark.spec("M5")
def test_a_drift_that_moves_both_leaves_their_difference_right() -> None:
    drift = [100.0 + 40.0 * turn for turn in range(9)]
    one = [level + 3.0 for level in drift]
    beside = drift
    assert median(one[:5]) - median(beside[4:]) < 0, "the premise: unpaired, the drift turns the difference round"
    assert median_difference(one, beside) == (3.0, 0.0)


@pytest.mark.spec("M5")
def test_the_noise_of_a_difference_has_the_small_sample_factor() -> None:
    # Differences 1 and 3: deviation √2; c4(2) = √(2/π); so √(π/2)·√2/√(2/π)/√2 = π/2.
    difference, noise = median_difference([11.0, 23.0], [10.0, 20.0])
    assert difference == 2.0
    assert noise == pytest.approx(math.pi / 2)


@pytest.mark.spec("M5")
def test_the_noise_of_one_round_is_unknown() -> None:
    assert median_difference([11.0], [10.0]) == (1.0, None)
    assert median_error([]) is None


@pytest.mark.spec("M5")
def test_errors_add_in_quadrature_and_one_unknown_makes_the_sum_unknown() -> None:
    assert add_errors([3.0, 4.0, 12.0]) == 13.0
    assert add_errors([3.0, None, 12.0]) is None


def test_rounds_that_do_not_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        median_difference([1.0, 2.0], [1.0])


def test_a_midmean_leaves_out_a_quarter_at_each_end() -> None:
    assert midmean([0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1e9]) == 4.5
    with pytest.raises(ValueError, match="no values"):
        midmean([])


@pytest.mark.spec("X5")
def test_the_interval_is_two_order_statistics_of_the_binomial() -> None:
    # 64 pairs: P(wins ≤ 23) = 0.0164 and P(wins ≤ 24) = 0.0300, so the 24th from either end.
    assert sign_interval([float(rank) for rank in range(1, 65)]) == (24.0, 41.0)
    # 16 pairs: P(wins ≤ 3) = 0.0106 and P(wins ≤ 4) = 0.0384, so the 4th.
    assert sign_interval([float(rank) for rank in range(1, 17)]) == (4.0, 13.0)
    # 6 pairs: P(wins = 0) = 1/64 = 0.0156; of 5, 1/32 = 0.0313 is more than 2.5 %.
    assert sign_interval([float(rank) for rank in range(1, 7)]) == (1.0, 6.0)
    assert sign_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None


@given(st.lists(figures, min_size=6, max_size=64))
def test_an_interval_holds_the_median_and_does_not_mind_the_order(values: list[float]) -> None:
    interval = sign_interval(values)
    assert interval is not None
    assert interval[0] <= median(values) <= interval[1]
    assert interval == sign_interval(values[::-1])
