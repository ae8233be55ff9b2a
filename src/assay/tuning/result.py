"""What a tune returns and what it says while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay.kernel import Entrant, Setting, Value
from assay.store import EntrantOutcome, Evidence, Outcome, TuneRecord


@dataclass(frozen=True, slots=True)
class EntrantResult:
    """One entrant's end.

    Attributes:
        kernel: name of the kernel.
        setting: value of each tunable.
        outcome: ``ranked``, ``skipped``, ``not reached``, ``pruned``, ``refused``, ``failed`` or ``not measured``.
        reason: why, in a sentence; empty for a ranked entrant.
        median_ns: median time of a call in the selecting stage, ns; None when it was not timed.
        ratio: its time over the default's in the selecting stage; None when it was not timed.
    """

    kernel: str
    setting: Mapping[str, Value]
    outcome: EntrantOutcome
    reason: str = ""
    median_ns: float | None = None
    ratio: float | None = None

    @property
    def label(self) -> str:
        """The entrant as it is written everywhere: ``tiled[MR=8, NR=16]``."""
        return str(Entrant(self.kernel, Setting.of(self.setting)))


@dataclass(frozen=True, slots=True)
class TrialResult:
    """One entrant that ran, in the order they ran.

    Attributes:
        kernel: name of the kernel.
        setting: value of each tunable.
        delta_ns: its time less the default's, ns; None when it was refused before it was timed.
        noise_ns: standard error of that difference, ns; None when unknown.
        refused: why it was refused; None when it was not.
        gains: whether the confirming race took it.
        wall_s: from its first launch, building included, to its samples resolved, seconds.
    """

    kernel: str
    setting: Mapping[str, Value]
    delta_ns: float | None
    noise_ns: float | None
    refused: str | None
    gains: bool
    wall_s: float

    @property
    def label(self) -> str:
        """The entrant as it is written everywhere: ``tiled[MR=8, NR=16]``."""
        return str(Entrant(self.kernel, Setting.of(self.setting)))


@dataclass(frozen=True, slots=True)
class TuneResult:
    """How one shape of an op was decided.

    Attributes:
        op: name of the op.
        shape: the indices that were tuned.
        outcome: ``gain``, ``no gain`` or ``refused``.
        reason: the outcome in a sentence.
        winner: the entrant that runs from now on.
        default: the entrant that was in force.
        ratio: time of what raced the default over the default's, from confirming data alone: on a gain, the winner's.
            None when nothing raced it.
        interval: 95 % interval of `ratio`; None when there is none.
        evidence: the confirming race; None when there was none.
        trials: the entrants that ran, in order.
        entrants: every entrant, ranked best first.
        record: the account that was kept; None for a single entrant or an answer that was kept before.
        kept: whether the answer was kept by an earlier tune and nothing was measured now.
        complete: whether everything was tried and raced, and the budget did not end it before.
        warnings: protections that were missing while measuring.
    """

    op: str
    shape: Mapping[str, object]
    outcome: Outcome
    reason: str
    winner: EntrantResult
    default: EntrantResult
    ratio: float | None
    interval: tuple[float, float] | None
    evidence: Evidence | None
    trials: tuple[TrialResult, ...]
    entrants: tuple[EntrantResult, ...]
    record: TuneRecord | None
    kept: bool
    complete: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a tune is.

    Attributes:
        op: name of the op.
        shape: the shape being tuned, as text.
        stage: ``build``, ``gate``, ``select``, ``confirm`` or ``done``.
        entrant: the entrant at work; empty between entrants.
        timed: entrants done so far.
        to_go: entrants known to be left.
        best: the best entrant so far; empty before one is known.
        best_ratio: its time over the default's; None before one is known.
        note: something worth a line of its own (a build that failed, a refusal); empty otherwise.
    """

    op: str
    shape: str
    stage: str
    entrant: str = ""
    timed: int = 0
    to_go: int = 0
    best: str = ""
    best_ratio: float | None = None
    note: str = ""
