"""What is tried next: the start first, nothing twice, and always an end."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DeclarationError, SpaceError
from assay.kernel import Domain, Setting, Space, Value
from assay.kernel.constraint import declare_constraint
from assay.search import STRATEGIES, Strategy, strategy_for
from assay.signature import Facts

Cost = Callable[[Setting], float | None]


def space(domains: Mapping[str, Sequence[Value]], *constraints: str) -> Space:
    tunables = {name: Domain(tuple(values)) for name, values in domains.items()}
    return Space("tiled", tunables, [declare_constraint("tiled", text) for text in constraints], Facts({}))


def searched(strategy: Strategy, cost: Cost) -> list[list[Setting]]:
    """Every proposal, in order, of a search that is told the costs."""
    proposals: list[list[Setting]] = []
    while proposed := strategy.propose():
        proposals.append(list(proposed))
        strategy.tell({setting: cost(setting) for setting in proposed})
        assert len(proposals) < 1000
    return proposals


def flat(proposals: Sequence[Sequence[Setting]]) -> list[Setting]:
    return [setting for proposal in proposals for setting in proposal]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def values(setting: Setting) -> tuple[Value, ...]:
    return tuple(value for _, value in setting.pairs)


def equal_cost(_setting: Setting) -> float:
    return 1.0


@pytest.mark.spec("M25")
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_recorded_setting_is_first_inside_its_domain_or_not(name: str) -> None:
    found = space({"A": [1, 2, 3], "B": [1, 2]})
    for start in (Setting.of({"A": 3, "B": 2}), Setting.of({"A": 9, "B": 2})):
        assert flat(searched(strategy_for(name, found, start, rng()), equal_cost))[0] == start


@pytest.mark.spec("M25", "M26")
def test_a_small_space_is_tried_whole_in_one_batch_the_start_and_then_canonical_order() -> None:
    found = space({"A": [1, 2], "B": [1, 2, 3]}, "A * B < 6")
    start = Setting.of({"A": 2, "B": 1})
    (proposal,) = searched(strategy_for("default", found, start, rng()), equal_cost)
    assert [values(one) for one in proposal] == [(2, 1), (1, 1), (1, 2), (1, 3), (2, 2)]


@pytest.mark.spec("M26")
def test_past_the_limit_the_default_descends() -> None:
    found = space({"A": list(range(33))})
    whole = space({"A": list(range(32))})
    start = Setting.of({"A": 0})
    assert len(flat(searched(strategy_for("default", whole, start, rng()), equal_cost))) == 32
    lines = space({"A": list(range(6)), "B": list(range(6))})
    corner = Setting.of({"A": 0, "B": 0})
    # 36 settings, of which a descent that never moves tries the start and five others along each of two lines.
    assert len(flat(searched(strategy_for("default", lines, corner, rng()), equal_cost))) == 1 + 5 + 5
    # A limit that is raised is kept to.
    assert len(flat(searched(strategy_for("default", lines, corner, rng(), exhaustive=36), equal_cost))) == 36
    assert len(flat(searched(strategy_for("default", found, start, rng()), equal_cost))) == 33


@pytest.mark.spec("M26")
def test_descent_moves_one_tunable_at_a_time_until_a_pass_moves_nothing() -> None:
    found = space({"A": [1, 2, 3], "B": [1, 2, 3]})

    def cost(setting: Setting) -> float:
        a, b = values(setting)
        assert isinstance(a, int)
        assert isinstance(b, int)
        return 1.0 + 0.1 * (abs(a - 3) + abs(b - 2))

    strategy = strategy_for("descent", found, Setting.of({"A": 1, "B": 1}), rng())
    proposals = [[values(one) for one in proposal] for proposal in searched(strategy, cost)]
    # The line of A at B=1, best at A=3; the line of B at A=3, best at B=2; the line of A at B=2, which stays.
    assert proposals == [[(1, 1), (2, 1), (3, 1)], [(3, 2), (3, 3)], [(1, 2), (2, 2)]]


@pytest.mark.spec("M26")
def test_descent_moves_coupled_tunables_together() -> None:
    found = space({"A": [1, 2, 4], "B": [4, 2, 1]}, "A * B == 4")
    strategy = strategy_for("descent", found, Setting.of({"A": 1, "B": 4}), rng())
    proposals = [[values(one) for one in proposal] for proposal in searched(strategy, equal_cost)]
    assert proposals == [[(1, 4), (2, 2), (4, 1)]]


@pytest.mark.spec("M26")
def test_a_tie_and_a_refusal_leave_descent_where_it_is() -> None:
    found = space({"A": [1, 2, 3], "B": [1, 2]})

    def cost(setting: Setting) -> float | None:
        return None if values(setting)[0] == 3 else 1.0

    strategy = strategy_for("descent", found, Setting.of({"A": 1, "B": 1}), rng())
    proposals = [[values(one) for one in proposal] for proposal in searched(strategy, cost)]
    assert proposals == [[(1, 1), (2, 1), (3, 1)], [(1, 2)]]


def test_descent_leaves_a_start_that_was_refused() -> None:
    found = space({"A": [1, 2, 3], "B": [1, 2]})

    def cost(setting: Setting) -> float | None:
        return 5.0 if values(setting)[0] == 2 else None

    strategy = strategy_for("descent", found, Setting.of({"A": 1, "B": 1}), rng())
    assert (2, 2) in [values(one) for one in flat(searched(strategy, cost))]


@pytest.mark.spec("M25")
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_pinned_tunable_never_moves(name: str) -> None:
    found = space({"A": [1, 2, 3], "B": [1, 2]})
    start = Setting.of({"A": 2, "B": 1})
    tried = flat(searched(strategy_for(name, found, start, rng(), pinned={"A": 2}), equal_cost))
    assert sorted(map(values, tried)) == [(2, 1), (2, 2)]
    with pytest.raises(DeclarationError, match="pinned is A=3"):
        strategy_for(name, found, start, rng(), pinned={"A": 3})


def test_pins_that_leave_no_setting_say_which_constraint_did() -> None:
    with pytest.raises(SpaceError, match="A <= 3"):
        strategy_for("default", space({"A": [1, 2]}, "A <= 3"), Setting.of({"A": 4}), rng(), pinned={"A": 4})


def test_random_settings_are_the_seeds_and_no_more_than_asked() -> None:
    found = space({"A": list(range(10)), "B": list(range(10))})
    start = Setting.of({"A": 0, "B": 0})
    one, same = (flat(searched(strategy_for("random", found, start, rng(), exhaustive=20), equal_cost)) for _ in "12")
    other = flat(searched(strategy_for("random", found, start, np.random.default_rng(8), exhaustive=20), equal_cost))
    assert len(one) == 20
    assert one == same
    assert set(one) != set(other)


def test_a_strategy_nobody_knows_is_refused_with_those_there_are() -> None:
    with pytest.raises(DeclarationError, match="no 'annealing'; expected one of default, exhaustive, descent, random"):
        strategy_for("annealing", space({"A": [1]}), Setting.of({"A": 1}), rng())


@pytest.mark.spec("M25", "M26")
@settings(deadline=None)
@given(
    name=st.sampled_from(STRATEGIES),
    sizes=st.lists(st.integers(1, 4), min_size=0, max_size=4),
    constraints=st.lists(st.sampled_from(["(A + B) % 2 == 0", "A <= B", "A * B <= 6"]), unique=True),
    seed=st.integers(0, 2**32),
    limit=st.integers(1, 40),
)
def test_every_search_ends_and_tries_nothing_twice(
    name: str, sizes: list[int], constraints: list[str], seed: int, limit: int
) -> None:
    domains = {"A": (1, 2), "B": (1, 2)} | {tunable: tuple(range(size)) for tunable, size in zip("CDEF", sizes)}  # noqa: B905
    found = space(domains, *constraints)
    costs = np.random.default_rng(seed)
    kept: dict[Setting, float | None] = {}

    def cost(setting: Setting) -> float | None:
        kept[setting] = None if costs.random() < 0.2 else float(costs.choice([0.9, 1.0, 1.1]))
        return kept[setting]

    start = next(iter(found))
    tried = flat(searched(strategy_for(name, found, start, costs, exhaustive=limit), cost))
    assert tried[0] == start
    assert len(set(tried)) == len(tried)
    assert all(setting in found for setting in tried)
    if name == "exhaustive":
        assert set(tried) == set(found)
    best = min((ratio for ratio in kept.values() if ratio is not None), default=None)
    if name == "descent" and best is not None:
        # Where it ended, no value of any tunable is faster by the setting that reaches it.
        last = next(setting for setting in tried if kept[setting] == best)
        for tunable in found.tunables:
            assert set(found.neighbours(last, tunable)) <= set(tried)
