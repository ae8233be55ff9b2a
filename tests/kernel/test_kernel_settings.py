"""What a setting, an entrant and a domain are."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DeclarationError
from assay.kernel import Domain, Entrant, Setting, Value
from assay.kernel.domain import declare_domain

VALUES: st.SearchStrategy[Value] = st.one_of(
    st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.text(max_size=4)
)


def test_a_setting_reads_as_its_values_in_order() -> None:
    assert str(Setting.of({"MR": 8, "NR": 16})) == "MR=8, NR=16"
    assert str(Setting.of({"packed": True, "order": "row", "share": 0.5})) == "packed=true, order=row, share=0.5"
    assert str(Setting()) == ""


def test_an_entrant_reads_as_its_kernel_with_the_setting_where_there_is_one() -> None:
    assert str(Entrant("tiled", Setting.of({"MR": 8, "NR": 16}))) == "tiled[MR=8, NR=16]"
    assert str(Entrant("numpy")) == "numpy"


def test_equal_settings_are_one_key_and_other_orders_are_others() -> None:
    one = Setting.of({"MR": 8, "NR": 16})
    assert {one: "kept"}[Setting.of({"MR": 8, "NR": 16})] == "kept"
    assert one != Setting.of({"NR": 16, "MR": 8})


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=3), VALUES), max_size=3), st.lists(st.tuples(st.text(max_size=3), VALUES)))
def test_only_the_same_values_of_the_same_kinds_have_the_same_bytes(
    one: list[tuple[str, Value]], other: list[tuple[str, Value]]
) -> None:
    def typed(pairs: list[tuple[str, Value]]) -> list[tuple[str, type, str]]:
        return [(name, type(value), str(value)) for name, value in dict(pairs).items()]

    assert (Setting.of(one).encoded() == Setting.of(other).encoded()) == (typed(one) == typed(other))


def test_one_true_and_one_point_nought_have_other_bytes() -> None:
    assert Setting.of({"MR": 1}) == Setting.of({"MR": True})
    assert len({Setting.of({"MR": value}).encoded() for value in (1, True, 1.0, "1")}) == 4


def test_distance_counts_the_tunables_that_differ() -> None:
    start = Setting.of({"MR": 4, "NR": 8, "packed": True})
    assert start.distance(start) == 0
    assert start.distance(Setting.of({"MR": 8, "NR": 8, "packed": False})) == 2


def test_a_domain_hands_out_its_own_value_for_one_that_means_the_same() -> None:
    domain = declare_domain("tiled.MR", [4, 8])
    found = domain.find(np.int64(8))
    assert found == 8
    assert type(found) is int
    assert domain.find(8.0) == 8
    assert domain.find(5) is None


def test_true_does_not_mean_one() -> None:
    assert True not in declare_domain("tiled.MR", [0, 1])
    assert 1 not in declare_domain("tiled.packed", [False, True])


def test_any_iterable_of_scalars_declares_a_domain() -> None:
    assert declare_domain("tiled.MR", range(2, 8, 2)) == Domain((2, 4, 6))
    assert declare_domain("tiled.MR", np.array([4, 8])) == Domain((4, 8))
    assert str(declare_domain("tiled.order", ("row", "column"))) == "{row, column}"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "has no values"),
        ([4, 8, 4], "4 is listed twice"),
        ([1, True], "true is listed twice"),
        ([float("nan")], "nan is not a finite int or float"),
        ([[4]], r"\[4\] is not a finite int or float"),
        ("48", "expected a list of values"),
        (8, "expected a list of values"),
    ],
)
def test_a_domain_that_cannot_be_is_refused_by_name(values: Iterable[Value], said: str) -> None:
    with pytest.raises(DeclarationError, match=rf"^tiled\.MR: .*{said}"):
        declare_domain("tiled.MR", values)
