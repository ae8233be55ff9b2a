"""What a person types for a shape or a budget is read, or refused with what to write instead."""

import pytest

from assay.errors import TargetError
from assay.job import read_budget, read_shape


def test_a_shape_is_its_pairs_in_the_order_typed() -> None:
    assert list(read_shape("M=256,B=2x3,T=float32").items()) == [("M", "256"), ("B", "2x3"), ("T", "float32")]


def test_spaces_around_names_and_values_do_not_count() -> None:
    assert read_shape(" M = 256 , N=8") == {"M": "256", "N": "8"}


@pytest.mark.parametrize("text", ["M", "M=", "=256", "M=256,", "", "M 256"])
def test_a_pair_without_name_or_value_is_refused_and_says_how_to_write_it(text: str) -> None:
    with pytest.raises(TargetError, match=r"expected NAME=VALUE, got .*; write it as M=256,N=256"):
        read_shape(text)


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(TargetError, match=r"shape 'M=1,M=2': M is given twice"):
        read_shape("M=1,M=2")


@pytest.mark.parametrize(
    ("text", "seconds"), [("60s", 60.0), ("2m", 120.0), ("90", 90.0), ("1.5m", 90.0), ("1h", 3600.0), (" 5 S ", 5.0)]
)
def test_a_budget_is_read_in_seconds(text: str, seconds: float) -> None:
    assert read_budget(text) == seconds


@pytest.mark.parametrize("text", ["0", "0s", "-5s", "soon", "", "5d", "inf", "nan", "1e3"])
def test_a_budget_that_is_no_time_above_zero_is_refused(text: str) -> None:
    with pytest.raises(TargetError, match="expected a time above zero; write it as 60s, 2m or 90"):
        read_budget(text)
