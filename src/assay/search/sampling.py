"""Settings drawn at random, each at most once."""

from collections.abc import Mapping

import numpy as np

from assay.kernel import Setting, Space


class Sampling:
    """Proposes the start and settings drawn uniformly without repeats, all at once.

    Args:
        space: the settings.
        start: what is tried first, of the space or not.
        rng: draws.
        count: how many settings to propose, the start included, at least 1; a smaller space is proposed whole.
    """

    def __init__(self, space: Space, start: Setting, rng: np.random.Generator, count: int) -> None:
        self._space = space
        self._start = start
        self._rng = rng
        self._count = count
        self._done = False

    def propose(self) -> tuple[Setting, ...]:
        """All the settings, the start first; empty the second time."""
        if self._done:
            return ()
        self._done = True
        others = [setting for setting in self._space if setting != self._start]
        drawn = self._rng.permutation(len(others))[: self._count - 1]
        return (self._start, *(others[int(place)] for place in drawn))

    def tell(self, ratios: Mapping[Setting, float | None]) -> None:
        """Takes note of what was measured, which changes nothing here."""
