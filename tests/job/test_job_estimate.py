"""The time left is guessed from what was done, and from nothing else."""

import pytest

from assay.job.estimate import time_left_s


def test_nothing_is_guessed_before_anything_was_done() -> None:
    assert time_left_s([], 3.0, timed=0, to_go=8, shapes_left=2) is None


@pytest.mark.spec("M39")
def test_within_a_shape_the_entrants_to_go_cost_what_those_before_them_cost() -> None:
    # 4 s for 8 entrants: 2 more take 1 s; no shape follows.
    assert time_left_s([], 4.0, timed=8, to_go=2, shapes_left=0) == 1.0


def test_the_shapes_to_come_cost_the_mean_of_those_ended_and_this_one() -> None:
    # This shape: 2 s done, 2 s to go, so 4 s; the mean of 8 s and 4 s is 6 s for each of 3 more: 2 + 18.
    assert time_left_s([8.0], 2.0, timed=5, to_go=5, shapes_left=3) == 20.0


def test_a_shape_that_just_began_costs_what_the_ended_ones_did() -> None:
    # 10 s each: 7 s of this one are left, and 10 s of the one after it.
    assert time_left_s([10.0, 10.0], 3.0, timed=0, to_go=0, shapes_left=1) == 17.0


def test_a_shape_past_its_guess_is_about_to_end_and_never_negative() -> None:
    # 5 s against a guess of 2 s: 0 s are left of it; the mean of 2 s and 5 s is 3.5 s for the next.
    assert time_left_s([2.0], 5.0, timed=0, to_go=0, shapes_left=1) == 3.5
