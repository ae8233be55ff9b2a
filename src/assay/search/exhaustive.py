"""Every setting, the start first."""

from collections.abc import Iterator, Mapping
from itertools import islice

from assay.kernel import Setting, Space


class Exhaustive:
    """Proposes the start, then every other setting of a space in canonical order.

    Args:
        space: the settings.
        start: what is tried first, of the space or not.
        batch: the most settings in one proposal, at least 1.
    """

    def __init__(self, space: Space, start: Setting, batch: int) -> None:
        self._batch = batch
        self._left = _start_first(space, start)

    def propose(self) -> tuple[Setting, ...]:
        """The next settings; empty when there are none left."""
        return tuple(islice(self._left, self._batch))

    def tell(self, ratios: Mapping[Setting, float | None]) -> None:
        """Takes note of what was measured, which changes nothing here."""


def _start_first(space: Space, start: Setting) -> Iterator[Setting]:
    yield start
    for setting in space:
        if setting != start:
            yield setting
