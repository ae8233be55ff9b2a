"""How one key is decided: settings, gate, selecting stage, confirming race.

`decide` proposes entrants by each candidate's strategy, has the bench judge and time them beside the default, and lets
one survivor try to take the default's place on fresh data. It changes nothing and keeps nothing: what comes back is the
decision and its whole account. Everything that was considered ends with a word: ranked, skipped, not reached, refused,
failed or not measured.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from assay.device import Device
from assay.errors import DeclarationError, TuneError
from assay.gate import Admitted, Verdict
from assay.kernel import Entrant, Setting
from assay.measure import Confirmation
from assay.search import Strategy, strategy_for
from assay.signature import Facts
from assay.store import Outcome
from assay.tuning.bench import Bench, DefaultLostError, Failed
from assay.tuning.contest import Contest, Decision, Search
from assay.tuning.declaration import Candidate, by_tier
from assay.tuning.keys import device_facts
from assay.tuning.ledger import Ledger
from assay.tuning.result import Progress

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
    ledger: Ledger = field(default_factory=Ledger)
    batch: list[Entrant] = field(default_factory=list[Entrant])
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
            reason = found.refusal(call, device)
            if reason is not None:
                self._skip(found, reason)
                continue
            try:
                self.strategies[found.name] = self._strategy(found, call.facts(device))
            except DeclarationError as trouble:
                self._skip(found, trouble.said)
        if not self.strategies:
            reasons = "; ".join(f"{one.kernel}: {one.reason}" for one in self.ledger.skipped) or "it has no kernels"
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
            self.ledger.not_reached += proposed
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
                self.ledger.not_reached += left
                break
            chunk, left = left[:size], left[size:]
            self.batch += chunk
            self.ledger.began_ns |= dict.fromkeys(chunk, self.device.clock.now_ns())
            self._tell("gate", str(chunk[0]), to_go=len(chunk) + len(left))
            self._examine(chunk, len(left))
        if self.default not in self.ledger.admitted:
            self.default = self._next_default()

    def _examine(self, chunk: list[Entrant], behind: int) -> None:
        def examined(entrant: Entrant, verdict: Verdict | Failed) -> None:
            place = chunk.index(entrant) + 1
            self._examined(entrant, verdict, chunk[place] if place < len(chunk) else None, len(chunk) - place + behind)

        for entrant, verdict in self.bench.examine(chunk, examined).items():
            self.ledger.judge(entrant, verdict)

    def _next_default(self) -> Entrant:
        """What stands in for a default that is out: the unmeasured choice among the admitted, at its own setting."""
        for found in by_tier(self.contest.declaration.candidates):
            for entrant in self.ledger.admitted:
                if entrant.kernel == found.name:
                    return entrant
        return self.default

    def select_batch(self) -> None:
        """Has the admitted of the batch timed beside the default, and tells the strategies."""
        alive = [entrant for entrant in self.batch if entrant in self.ledger.admitted]
        rivals = [entrant for entrant in alive if entrant != self.default]
        if rivals:
            self._tell("select", to_go=len(rivals))
            self._select(rivals)
        now = self.device.clock.now_ns()
        ratios: dict[str, dict[Setting, float | None]] = {name: {} for name in self.strategies}
        for entrant in self.batch:
            self.ledger.wall_s.setdefault(entrant, (now - self.ledger.began_ns[entrant]) / 1e9)
            if entrant.kernel in ratios:
                ratios[entrant.kernel][entrant.setting] = self.ledger.ratio(entrant, self.default)
        for name, found in self.strategies.items():
            found.tell(ratios[name])

    def conclude(self) -> Decision:
        """Lets the one survivor race the default, and puts the account together."""
        survivor = self._survivor()
        if not self.ledger.admitted and self.ledger.refused:
            raise TuneError(str(self.contest), f"no entrant survived: {self.ledger.reasons}")
        confirmation: Confirmation | None = None
        outcome: Outcome = "no gain"
        if survivor is None and self.ledger.trouble:
            outcome, reason = "refused", self.ledger.trouble
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
            entrants=self.ledger.account(self.default),
            trials=self.ledger.trials(self.default, winner if outcome == "gain" else None),
            standings=self.ledger.timed(self.default),
            cut_short=self.cut_short or bool(self.ledger.not_reached) or self.ledger.passing_trouble,
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
        self.ledger.refuse(survivor, "failed", found.reason)
        return f"{survivor} failed while it was confirmed: {found.reason}"

    def _why_nobody(self) -> str:
        """Why no entrant is worth confirming."""
        if not self.ledger.standings and self.ledger.not_reached:
            return "out of budget before anything was timed"
        if len(self.ledger.admitted) == 1:
            return "the only entrant that can run"
        if self.faded:
            return "what seemed faster than the default was not when it was timed once more"
        return "nothing was faster than the default when selecting"

    def _survivor(self) -> Entrant | None:
        """The fastest of the selecting stage; None when nothing was faster than the default."""
        ahead = self.ledger.ahead()
        if self.batches == 1 or len(ahead) <= 1 or self._time_is_up():
            return ahead[0] if ahead else None
        finalists, self.faded = ahead[:FINALISTS], True
        self._select(finalists)
        ahead = self.ledger.ahead(finalists)
        return ahead[0] if ahead else None

    def _select(self, rivals: list[Entrant]) -> None:
        """Times rivals beside the default; one that is lost gives its place to the next, and they are timed again."""
        while rivals:
            try:
                self.ledger.rank(self.bench.select(rivals, self.default))
            except DefaultLostError as lost:
                self._replace_default(lost)
                rivals = [one for one in rivals if one != self.default] if self.ledger.admitted else []
            else:
                return

    def _replace_default(self, lost: DefaultLostError) -> None:
        self.ledger.lose_default(self.default, lost.said)
        self.default = self._next_default()

    def _skip(self, candidate: Candidate, reason: str) -> None:
        self.ledger.skip(candidate, reason)
        self._tell("gate", note=f"{candidate.name}: {reason}")

    def _examined(self, entrant: Entrant, verdict: Verdict | Failed, following: Entrant | None, to_go: int) -> None:
        self.looked_at += 1
        now, note = self.device.clock.now_ns(), ""
        if not isinstance(verdict, Admitted):
            note = f"{entrant}: {verdict.reason}"
            self.ledger.wall_s[entrant] = (now - self.ledger.began_ns[entrant]) / 1e9
        if following is not None:
            self.ledger.began_ns[following] = now
        self._tell("gate", str(following or ""), to_go=to_go, note=note)

    def _tell(self, stage: str, entrant: str = "", *, to_go: int = 0, note: str = "") -> None:
        """Says where the tune is."""
        ahead = self.ledger.ahead()
        standing = self.ledger.standings[ahead[0]] if ahead else None
        self.on_progress(
            Progress(
                op=self.contest.declaration.name,
                shape=self.contest.shape,
                stage=stage,
                entrant=entrant,
                timed=self.looked_at,
                to_go=to_go,
                best=str(ahead[0]) if ahead else str(self.default) if self.ledger.admitted else "",
                best_ratio=standing.ratio if standing else None,
                note=note,
            )
        )

    def _time_is_up(self) -> bool:
        budget = self.search.budget_s
        return budget is not None and (self.device.clock.now_ns() - self.start_ns) / 1e9 >= budget


def _raced(candidate: Entrant, found: Confirmation) -> str:
    """The confirming race in a sentence."""
    took = "" if found.ratio is None else f"{found.ratio:.3f} of the default's time, "
    return f"{candidate}: {took}{found.reason}"
