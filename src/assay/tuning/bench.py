"""Where entrants are examined and timed, seen from the deciding side.

`decide` asks a `Bench`: is this entrant right, how fast are these, does this one really beat the default? The bench
of a real device does it in a worker process (`workbench`); tests hand over a scripted one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from assay.errors import MeasureError
from assay.gate import Verdict
from assay.kernel import Entrant
from assay.measure import Confirmation, Standing


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """An entrant that did not build, crashed, hung or raised.

    Attributes:
        reason: what happened, in a sentence.
        step: what it was doing: ``build`` or ``call``.
    """

    reason: str
    step: str = "call"


OnExamined = Callable[[Entrant, Verdict | Failed], None]


class Verdicts(Protocol):
    """A place where verdicts are kept from tune to tune."""

    def known(self, entrant: Entrant) -> Verdict | None:
        """What was said of the entrant's build before; None when it is to be asked now."""
        ...

    def keep(self, entrant: Entrant, verdict: Verdict | Failed) -> None:
        """Keeps what was said."""
        ...


class DefaultLostError(MeasureError):
    """The default does not run any more; whatever else was admitted may."""


class Selected(msgspec.Struct, frozen=True):
    """What the selecting stage says of a batch.

    Attributes:
        standings: how each entrant did.
        default: how the default did beside them; None when nothing could be timed.
        refused: why no figure of this batch is used; None when they stand.
    """

    standings: dict[Entrant, Standing | Failed]
    default: Standing | None
    refused: str | None = None


class Bench(Protocol):
    """Where entrants of one shape are examined and timed."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The protections that are missing while measuring here."""
        ...

    def examine(self, entrants: Sequence[Entrant], on_examined: OnExamined) -> Mapping[Entrant, Verdict | Failed]:
        """Builds and judges each entrant, in order; one that takes its worker down is `Failed`, the others go on.

        Args:
            entrants: what to examine.
            on_examined: told of each verdict as it is reached.
        """
        ...

    def select(self, entrants: Sequence[Entrant], default: Entrant) -> Selected:
        """Times the entrants beside the default, interleaved: the selecting stage, which claims nothing.

        Raises:
            DefaultLostError: the default itself does not run any more.
        """
        ...

    def confirm(self, candidate: Entrant, default: Entrant) -> Confirmation | Failed:
        """Races one candidate against the default on fresh data: the stage that claims.

        Raises:
            DefaultLostError: the default itself does not run any more.
        """
        ...
