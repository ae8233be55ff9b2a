"""A race: selecting, then confirming the one survivor on data that did not choose it."""

from collections.abc import Sequence

import msgspec

from assay.measure.confirmation import Confirmation, Outcome, confirm
from assay.measure.protocol import Protocol
from assay.measure.sampler import Sampler
from assay.measure.selection import Selection, select


class Race(msgspec.Struct, frozen=True):
    """The outcome of a race.

    Attributes:
        selection: the first stage, which claims nothing.
        confirmation: the second; None when the first left nobody to confirm.
    """

    selection: Selection
    confirmation: Confirmation | None

    @property
    def outcome(self) -> Outcome:
        """``gain``: the confirmed candidate takes the default's place; else the default stands."""
        if self.confirmation is not None:
            return self.confirmation.outcome
        return "refused" if self.selection.refused is not None else "no gain"

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        if self.confirmation is not None:
            return self.confirmation.reason
        return self.selection.refused or "no other entrant came near the default's time"

    @property
    def blocks(self) -> int:
        """Blocks run in both stages."""
        return self.selection.blocks + (self.confirmation.blocks if self.confirmation else 0)


def race(sampler: Sampler, entrants: Sequence[int], default: int, protocol: Protocol) -> Race:
    """Whether any of `entrants` beats `default`, and which.

    Args:
        sampler: runs the blocks.
        entrants: the entrants, the default with or without; earlier ones win ties.
        default: the entrant in force.
        protocol: how the race is run.

    Raises:
        MeasureError: the default failed, or is too fast to time.
    """
    selection = select(sampler, entrants, default, protocol)
    if selection.survivor is None:
        return Race(selection, None)
    return Race(selection, confirm(sampler, selection.survivor, default, protocol))
