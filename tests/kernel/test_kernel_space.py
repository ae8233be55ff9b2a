"""All valid settings of a kernel, in canonical order, built by constraint."""

from collections.abc import Callable, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DeclarationError, SpaceError
from assay.kernel import Domain, Setting, Space, Value
from assay.kernel.constraint import declare_constraint
from assay.signature import Facts

Given = str | Callable[..., object]


def space(domains: dict[str, Sequence[Value]], *constraints: Given, **facts: object) -> Space:
    tunables = {name: Domain(tuple(values)) for name, values in domains.items()}
    return Space("tiled", tunables, [declare_constraint("tiled", given) for given in constraints], Facts(facts))


def texts(settings: Sequence[Setting] | Space) -> list[str]:
    return [str(setting) for setting in settings]


def test_settings_come_with_the_first_tunable_moving_slowest() -> None:
    assert texts(space({"MR": [8, 4], "NR": [1, 2]})) == ["MR=8, NR=1", "MR=8, NR=2", "MR=4, NR=1", "MR=4, NR=2"]


def test_a_kernel_without_tunables_has_one_setting() -> None:
    assert list(space({})) == [Setting()]


def test_constraints_may_read_sizes() -> None:
    assert texts(space({"tile": [16, 32, 64]}, "M % tile == 0", M=96)) == ["tile=16", "tile=32"]


def test_constraints_may_be_callables_of_what_they_read() -> None:
    def fits(NR: int, M: int) -> bool:
        return NR <= M

    def everything(**values: int) -> bool:
        return values["MR"] * values["NR"] <= values["M"]

    assert texts(space({"MR": [1, 2], "NR": [2, 4]}, fits, M=3)) == ["MR=1, NR=2", "MR=2, NR=2"]
    assert texts(space({"MR": [1, 2], "NR": [2, 4]}, everything, M=4)) == ["MR=1, NR=2", "MR=1, NR=4", "MR=2, NR=2"]


@pytest.mark.spec("M25")
def test_how_many_were_dropped_and_why_is_reported() -> None:
    found = space({"MR": [4, 8], "NR": [8, 16], "KU": [1, 2, 4]}, "MR * NR <= 64", "KU < MR")
    # Six combinations each of (4, 8), (4, 16), (8, 8) and (8, 16) less those of KU; 8 * 16 > 64 drops three, and
    # KU < MR drops (4, *, 4): one for each NR.
    assert found.combinations == 12
    assert len(found) == 12 - 3 - 2
    assert [(one.constraint, one.count) for one in found.dropped] == [("MR * NR <= 64", 3), ("KU < MR", 2)]


@pytest.mark.spec("X14")
def test_a_space_without_settings_names_the_constraint_that_emptied_it() -> None:
    with pytest.raises(SpaceError) as caught:
        space({"MR": [4, 8], "NR": [8, 16]}, "MR <= 8", "MR * NR > 64", "NR <= M", M=8)
    said = str(caught.value)
    # Of four combinations "MR * NR > 64" leaves (8, 16), which "NR <= M" drops.
    assert said.startswith("tiled: no setting is left: constraint 'NR <= M' (here M=8) drops the 1 combination left ")
    assert "MR in {4, 8}, NR in {8, 16}" in said


@pytest.mark.spec("X14")
def test_a_constraint_that_no_combination_satisfies_is_named_alone() -> None:
    with pytest.raises(SpaceError, match=r"constraint 'MR > 8' drops all 2 combinations of MR in \{4, 8\}"):
        space({"MR": [4, 8]}, "MR > 8", "MR == 4")


@pytest.mark.spec("X14")
def test_a_constraint_is_checked_as_soon_as_what_it_reads_is_bound() -> None:
    asked: list[int] = []

    def small(A: int) -> bool:
        asked.append(A)
        return A == 1

    found = space({"A": [1, 2, 3], "B": list(range(100)), "C": list(range(100))}, small)
    assert next(iter(found)) == Setting.of({"A": 1, "B": 0, "C": 0})
    asked.clear()
    assert len(found) == 100 * 100
    assert asked == [1, 2, 3]
    assert [one.count for one in found.dropped] == [2 * 100 * 100]


def test_a_constraint_that_reads_what_is_not_there_is_an_error_and_not_a_filter() -> None:
    with pytest.raises(DeclarationError, match="Q"):
        space({"MR": [4, 8]}, "MR <= Q")
    with pytest.raises(DeclarationError, match=r"tiled: constraint fits\(Q\) reads Q; there is M, MR"):
        space({"MR": [4, 8]}, _named("fits", lambda Q: Q > 0), M=4)


