"""What is to be decided, how to look, and what a decision says."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.kernel import Entrant, Value
from assay.measure import Confirmation, Standing
from assay.signature import Call
from assay.store import Outcome
from assay.tuning.declaration import Declaration
from assay.tuning.result import EntrantResult, TrialResult


@dataclass(frozen=True, eq=False, slots=True)
class Contest:
    """What is to be decided.

    Attributes:
        declaration: the op.
        call: the call.
        default: the entrant in force; it stands unless the confirming race says otherwise.
        shape: the call's shape as text.
    """

    declaration: Declaration
    call: Call
    default: Entrant
    shape: str

    def __str__(self) -> str:
        return f"{self.declaration.name} at {self.shape}"


@dataclass(frozen=True, slots=True)
class Search:
    """How to look for a better entrant.

    Attributes:
        strategy: name of the strategy.
        seed: what every random choice follows from.
        budget_s: seconds after which no further batch is begun; None means no end.
        pinned: tunables that never move, by kernel.
    """

    strategy: str = "default"
    seed: int = 0
    budget_s: float | None = None
    pinned: Mapping[str, Mapping[str, Value]] = field(default_factory=dict[str, Mapping[str, Value]])


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, and its account.

    Attributes:
        outcome: ``gain``, ``no gain`` or ``refused``.
        reason: the outcome in a sentence.
        winner: the entrant that runs from now on.
        default: the entrant that was in force.
        confirmation: the confirming race; None when there was none.
        entrants: every entrant.
        trials: the entrants that ran, in order.
        standings: how each timed entrant did in the selecting stage, the default too.
        cut_short: whether not everything was tried and raced: the budget ended before, or a trouble that passes (a full
            disk) kept an entrant out.
        warnings: protections that were missing.
    """

    outcome: Outcome
    reason: str
    winner: Entrant
    default: Entrant
    confirmation: Confirmation | None
    entrants: tuple[EntrantResult, ...]
    trials: tuple[TrialResult, ...]
    standings: Mapping[Entrant, Standing]
    cut_short: bool
    warnings: tuple[str, ...]

    @property
    def measured(self) -> bool:
        """Whether anything was timed."""
        return bool(self.standings)
