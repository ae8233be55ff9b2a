"""Is one output right? By hand-made arrays whose worst element is known."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from assay.gate import Mismatch, Tolerance, judge
from assay.gate.judge import magnitude_scale

Array = npt.NDArray[Any]
LOOSE = Tolerance(0.25, 0.0, "reference")


def _judged(seen: list[float], reference: list[float], tolerance: Tolerance = LOOSE) -> Mismatch | None:
    return judge("c", np.array(seen, np.float32), np.array(reference, np.float64), None, tolerance)


@pytest.mark.spec("A7")
def test_an_element_passes_at_the_tolerance_and_fails_past_it() -> None:
    assert _judged([1.25], [1.0]) is None
    assert _judged([1.2500001], [1.0]) is not None


@pytest.mark.spec("M23")
def test_the_worst_element_is_named_with_its_index_reference_and_gate() -> None:
    seen, right = np.ones((2, 3), np.float32), np.ones((2, 3))
    seen[0, 1], seen[1, 2] = 2.0, 9.0
    found = judge("c", seen, right, None, LOOSE)
    assert found is not None
    assert found.index == (1, 2)
    assert str(found) == "c[1, 2] is 9, reference 1, rtol 0.25, atol 0 (2 of 6 elements wrong)"


@pytest.mark.spec("M23")
def test_nan_where_the_reference_has_none_is_worse_than_any_distance() -> None:
    found = _judged([1e30, float("nan"), 1.0], [1.0, 1.0, 1.0])
    assert found is not None
    assert (found.index, found.seen, found.wrong) == ((1,), "nan", 2)


@pytest.mark.spec("A6")
@pytest.mark.parametrize(
    ("seen", "reference", "right"),
    [
        (np.nan, np.nan, True),
        (1.0, np.nan, False),
        (np.inf, np.nan, False),
        (np.inf, np.inf, True),
        (-np.inf, np.inf, False),
        (3e38, np.inf, False),
        (np.inf, 1.0, False),
        (np.nan, np.inf, False),
    ],
)
def test_what_is_not_finite_must_match_in_kind_and_sign(*, seen: float, reference: float, right: bool) -> None:
    assert (_judged([seen], [reference], Tolerance(1.0, 1e38, "reference")) is None) == right


def test_a_reference_the_dtype_cannot_hold_may_come_back_as_its_infinity() -> None:
    tight = Tolerance(2.0**-20, 0.0, "reference")
    assert _judged([np.inf], [1e39], tight) is None
    assert _judged([-np.inf], [1e39], tight) is not None
    assert _judged([3e38], [1e39], tight) is not None
    assert _judged([np.inf], [3e38], tight) is not None


@pytest.mark.spec("A7")
def test_a_sum_that_cancels_is_judged_by_the_magnitude_behind_it() -> None:
    # 1e4 - 1e4 + 1e-3 in float32 is off by up to half a step of 1e4, 4.9e-4: much of itself, nothing beside its terms.
    seen, right = np.array([1.4e-3], np.float32), np.array([1e-3])
    rtol = 16 * 2.0**-23
    assert judge("c", seen, right, None, Tolerance(rtol, 0.0, "magnitude")) is not None
    assert judge("c", seen, right, np.array([2e4]), Tolerance(rtol, 0.0, "magnitude")) is None


def test_the_scale_is_the_larger_size_and_a_magnitude_that_is_not_finite_allows_nothing_more() -> None:
    right, magnitude = np.array([-1.0, -3.0, 1.0, 1.0]), np.array([2.0, 2.0, np.inf, np.nan])
    assert magnitude_scale(right, magnitude).tolist() == [2.0, 3.0, 1.0, 1.0]


@pytest.mark.spec("A7")
def test_integers_are_exact() -> None:
    exact = Tolerance(0.0, 0.0, "magnitude")
    big = 2**62
    assert judge("c", np.array([big]), np.array([big]), None, exact) is None
    found = judge("c", np.array([big + 1]), np.array([big]), None, exact)
    assert str(found) == f"c is {big + 1}, reference {big}, exact".replace("c is", "c[0] is")
    assert judge("c", np.array([7], np.int8), np.array([8], np.int8), None, Tolerance(0.0, 1.0, "magnitude")) is None


def test_complex_numbers_are_judged_by_their_distance() -> None:
    seen, right = np.array([1 + 1j], np.complex64), np.array([1 + 1.5j])
    assert judge("c", seen, right, None, Tolerance(0.3, 0.0, "reference")) is None
    assert judge("c", seen, right, None, Tolerance(0.2, 0.0, "reference")) is not None


def test_an_array_without_axes_or_without_elements_is_judged_too() -> None:
    wrong = judge("c", np.array(2.0, np.float32), np.array(1.0), None, LOOSE)
    assert str(wrong) == "c is 2, reference 1, rtol 0.25, atol 0"
    assert judge("c", np.empty((0, 3), np.float32), np.empty((0, 3)), None, LOOSE) is None
