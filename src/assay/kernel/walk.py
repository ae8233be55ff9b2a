"""The walk over the combinations of values that satisfy constraints.

Nested loops over the domains, the first tunable outermost. Each constraint is checked at the first depth at which
everything it reads is bound, so that a combination that cannot be completed is cut off with everything below it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.kernel.constraint import Constraint
from assay.kernel.setting import Setting, Value
from assay.signature.facts import Facts


@dataclass(frozen=True, slots=True)
class Tally:
    """What a whole walk met.

    Attributes:
        kept: combinations that satisfy every constraint.
        dropped: combinations each constraint was the first to refuse, in the order of the constraints.
    """

    kept: int
    dropped: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Near:
    """A limit on how far a walk strays: at most `budget` tunables differ from `start`."""

    start: Mapping[str, Value]
    budget: int


class Walk:
    """One way through the combinations; every iteration starts afresh.

    Args:
        values: the values of each tunable, in order.
        constraints: what a combination must satisfy.
        facts: what constraints may read besides tunables.
        near: the limit on how far from a start to look; None: no limit.
    """

    def __init__(
        self,
        values: Mapping[str, Sequence[Value]],
        constraints: Sequence[Constraint],
        facts: Facts,
        near: Near | None = None,
    ) -> None:
        self._names = tuple(values)
        self._values = tuple(values.values())
        self._constraints = tuple(constraints)
        self._facts = facts
        self._near = near
        self._checks = self._hoisted()
        self._below = [math.prod(map(len, self._values[depth:])) for depth in range(len(self._values) + 1)]

    def __iter__(self) -> Iterator[Setting]:
        return self._from_the_top([0] * len(self._constraints))

    def tally(self) -> Tally:
        """What the whole walk meets."""
        dropped = [0] * len(self._constraints)
        kept = sum(1 for _ in self._from_the_top(dropped))
        return Tally(kept, tuple(dropped))

    def _hoisted(self) -> tuple[tuple[int, ...], ...]:
        """Per depth (how many tunables are bound there), the places of the constraints to check."""
        checks: list[list[int]] = [[] for _ in range(len(self._names) + 1)]
        for place, constraint in enumerate(self._constraints):
            if constraint.names is None:
                depth = len(self._names)
            else:
                depth = max((depth for depth, name in enumerate(self._names, 1) if name in constraint.names), default=0)
            checks[depth].append(place)
        return tuple(map(tuple, checks))

    def _from_the_top(self, dropped: list[int]) -> Iterator[Setting]:
        bound: dict[str, object] = dict(self._facts.values)
        facts = Facts(bound, self._facts.tensors, self._facts.device)
        chosen: list[tuple[str, Value]] = []

        def descend(depth: int, moved: int) -> Iterator[Setting]:
            for place in self._checks[depth]:
                if not self._constraints[place].holds(facts):
                    dropped[place] += self._below[depth]
                    return
            if depth == len(self._names):
                yield Setting(tuple(chosen))
                return
            name = self._names[depth]
            for value, now in self._reachable(depth, moved):
                bound[name] = value
                chosen.append((name, value))
                yield from descend(depth + 1, now)
                chosen.pop()

        return descend(0, 0)

    def _reachable(self, depth: int, moved: int) -> Iterator[tuple[Value, int]]:
        """The values at one depth that are near enough, each with how many tunables have moved by then."""
        for value in self._values[depth]:
            now = moved + (self._near is not None and self._near.start[self._names[depth]] != value)
            if self._near is None or now <= self._near.budget:
                yield value, now
