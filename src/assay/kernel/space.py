"""All valid settings of a kernel on one call's sizes, built by constraint.

The order in which the walk over the domains meets the settings is the *canonical order*: the first declared tunable
moves slowest, each through its values as they are listed. Nothing is listed before it is asked for.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.errors import DeclarationError, SpaceError
from assay.kernel.constraint import Constraint
from assay.kernel.domain import Domain
from assay.kernel.setting import Setting, Value, format_value
from assay.kernel.walk import Near, Tally, Walk
from assay.signature import Expr
from assay.signature.facts import Facts


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many combinations one constraint was the first to refuse.

    Attributes:
        constraint: the constraint as it is written.
        count: combinations of the domains' values; at least 1.
    """

    constraint: str
    count: int


class Space:
    """The settings valid for one call, in canonical order; at least one.

    Args:
        subject: the kernel's name, for errors.
        tunables: the domain of each tunable, in order.
        constraints: what a setting must satisfy.
        facts: the call's dims, dtypes, parameters and layouts, which constraints may read.

    Raises:
        SpaceError: no setting is left; the message names the constraint that emptied the space.
        DeclarationError: a constraint reads a name that has no value.
    """

    def __init__(
        self, subject: str, tunables: Mapping[str, Domain], constraints: Sequence[Constraint], facts: Facts
    ) -> None:
        self.subject = subject
        self.tunables = dict(tunables)
        self.constraints = tuple(constraints)
        self._facts = facts
        self._refuse_unknown()
        self._walk = Walk(self._values(), self.constraints, facts)
        if next(iter(self._walk), None) is None:
            raise self._empty()

    @property
    def combinations(self) -> int:
        """How many combinations the domains have, valid or not."""
        return math.prod(len(domain) for domain in self.tunables.values())

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._walk)

    def __contains__(self, setting: object) -> bool:
        return isinstance(setting, Setting) and self.refusal(setting) is None

    def __len__(self) -> int:
        """How many settings there are; walks the space once and remembers."""
        return self._tally.kept

    def exceeds(self, limit: int) -> bool:
        """Whether there are more settings than `limit`, found without walking further than that."""
        return any(place >= limit for place, _ in enumerate(self))

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        """How many combinations each constraint dropped, in order; one that dropped none is left out."""
        counts = zip(self.constraints, self._tally.dropped, strict=True)
        return tuple(Dropped(constraint.text, count) for constraint, count in counts if count)

    def refusal(self, setting: Setting) -> str | None:
        """Why a setting is not of this space; None: it is."""
        values = setting.as_dict()
        if tuple(values) != tuple(self.tunables):
            return f"sets {', '.join(values) or 'nothing'}; the tunables are {', '.join(self.tunables) or 'none'}"
        for name, domain in self.tunables.items():
            if values[name] not in domain:
                return f"{name}={format_value(values[name])} is not in {domain}"
        facts = self._facts.with_values(values)
        for constraint in self.constraints:
            if not constraint.holds(facts):
                return f"constraint '{constraint.text}' is false at {setting or 'the only setting'}"
        return None

    def pin(self, values: Mapping[str, Value]) -> "Space":
        """The part of this space in which some tunables have one given value each, inside their domains or not.

        Raises:
            SpaceError: no setting is left.
        """
        pinned = {name: Domain((values[name],)) if name in values else own for name, own in self.tunables.items()}
        return Space(self.subject, pinned, self.constraints, self._facts)

    def neighbours(self, setting: Setting, tunable: str) -> tuple[Setting, ...]:
        """Each other value of one tunable, reached by the setting that differs least from a given one.

        Coupled tunables move together: where a value is valid only if others move as well, the setting that moves
        fewest of them is taken, the first in canonical order on a tie. A value that cannot be reached is left out.

        Args:
            setting: where to start, a value for every tunable; it need not be of this space.
            tunable: the tunable whose values are wanted.
        """
        start = setting.as_dict()
        line = (self._nearest(start, tunable, value) for value in self.tunables[tunable] if start[tunable] != value)
        return tuple(found for found in line if found is not None)

    @cached_property
    def _tally(self) -> Tally:
        return self._walk.tally()

    def _refuse_unknown(self) -> None:
        """Refuses a callable that takes a name without a value; an expression says so itself, if it gets that far."""
        known = {**self._facts.values, **self.tunables}
        for constraint in self.constraints:
            missing = sorted((constraint.names or frozenset()) - known.keys())
            if missing and not isinstance(constraint.condition, Expr):
                said = f"constraint {constraint.text} reads {', '.join(missing)}; there is {', '.join(known)}"
                raise DeclarationError(self.subject, said)

    def _values(self) -> dict[str, Sequence[Value]]:
        return {name: domain.values for name, domain in self.tunables.items()}

    def _nearest(self, start: Mapping[str, Value], tunable: str, value: Value) -> Setting | None:
        values = self._values() | {tunable: (value,)}
        for budget in range(1, len(values) + 1):
            found = next(iter(Walk(values, self.constraints, self._facts, Near(start, budget))), None)
            if found is not None:
                return found
        return None

    def _empty(self) -> SpaceError:
        """The error of a space without settings: the first constraint that, after those before it, leaves none."""
        place, before = 0, self.combinations
        while left := Walk(self._values(), self.constraints[: place + 1], self._facts).tally().kept:
            place, before = place + 1, left
        culprit = self.constraints[place]
        domains = ", ".join(f"{name} in {domain}" for name, domain in self.tunables.items())
        read = [name for name in sorted(culprit.names or ()) if name in self._facts.values]
        here = f" (here {', '.join(f'{name}={self._facts.values[name]}' for name in read)})" if read else ""
        noun = "combination" if before == 1 else "combinations"
        which = f"all {before} {noun}" if place == 0 else f"the {before} {noun} left by those before it,"
        said = f"no setting is left: constraint '{culprit.text}'{here} drops {which}"
        return SpaceError(self.subject, f"{said} of {domains}" if domains else said, "widen a domain or relax it")
