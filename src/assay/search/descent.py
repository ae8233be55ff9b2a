"""Coordinate descent: one tunable at a time, from the best so far, until a pass moves nothing.

For each tunable in turn, each of its values is tried at the setting that differs least from the best so far; coupled
tunables move together. The best moves only to what is strictly faster, so ties keep what is there, and each pass that
moves nothing ends the search: it always ends, since a space has finitely many settings and none is proposed twice.
"""

from collections.abc import Mapping

from assay.kernel import Setting, Space


class Descent:
    """Proposes a line of settings at a time; the start comes first.

    Args:
        space: the settings.
        start: where to begin, of the space or not.
    """

    def __init__(self, space: Space, start: Setting) -> None:
        self._space = space
        self._best = start
        self._start = start
        self._ratios: dict[Setting, float | None] = {}
        self._proposed: set[Setting] = set()
        self._lines = tuple(space.tunables)
        self._line = 0
        self._still = 0

    def propose(self) -> tuple[Setting, ...]:
        """The next line's settings that were not proposed before; empty when a whole pass has moved nothing."""
        fresh: list[Setting] = [] if self._proposed else [self._start]
        while self._still < len(self._lines):
            line = self._space.neighbours(self._best, self._lines[self._line])
            fresh += [setting for setting in line if setting not in self._proposed and setting != self._start]
            if fresh:
                break
            self._next_line()
        self._proposed.update(fresh)
        return tuple(fresh)

    def tell(self, ratios: Mapping[Setting, float | None]) -> None:
        """Moves to the fastest of what was proposed, if it is faster than the best so far.

        Args:
            ratios: time over the default's, by setting; None: refused or failed, never a place to go.
        """
        self._ratios.update(ratios)
        before = self._best
        for setting, ratio in ratios.items():
            best = self._ratios.get(self._best)
            if ratio is not None and (best is None or ratio < best):
                self._best = setting
        if self._best != before:
            self._still = -1  # this line too must be tried again from here
        self._next_line()

    def _next_line(self) -> None:
        """Turns to the next tunable; counts how many lines in a row have moved nothing."""
        self._line = (self._line + 1) % max(len(self._lines), 1)
        self._still += 1
