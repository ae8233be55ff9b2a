"""What becomes of each entrant of a tune: admitted, timed, refused, skipped or not reached, and why."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.gate import Admitted, Verdict
from assay.kernel import Entrant
from assay.measure import Standing
from assay.store import EntrantOutcome
from assay.tuning.bench import Failed, Selected
from assay.tuning.declaration import Candidate
from assay.tuning.result import EntrantResult, TrialResult

PASSING = ("No space left on device", "Disk quota exceeded", "Too many open files")
"""What systems and compilers say of a trouble that passes."""


@dataclass(slots=True)
class Ledger:
    """The entrants of one decision, and what is known of each.

    Attributes:
        admitted: those that may be timed, in the order they were judged.
        refused: those that are out, with the word for it and the reason.
        skipped: candidates that do not run the call at all.
        not_reached: those the budget left out.
        standings: how those that were timed did beside the default.
        default_standing: how the default did; None before it was timed.
        trouble: why the last selecting stage was refused; empty where it was not.
        began_ns: when each was begun with.
        wall_s: seconds each took, building included.
    """

    admitted: list[Entrant] = field(default_factory=list[Entrant])
    refused: dict[Entrant, tuple[EntrantOutcome, str]] = field(
        default_factory=dict[Entrant, tuple[EntrantOutcome, str]]
    )
    skipped: list[EntrantResult] = field(default_factory=list[EntrantResult])
    not_reached: list[Entrant] = field(default_factory=list[Entrant])
    standings: dict[Entrant, Standing] = field(default_factory=dict[Entrant, Standing])
    default_standing: Standing | None = None
    trouble: str = ""
    began_ns: dict[Entrant, int] = field(default_factory=dict[Entrant, int])
    wall_s: dict[Entrant, float] = field(default_factory=dict[Entrant, float])

    @property
    def passing_trouble(self) -> bool:
        """Whether an entrant failed for what has nothing to do with it and passes: a full disk."""
        return any(said in reason for _, reason in self.refused.values() for said in PASSING)

    @property
    def reasons(self) -> str:
        """Why each refused entrant is out, in one line."""
        return "; ".join(f"{entrant}: {reason}" for entrant, (_, reason) in self.refused.items())

    def skip(self, candidate: Candidate, reason: str) -> None:
        """Writes down a candidate that does not run the call."""
        self.skipped.append(EntrantResult(candidate.name, candidate.kernel.default.as_dict(), "skipped", reason))

    def judge(self, entrant: Entrant, verdict: Verdict | Failed) -> None:
        """Takes the gate's word on an entrant."""
        if isinstance(verdict, Admitted):
            self.admitted.append(entrant)
        elif isinstance(verdict, Failed):
            self.refuse(entrant, "failed", verdict.reason)
        else:
            self.refuse(entrant, "refused", verdict.reason)

    def refuse(self, entrant: Entrant, outcome: EntrantOutcome, reason: str) -> None:
        """Puts an entrant out."""
        self.refused[entrant] = (outcome, reason)
        self.standings.pop(entrant, None)
        if entrant in self.admitted:
            self.admitted.remove(entrant)

    def lose_default(self, default: Entrant, reason: str) -> None:
        """Puts the default out; what was measured beside it says nothing of the next one."""
        self.refuse(default, "failed", reason)
        self.standings.clear()
        self.default_standing = None

    def rank(self, selected: Selected) -> None:
        """Takes what a selecting stage says."""
        self.default_standing = selected.default or self.default_standing
        self.trouble = selected.refused or ""
        for entrant, standing in selected.standings.items():
            if isinstance(standing, Failed):
                self.refuse(entrant, "failed", standing.reason)
            elif standing.refused is not None or standing.ratio is None:
                self.refuse(entrant, "refused", standing.refused or selected.refused or "no round came out clean")
            else:
                self.standings[entrant] = standing

    def ahead(self, entrants: Iterable[Entrant] | None = None) -> list[Entrant]:
        """Those that were faster than the default, fastest first.

        Args:
            entrants: the ones to look at; None means all.
        """
        looked_at = self.standings if entrants is None else entrants
        ratios = {one: found.ratio for one in looked_at if (found := self.standings.get(one)) is not None}
        faster = [(ratio, str(one), one) for one, ratio in ratios.items() if ratio is not None and ratio < 1.0]
        return [one for _, _, one in sorted(faster, key=lambda found: found[:2])]

    def ratio(self, entrant: Entrant, default: Entrant) -> float | None:
        """An entrant's time over the default's; None when it was not timed."""
        standing = self.standings.get(entrant)
        return 1.0 if entrant == default else standing.ratio if standing is not None else None

    def timed(self, default: Entrant) -> dict[Entrant, Standing]:
        """How each timed entrant did, the default first."""
        own = {} if self.default_standing is None else {default: self.default_standing}
        return {**own, **self.standings}

    def account(self, default: Entrant) -> tuple[EntrantResult, ...]:
        """Every entrant with its end."""
        timed = self.timed(default)
        found = [_admitted(entrant, timed.get(entrant)) for entrant in self.admitted]
        found += [_unmeasured(entrant, "not reached", "out of budget") for entrant in self.not_reached]
        found += self.skipped
        found += [_unmeasured(entrant, outcome, reason) for entrant, (outcome, reason) in self.refused.items()]
        return tuple(found)

    def trials(self, default: Entrant, gains: Entrant | None) -> tuple[TrialResult, ...]:
        """The entrants that ran, in order.

        Args:
            default: the default.
            gains: the one the confirming race took; None when it took none.
        """
        return tuple(self._trial(entrant, default, gains) for entrant in self.began_ns)

    def _trial(self, entrant: Entrant, default: Entrant, gains: Entrant | None) -> TrialResult:
        standing = self.standings.get(entrant)
        is_default = entrant == default and self.default_standing is not None
        return TrialResult(
            kernel=entrant.kernel,
            setting=entrant.setting.as_dict(),
            delta_ns=standing.delta_ns if standing else 0.0 if is_default else None,
            noise_ns=standing.noise_ns if standing else None,
            refused=self.refused[entrant][1] if entrant in self.refused else None,
            gains=entrant == gains,
            wall_s=self.wall_s[entrant],
        )


def _admitted(entrant: Entrant, standing: Standing | None) -> EntrantResult:
    if standing is None or standing.median_ns is None:
        return _unmeasured(entrant, "not measured", "")
    ratio = 1.0 if standing.ratio is None else standing.ratio
    return EntrantResult(entrant.kernel, entrant.setting.as_dict(), "ranked", "", standing.median_ns, ratio)


def _unmeasured(entrant: Entrant, outcome: EntrantOutcome, reason: str) -> EntrantResult:
    return EntrantResult(entrant.kernel, entrant.setting.as_dict(), outcome, reason)
