"""How one key is decided: settings, gate, selecting stage, confirming race.

`decide` proposes entrants by each candidate's strategy, has the bench judge and time them beside the default, and lets
one survivor try to take the default's place on fresh data. It changes nothing and keeps nothing: what comes back is the
decision and its whole account. Everything that was considered ends with a word: ranked, skipped, not reached, refused,
failed or not measured.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from assay.device import Device
from assay.errors import DeclarationError, TuneError
from assay.gate import Admitted, Verdict
from assay.kernel import Entrant, Setting
from assay.measure import Confirmation, Standing
from assay.search import Strategy, strategy_for
from assay.signature import Facts
from assay.store import EntrantOutcome, Outcome
from assay.tuning.bench import Bench, DefaultLostError, Failed, Selected
from assay.tuning.contest import Contest, Decision, Search
from assay.tuning.declaration import Candidate, by_tier
from assay.tuning.keys import device_facts
from assay.tuning.result import EntrantResult, Progress, TrialResult

CHUNK = 4
"""How many entrants are examined between two looks at a budget."""

FINALISTS = 4
"""How many of the best are timed side by side once more when they were selected in different batches."""


def decide(
    contest: Contest, bench: Bench, search: Search, device: Device, on_progress: Callable[[Progress], None]
) -> Decision:
    """Decides which entrant runs a call.

    Args:
        contest: what is to be decided.
        bench: where entrants are judged and timed.
        search: how to look.
        device: gives the clock, and the facts expressions may read.
        on_progress: told where the tune is.

    Raises:
        TuneError: no entrant passed the gate, or none serves the call; the message gives each reason.
        MeasureError: the default does not run any more.
    """
    course = _Course(contest, bench, search, device, on_progress, contest.default)
    course.enter()
    while course.next_batch():
        course.examine_batch()
        course.select_batch()
    return course.conclude()


@dataclass(slots=True)
class _Course:
    """The course of one decision."""

    contest: Contest
    bench: Bench
    search: Search
    device: Device
    on_progress: Callable[[Progress], None]
    default: Entrant
    strategies: dict[str, Strategy] = field(default_factory=dict[str, Strategy])
    skipped: list[EntrantResult] = field(default_factory=list[EntrantResult])
    batch: list[Entrant] = field(default_factory=list[Entrant])
    admitted: list[Entrant] = field(default_factory=list[Entrant])
    refused: dict[Entrant, tuple[EntrantOutcome, str]] = field(
        default_factory=dict[Entrant, tuple[EntrantOutcome, str]]
    )
    not_reached: list[Entrant] = field(default_factory=list[Entrant])
    standings: dict[Entrant, Standing] = field(default_factory=dict[Entrant, Standing])
    own_standing: Standing | None = None
    trouble: str = ""
    began_ns: dict[Entrant, int] = field(default_factory=dict[Entrant, int])
    wall_s: dict[Entrant, float] = field(default_factory=dict[Entrant, float])
    batches: int = 0
    looked_at: int = 0
    cut_short: bool = False
    faded: bool = False
    start_ns: int = 0

    def enter(self) -> None:
        """Finds the candidates that run this call and gives each a strategy."""
        self.start_ns = self.device.clock.now_ns()
        call, device = self.contest.call, device_facts(self.device)
        for found in self.contest.declaration.candidates:
            if self.search.only not in (None, found.name):
                continue
            reason = found.refusal(call, device)
            if reason is not None:
                self._skip(found, reason)
                continue
            try:
                self.strategies[found.name] = self._strategy(found, call.facts(device))
            except DeclarationError as trouble:
                self._skip(found, trouble.said)
        if not self.strategies:
            reasons = "; ".join(f"{one.kernel}: {one.reason}" for one in self.skipped) or "it has no kernels"
            raise TuneError(str(self.contest), f"nothing to tune: {reasons}")

    def _strategy(self, candidate: Candidate, facts: Facts) -> Strategy:
        """The candidate's strategy, about to start from the setting it has now.

        Raises:
            DeclarationError: its space is empty, or a value it is pinned to lies outside its domain.
        """
        kernel, name = candidate.kernel, candidate.name
        own = self.default.setting if name == self.default.kernel else kernel.setting_in_force(facts)
        pinned = self.search.pinned.get(name, {})
        start, space = kernel.setting({**own.as_dict(), **pinned}), kernel.space(facts)
        if name != self.default.kernel and space.refusal(start) is not None:
            start = next(iter(space.pin(pinned)))  # the declared default is not valid for this call
        rng = np.random.default_rng((self.search.seed, len(self.strategies)))
        return strategy_for(self.search.strategy, space, start, rng, pinned=pinned)

    def next_batch(self) -> bool:
        """Gathers what the strategies propose next, the default first; False when they are done or time is up."""
        proposed = [Entrant(name, setting) for name, found in self.strategies.items() for setting in found.propose()]
        if not proposed and self.batches:
            return False
        if self._time_is_up():
            self.not_reached += proposed
            return False
        if self.batches == 0 and self.default.kernel in self.strategies:
            proposed = [self.default, *(one for one in proposed if one != self.default)]
        self.batch = proposed
        self.batches += 1
        return bool(proposed)

    def examine_batch(self) -> None:
        """Has the batch built and judged; what is not admitted is out, with its reason."""
        left, self.batch = self.batch, []
        size = len(left) if self.search.budget_s is None else CHUNK
        while left:
            if self.batch and self._time_is_up():
                self.not_reached += left
                break
            chunk, left = left[:size], left[size:]
            self.batch += chunk
            self.began_ns |= dict.fromkeys(chunk, self.device.clock.now_ns())
            self._tell("gate", str(chunk[0]), to_go=len(chunk) + len(left))
            self._examine(chunk, len(left))
        if self.default not in self.admitted:
            self.default = self._next_default()

    def _examine(self, chunk: list[Entrant], behind: int) -> None:
        def examined(entrant: Entrant, verdict: Verdict | Failed) -> None:
            place = chunk.index(entrant) + 1
            self._examined(entrant, verdict, chunk[place] if place < len(chunk) else None, len(chunk) - place + behind)

        for entrant, verdict in self.bench.examine(chunk, examined).items():
            if isinstance(verdict, Admitted):
                self.admitted.append(entrant)
            elif isinstance(verdict, Failed):
                self._refuse(entrant, "failed", verdict.reason)
            else:
                self._refuse(entrant, "refused", verdict.reason)

    def _next_default(self) -> Entrant:
        """What stands in for a default that is out: the unmeasured choice among the admitted, at its own setting."""
        for found in by_tier(self.contest.declaration.candidates):
            for entrant in self.admitted:
                if entrant.kernel == found.name:
                    return entrant
        return self.default

    def select_batch(self) -> None:
        """Has the admitted of the batch timed beside the default, and tells the strategies."""
        alive = [entrant for entrant in self.batch if entrant in self.admitted]
        rivals = [entrant for entrant in alive if entrant != self.default]
        if rivals:
            self._tell("select", to_go=len(rivals))
            self._select(rivals)
        now = self.device.clock.now_ns()
        ratios: dict[str, dict[Setting, float | None]] = {name: {} for name in self.strategies}
        for entrant in self.batch:
            self.wall_s.setdefault(entrant, (now - self.began_ns[entrant]) / 1e9)
            standing = self.standings.get(entrant)
            known = 1.0 if entrant == self.default else standing.ratio if standing else None
            if entrant.kernel in ratios:
                ratios[entrant.kernel][entrant.setting] = known
        for name, found in self.strategies.items():
            found.tell(ratios[name])

    def conclude(self) -> Decision:
        """Lets the one survivor race the default, and puts the account together."""
        survivor = self._survivor()
        if not self.admitted and self.refused:
            reasons = "; ".join(f"{entrant}: {reason}" for entrant, (_, reason) in self.refused.items())
            raise TuneError(str(self.contest), f"no entrant survived: {reasons}")
        confirmation: Confirmation | None = None
        outcome: Outcome = "no gain"
        if survivor is None and self.trouble:
            outcome, reason = "refused", self.trouble
        elif survivor is None:
            reason = self._why_nobody()
        elif self._time_is_up():
            self.cut_short = True
            reason = f"out of budget before {survivor} could be confirmed"
        else:
            self._tell("confirm", str(survivor))
            found = self._confirmed(survivor)
            if isinstance(found, Confirmation):
                confirmation, outcome, reason = found, found.outcome, _raced(survivor, found)
            else:
                reason = found
        winner = survivor if outcome == "gain" and survivor is not None else self.default
        return Decision(
            outcome=outcome,
            reason=reason,
            winner=winner,
            default=self.default,
            confirmation=confirmation,
            entrants=self._account(),
            trials=self._trials(winner, outcome),
            standings=self._timed(),
            short_circuit=None,
            cut_short=self.cut_short or bool(self.not_reached),
            warnings=self.bench.warnings,
        )

    def _confirmed(self, survivor: Entrant) -> Confirmation | str:
        """The race of the survivor against the default; or why it did not come to an end."""
        try:
            found = self.bench.confirm(survivor, self.default)
        except DefaultLostError as lost:
            gone = self.default
            self._replace_default(lost)
            self.default = survivor
            return f"the default {gone} failed while it was raced, and {survivor} takes its place: {lost.said}"
        if isinstance(found, Confirmation):
            return found
        self._refuse(survivor, "failed", found.reason)
        return f"{survivor} failed while it was confirmed: {found.reason}"

    def _why_nobody(self) -> str:
        """Why no entrant is worth confirming."""
        if not self.standings and self.not_reached:
            return "out of budget before anything was timed"
        if len(self.admitted) == 1:
            return "the only entrant that can run"
        if self.faded:
            return "what seemed faster than the default was not when it was timed once more"
        return "nothing was faster than the default when selecting"

    def _timed(self) -> dict[Entrant, Standing]:
        own = {} if self.own_standing is None else {self.default: self.own_standing}
        return {**own, **self.standings}

    def _survivor(self) -> Entrant | None:
        """The fastest of the selecting stage; None when nothing was faster than the default."""
        ahead = self._ahead(self.standings)
        if self.batches == 1 or len(ahead) <= 1 or self._time_is_up():
            return ahead[0] if ahead else None
        finalists, self.faded = ahead[:FINALISTS], True
        self._select(finalists)
        ahead = self._ahead(finalists)
        return ahead[0] if ahead else None

    def _ahead(self, entrants: Iterable[Entrant]) -> list[Entrant]:
        """Those that were faster than the default, fastest first."""
        ratios = {one: found.ratio for one in entrants if (found := self.standings.get(one)) is not None}
        faster = [(ratio, str(one), one) for one, ratio in ratios.items() if ratio is not None and ratio < 1.0]
        return [one for _, _, one in sorted(faster, key=lambda found: found[:2])]

    def _select(self, rivals: list[Entrant]) -> None:
        """Times rivals beside the default; one that is lost gives its place to the next, and they are timed again."""
        while rivals:
            try:
                self._rank(self.bench.select(rivals, self.default))
            except DefaultLostError as lost:
                self._replace_default(lost)
                rivals = [one for one in rivals if one != self.default] if self.admitted else []
            else:
                return

    def _replace_default(self, lost: DefaultLostError) -> None:
        """Puts the default out; what was measured beside it says nothing of the next one."""
        self._refuse(self.default, "failed", lost.said)
        self.standings.clear()
        self.own_standing = None
        self.default = self._next_default()

    def _rank(self, selected: Selected) -> None:
        self.own_standing = selected.default or self.own_standing
        self.trouble = selected.refused or ""
        for entrant, standing in selected.standings.items():
            if isinstance(standing, Failed):
                self._refuse(entrant, "failed", standing.reason)
            elif standing.refused is not None or standing.ratio is None:
                self._refuse(entrant, "refused", standing.refused or selected.refused or "no round came out clean")
            else:
                self.standings[entrant] = standing

    def _refuse(self, entrant: Entrant, outcome: EntrantOutcome, reason: str) -> None:
        self.refused[entrant] = (outcome, reason)
        self.standings.pop(entrant, None)
        if entrant in self.admitted:
            self.admitted.remove(entrant)

    def _skip(self, candidate: Candidate, reason: str) -> None:
        setting = candidate.kernel.default.as_dict()
        self.skipped.append(EntrantResult(candidate.name, setting, "skipped", reason))
        self._tell("gate", note=f"{candidate.name}: {reason}")

    def _examined(self, entrant: Entrant, verdict: Verdict | Failed, following: Entrant | None, to_go: int) -> None:
        self.looked_at += 1
        now, note = self.device.clock.now_ns(), ""
        if not isinstance(verdict, Admitted):
            note = f"{entrant}: {verdict.reason}"
            self.wall_s[entrant] = (now - self.began_ns[entrant]) / 1e9
        if following is not None:
            self.began_ns[following] = now
        self._tell("gate", str(following or ""), to_go=to_go, note=note)

    def _tell(self, stage: str, entrant: str = "", *, to_go: int = 0, note: str = "") -> None:
        """Says where the tune is."""
        ahead = self._ahead(self.standings)
        standing = self.standings[ahead[0]] if ahead else None
        self.on_progress(
            Progress(
                op=self.contest.declaration.name,
                shape=self.contest.shape,
                stage=stage,
                entrant=entrant,
                timed=self.looked_at,
                to_go=to_go,
                best=str(ahead[0]) if ahead else str(self.default) if self.admitted else "",
                best_ratio=standing.ratio if standing else None,
                note=note,
            )
        )

    def _time_is_up(self) -> bool:
        budget = self.search.budget_s
        return budget is not None and (self.device.clock.now_ns() - self.start_ns) / 1e9 >= budget

    def _account(self) -> tuple[EntrantResult, ...]:
        """Every entrant with its end."""
        found: list[EntrantResult] = []
        for entrant in self.admitted:
            standing = self.own_standing if entrant == self.default else self.standings.get(entrant)
            if standing is not None and standing.median_ns is not None:
                found.append(_result(entrant, "ranked", "", standing))
            else:
                found.append(_result(entrant, "not measured", "", None))
        found += [_result(entrant, "not reached", "out of budget", None) for entrant in self.not_reached]
        found += self.skipped
        found += [_result(entrant, outcome, reason, None) for entrant, (outcome, reason) in self.refused.items()]
        return tuple(found)

    def _trials(self, winner: Entrant, outcome: Outcome) -> tuple[TrialResult, ...]:
        return tuple(self._trial(entrant, outcome == "gain" and entrant == winner) for entrant in self.began_ns)

    def _trial(self, entrant: Entrant, gains: bool) -> TrialResult:  # noqa: FBT001 - a column of the trial
        standing = self.standings.get(entrant)
        is_default = entrant == self.default and self.own_standing is not None
        return TrialResult(
            kernel=entrant.kernel,
            setting=entrant.setting.as_dict(),
            delta_ns=standing.delta_ns if standing else 0.0 if is_default else None,
            noise_ns=standing.noise_ns if standing else None,
            refused=self.refused[entrant][1] if entrant in self.refused else None,
            gains=gains,
            wall_s=self.wall_s[entrant],
        )


def _raced(candidate: Entrant, found: Confirmation) -> str:
    """The confirming race in a sentence."""
    took = "" if found.ratio is None else f"{found.ratio:.3f} of the default's time, "
    return f"{candidate}: {took}{found.reason}"


def _result(entrant: Entrant, outcome: EntrantOutcome, reason: str, standing: Standing | None) -> EntrantResult:
    ratio = None if standing is None else 1.0 if standing.ratio is None else standing.ratio
    return EntrantResult(
        kernel=entrant.kernel,
        setting=entrant.setting.as_dict(),
        outcome=outcome,
        reason=reason,
        median_ns=standing.median_ns if standing else None,
        ratio=ratio,
    )
