"""A bench whose verdicts and times are scripted: for testing how entrants are decided about, without running any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.gate import Admitted, Verdict
from assay.kernel import Entrant
from assay.measure import Confirmation, Protocol, Standing, confirm, select
from assay.testing.sampler import ScriptedSampler
from assay.tuning import Failed, Selected
from assay.tuning.bench import DefaultLostError, OnExamined


@dataclass
class ScriptedBench:
    """A bench on which an entrant takes what its script says.

    Attributes:
        cost_ns: time of a call, by the entrant's text (``tiled[MR=8]``).
        verdicts: what the gate says, by the entrant's text; admitted where nothing is said.
        crashes: entrants that do not come back from being timed, by their text, with the reason.
        lost: entrants that do not run any more once they are timed as the default, by their text.
        examined: the entrants examined, in order.
        selected: each batch that was timed, the default first.
        confirmed: who raced the default.
        warnings: protections said to be missing.
    """

    cost_ns: Mapping[str, float]
    verdicts: Mapping[str, Verdict | Failed] = field(default_factory=dict[str, Verdict | Failed])
    crashes: Mapping[str, str] = field(default_factory=dict[str, str])
    lost: frozenset[str] = frozenset()
    examined: list[str] = field(default_factory=list[str])
    selected: list[list[str]] = field(default_factory=list[list[str]])
    confirmed: list[str] = field(default_factory=list[str])
    warnings: tuple[str, ...] = ()

    def examine(self, entrants: Sequence[Entrant], on_examined: OnExamined) -> dict[Entrant, Verdict | Failed]:
        """The scripted verdicts."""
        self.examined += [str(entrant) for entrant in entrants]
        found = {one: self.verdicts.get(str(one), Admitted(str(one), ("shape",))) for one in entrants}
        for entrant, verdict in found.items():
            on_examined(entrant, verdict)
        return found

    def select(self, entrants: Sequence[Entrant], default: Entrant) -> Selected:
        """The shipped selecting stage on the scripted times."""
        self._require(default)
        lost = {one: Failed(self.crashes[str(one)]) for one in entrants if str(one) in self.crashes}
        alive = [default, *(one for one in entrants if one not in lost)]
        self.selected.append([str(one) for one in alive])
        found = select(self._sampler(alive), range(len(alive)), 0, Protocol())
        standings: dict[Entrant, Standing | Failed] = {alive[one.entrant]: one for one in found.standings}
        return Selected({**standings, **lost}, found.default, found.refused)

    def confirm(self, candidate: Entrant, default: Entrant) -> Confirmation | Failed:
        """The shipped confirming race on the scripted times."""
        self.confirmed.append(str(candidate))
        self._require(default)
        return confirm(self._sampler([default, candidate]), 1, 0, Protocol())

    def _require(self, default: Entrant) -> None:
        if str(default) in self.lost:
            raise DefaultLostError(str(default), "the default cannot be timed: raised ValueError: not any more")

    def _sampler(self, entrants: Sequence[Entrant]) -> ScriptedSampler:
        costs = [self.cost_ns[str(entrant)] for entrant in entrants]
        return ScriptedSampler(lambda entrant, _before: costs[entrant])
