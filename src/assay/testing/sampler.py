"""A sampler whose figures are scripted, and which remembers what it was asked for."""

from collections.abc import Callable
from dataclasses import dataclass, field

from assay.measure import EntrantFailure, Sample


@dataclass(frozen=True)
class Asked:
    """One block that was asked for."""

    entrant: int
    placement: int
    calls: int


@dataclass
class ScriptedSampler:
    """Blocks of calls that all take what a script says.

    Attributes:
        figure_ns: from entrant and how many blocks of it came before: the time of each call; None: every call waited;
            text: the entrant fails with this reason.
        asked: the blocks asked for, in order.
    """

    figure_ns: Callable[[int, int], float | str | None]
    asked: list[Asked] = field(default_factory=list[Asked])

    def block(self, entrant: int, placement: int, calls: int, wait_limit_ns: int) -> Sample:
        """The scripted block."""
        before = sum(asked.entrant == entrant for asked in self.asked)
        self.asked.append(Asked(entrant, placement, calls))
        figure = self.figure_ns(entrant, before)
        if isinstance(figure, str):
            raise EntrantFailure(figure)
        if figure is None:
            return Sample((), calls, (wait_limit_ns + 1) * calls)
        return Sample((figure,) * calls, 0, 0)
