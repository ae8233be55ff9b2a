"""The verdicts an environment keeps from tune to tune, and from a tune to the calls."""

from dataclasses import dataclass

from assay.gate import Admitted, Refused, Verdict
from assay.kernel import Entrant
from assay.store import Environment, KeptVerdict
from assay.tuning.bench import Failed
from assay.tuning.keys import VerdictSlot, verdict_slot
from assay.tuning.order import Subject, TuneOrder


def keep_verdict(environment: Environment, slot: VerdictSlot, verdict: Verdict | Failed, date: str) -> None:
    """Keeps what the gate said of a build for a region of calls.

    A build that crashed or hung while it was probed is kept as refused: it must not get the chance to do so in the
    process of a user. One that did not build is not kept: it has no identity, and may build the next time.
    """
    if isinstance(verdict, Failed) and verdict.step != "call":
        return
    passed = isinstance(verdict, Admitted)
    reason = "" if isinstance(verdict, Admitted) else verdict.reason
    environment.keep_verdict(KeptVerdict(slot.build, slot.region, passed, reason, date))


@dataclass(frozen=True, slots=True)
class KeptVerdicts:
    """The environment's verdicts on the entrants of a tune; a tune that measures anew asks anew as well."""

    subject: Subject
    order: TuneOrder

    def known(self, entrant: Entrant) -> Verdict | None:
        """What the environment has; None when it has nothing, or is not to be believed."""
        slot = self._slot(entrant)
        kept = None if slot is None or self.order.remeasure else self.order.environment.verdict(*slot)
        if kept is None:
            return None
        label = f"{self.subject.declaration.name}.{entrant}"
        return Admitted(label, ()) if kept.passed else Refused(label, kept.reason, "")

    def keep(self, entrant: Entrant, verdict: Verdict | Failed) -> None:
        """Keeps a verdict, where there is a place for it."""
        slot = self._slot(entrant)
        if slot is not None:
            keep_verdict(self.order.environment, slot, verdict, self.order.device.clock.date())

    def _slot(self, entrant: Entrant) -> VerdictSlot | None:
        subject, order = self.subject, self.order
        return verdict_slot(subject.declaration, entrant, subject.call, order.device, order.place)