def test_a_constraint_that_raises_says_what_it_raised() -> None:
    with pytest.raises(DeclarationError, match=r"constraint half\(MR\): raised ZeroDivisionError"):
        space({"MR": [0, 8]}, _named("half", lambda MR: 8 // MR > 1))


def test_what_is_wrong_with_a_setting_is_said() -> None:
    found = space({"MR": [4, 8], "NR": [8, 16]}, "MR * NR <= 64")
    assert Setting.of({"MR": 8, "NR": 8}) in found
    assert found.refusal(Setting.of({"MR": 8, "NR": 16})) == "constraint 'MR * NR <= 64' is false at MR=8, NR=16"
    assert found.refusal(Setting.of({"MR": 5, "NR": 16})) == "MR=5 is not in {4, 8}"
    assert found.refusal(Setting.of({"MR": 4})) == "sets MR; the tunables are MR, NR"
    assert Setting.of({"NR": 8, "MR": 8}) not in found


def test_pinned_tunables_keep_their_value_inside_their_domain_or_not() -> None:
    found = space({"MR": [4, 8], "NR": [8, 16]}, "MR * NR <= 96")
    assert texts(found.pin({"MR": 6})) == ["MR=6, NR=8", "MR=6, NR=16"]
    with pytest.raises(SpaceError, match=r"MR in \{16\}"):
        found.pin({"MR": 16})


def test_a_neighbour_moves_one_tunable_where_it_can() -> None:
    found = space({"MR": [4, 8, 16], "NR": [8, 16]})
    assert texts(found.neighbours(Setting.of({"MR": 8, "NR": 16}), "MR")) == ["MR=4, NR=16", "MR=16, NR=16"]


def test_coupled_tunables_move_together_the_fewest_and_the_first_in_order() -> None:
    found = space({"MR": [4, 8], "NR": [8, 16, 32], "KU": [1, 2]}, "MR * NR == 64 or NR == 32 and MR == 8 and KU == 1")
    start = Setting.of({"MR": 4, "NR": 16, "KU": 2})
    assert start in found
    # MR=8 alone is not valid: with NR=8 two tunables move, with NR=32 and KU=1 three do.
    assert texts(found.neighbours(start, "MR")) == ["MR=8, NR=8, KU=2"]
    # NR=8 needs MR=8; NR=32 needs MR=8 and KU=1.
    assert texts(found.neighbours(start, "NR")) == ["MR=8, NR=8, KU=2", "MR=8, NR=32, KU=1"]


def test_neighbours_of_a_setting_outside_the_space_are_inside_it() -> None:
    found = space({"MR": [4, 8], "NR": [8, 16]})
    assert texts(found.neighbours(Setting.of({"MR": 5, "NR": 9}), "MR")) == ["MR=4, NR=8", "MR=8, NR=8"]


DOMAINS = st.dictionaries(st.sampled_from("ABCD"), st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True))
CONSTRAINTS = st.lists(
    st.sampled_from(["A <= 3", "A + B > 2", "(A * B) % 2 == 0 or C > 1", "B != D", "M % 2 == 0 or D > A"]), unique=True
)
FULL = dict.fromkeys("ABCD", (0, 1))


@settings(deadline=None)
@given(DOMAINS, CONSTRAINTS, st.integers(0, 3))
def test_the_walk_meets_what_filtering_the_product_meets(
    domains: dict[str, list[int]], constraints: list[str], M: int
) -> None:
    whole = {name: tuple(domains.get(name, FULL[name])) for name in "ABCD"}
    rules: dict[str, Callable[[int, int, int, int], bool]] = {
        "A <= 3": lambda a, _b, _c, _d: a <= 3,
        "A + B > 2": lambda a, b, _c, _d: a + b > 2,
        "(A * B) % 2 == 0 or C > 1": lambda a, b, c, _d: (a * b) % 2 == 0 or c > 1,
        "B != D": lambda _a, b, _c, d: b != d,
        "M % 2 == 0 or D > A": lambda a, _b, _c, d: M % 2 == 0 or d > a,
    }
    expected = [
        Setting.of(dict(zip("ABCD", values, strict=True)))
        for values in product(*whole.values())
        if all(rules[text](*values) for text in constraints)
    ]
    if not expected:
        with pytest.raises(SpaceError):
            space(dict(whole), *constraints, M=M)
        return
    found = space(dict(whole), *constraints, M=M)
    assert list(found) == expected
    assert len(found) == len(expected)
    assert found.combinations == len(expected) + sum(one.count for one in found.dropped)
    assert found.exceeds(len(expected) - 1)
    assert not found.exceeds(len(expected))
    start = expected[-1]
    for name in "ABCD":
        reached = found.neighbours(start, name)
        assert {setting.as_dict()[name] for setting in reached} == {setting.as_dict()[name] for setting in expected} - {
            start.as_dict()[name]
        }
        for setting in reached:
            rivals = [one for one in expected if one.as_dict()[name] == setting.as_dict()[name]]
            assert setting == min(rivals, key=start.distance)  # min keeps the first in canonical order on a tie


def _named(name: str, function: Callable[[int], bool]) -> Callable[[int], bool]:
    function.__name__ = name
    return function
