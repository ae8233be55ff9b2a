"""How a space of settings is searched: propose some, be told how fast they were, until there is nothing left to try.

Every strategy proposes the start first, proposes nothing twice, stays within what is pinned, and ends.
"""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from assay.errors import DeclarationError
from assay.kernel import Setting, Space, Value
from assay.search.descent import Descent
from assay.search.exhaustive import Exhaustive
from assay.search.sampling import Sampling

EXHAUSTIVE_LIMIT = 32
"""Settings up to which the default strategy tries them all."""

STRATEGIES = ("default", "exhaustive", "descent", "random")
"""The names of the strategies."""


class Strategy(Protocol):
    """A search under way."""

    def propose(self) -> tuple[Setting, ...]:
        """The settings to time next; empty: the search is over."""
        ...

    def tell(self, ratios: Mapping[Setting, float | None]) -> None:
        """Hears about what it proposed last, before it is asked again.

        Args:
            ratios: time over the default's, by setting; None: refused or failed.
        """
        ...


def strategy_for(
    name: str,
    space: Space,
    start: Setting,
    rng: np.random.Generator,
    *,
    exhaustive: int = EXHAUSTIVE_LIMIT,
    pinned: Mapping[str, Value] | None = None,
) -> Strategy:
    """The strategy of a name, about to start.

    Args:
        name: one of `STRATEGIES`. The default tries every setting where there are at most `exhaustive`, and descends
            by coordinates where there are more; ``random`` tries `exhaustive` settings.
        space: the settings.
        start: the recorded setting, tried first, of the space or not.
        rng: draws what is random.
        exhaustive: settings up to which all are tried, at least 1.
        pinned: tunables that never move, with their values, which are the start's.

    Raises:
        DeclarationError: no strategy has this name, or the start is not at what is pinned.
        SpaceError: no setting of the space is at what is pinned.
    """
    held = dict(pinned or {})
    moved = {tunable: value for tunable, value in start.pairs if held.get(tunable, value) != value}
    if moved:
        raise DeclarationError(space.subject, f"the start has {Setting.of(moved)}, pinned is {Setting.of(held)}")
    within = space.pin(held) if held else space
    limit = max(exhaustive, 1)
    match name:
        case "default":
            return Descent(within, start) if within.exceeds(limit) else Exhaustive(within, start, batch=limit + 1)
        case "exhaustive":
            return Exhaustive(within, start, batch=limit)
        case "descent":
            return Descent(within, start)
        case "random":
            return Sampling(within, start, rng, limit)
        case _:
            raise DeclarationError("strategy", f"there is no {name!r}; expected one of {', '.join(STRATEGIES)}")
