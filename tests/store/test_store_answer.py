import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import DeclarationError
from assay.store import ENTRANT_OUTCOMES, Answer, Chosen, EntrantOutcome, Ranked, Trial, Winner, rank
from assay.testing.store import sample_answer, sample_key

KERNELS = {"plain": {}, "blocked": {"tile": [16, 32, 64]}}


@pytest.mark.spec("R7")
def test_a_winner_that_is_among_the_present_candidates_agrees() -> None:
    assert Winner("blocked", 1, {"tile": 64}).disagreement(KERNELS) is None
    assert Winner("plain", 0, {}).disagreement(KERNELS) is None


@pytest.mark.spec("R7")
@pytest.mark.parametrize(
    ("winner", "said"),
    [
        (Winner("blocked", 0, {"tile": 64}), "kernel 0 is plain, not blocked"),
        (Winner("gone", 1, {"tile": 64}), "kernel 1 is blocked, not gone"),
        (Winner("blocked", 2, {"tile": 64}), "kernel 2 of 2 is named"),
        (Winner("blocked", -1, {"tile": 64}), "kernel -1 of 2 is named"),
        (Winner("blocked", 1, {"tile": 128}), "blocked.tile has no value 128"),
        (Winner("blocked", 1, {"tile": True}), "blocked.tile has no value True"),
        (Winner("blocked", 1, {}), "blocked has the tunables tile, not none"),
        (Winner("plain", 0, {"tile": 16}), "plain has the tunables none, not tile"),
    ],
)
def test_a_winner_that_disagrees_with_the_present_candidates_says_how(winner: Winner, said: str) -> None:
    assert winner.disagreement(KERNELS) == said


@pytest.mark.spec("R10")
@pytest.mark.parametrize("time", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_is_zero_negative_nan_or_infinite_makes_no_result(time: float) -> None:
    with pytest.raises(DeclarationError, match="median_ns is"):
        Ranked("blocked", {}, "ranked", median_ns=time)
    with pytest.raises(DeclarationError, match="wall is"):
        Trial("blocked", time)


@pytest.mark.spec("R10")
def test_an_absent_time_never_wins() -> None:
    with pytest.raises(DeclarationError, match="ranked without a time"):
        Ranked("blocked", {}, "ranked")
    with pytest.raises(DeclarationError, match="blocked gains without a time"):
        Answer(
            key=sample_key(),
            checksum="list-1",
            winner=Winner("blocked", 1, {"tile": 64}),
            default=Chosen("blocked", {"tile": 32}),
            outcome="gain",
            entrants=(Ranked("blocked", {"tile": 64}, "not measured"),),
        )


@pytest.mark.parametrize("outcome", ["no gain", "refused"])
def test_without_a_gain_the_default_stands(outcome: str) -> None:
    with pytest.raises(DeclarationError, match=f"blocked wins, but the outcome is '{outcome}'"):
        msgspec.structs.replace(sample_answer(tile=64), outcome=outcome)
    stands = msgspec.structs.replace(sample_answer(tile=64), outcome=outcome, winner=Winner("blocked", 1, {"tile": 32}))
    assert stands.winner.setting == stands.default.setting


@pytest.mark.spec("R8")
@given(st.permutations(ENTRANT_OUTCOMES))
def test_entrants_are_ranked_best_first_and_failures_last(outcomes: list[EntrantOutcome]) -> None:
    timed = {"ranked": 90.0}
    listed = [Ranked("k", {"tile": i}, word, median_ns=timed.get(word)) for i, word in enumerate(outcomes)]
    listed.insert(3, Ranked("best", {}, "ranked", median_ns=80.0))
    ranked = rank(listed)
    assert [each.median_ns for each in ranked[:2]] == [80.0, 90.0]
    assert [each.outcome for each in ranked[-2:]] == ["refused", "failed"]
    assert len({each.outcome for each in ranked}) == 7


@pytest.mark.spec("R8")
def test_a_row_with_entrants_out_of_order_is_refused() -> None:
    backwards = sample_answer().entrants[::-1]
    with pytest.raises(DeclarationError, match="not ranked best first"):
        msgspec.structs.replace(sample_answer(), entrants=backwards)


def test_the_ratio_to_the_default_ranks_before_the_median_because_it_is_paired() -> None:
    drifted = Ranked("a", {}, "ranked", median_ns=100.0, ratio=0.9)
    quiet = Ranked("b", {}, "ranked", median_ns=90.0, ratio=0.95)
    assert [each.kernel for each in rank([quiet, drifted])] == ["a", "b"]
    unpaired = Ranked("c", {}, "ranked", median_ns=95.0)
    assert [each.kernel for each in rank([quiet, drifted, unpaired])] == ["b", "c", "a"]


def test_an_answer_s_figures_are_finite() -> None:
    with pytest.raises(DeclarationError, match="ratio is nan"):
        msgspec.structs.replace(sample_answer(), ratio=math.nan)
    with pytest.raises(DeclarationError, match="interval is inf"):
        msgspec.structs.replace(sample_answer(), interval=(0.5, math.inf))
    with pytest.raises(DeclarationError, match=r"ratio is 0\.0, expected more than 0"):
        msgspec.structs.replace(sample_answer(), ratio=0.0)
