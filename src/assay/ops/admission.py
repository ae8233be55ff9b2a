"""What must have happened before a kernel answers a call: it was built, and the gate let its build pass.

A verdict holds for a build and a region of calls. It is looked for in memory, then in the environment, and reached
here, on copies, when nobody has it yet; then it is kept for both.
"""

from collections.abc import Callable, Mapping
from uuid import uuid4

from assay.errors import MeasureError
from assay.gate import Admitted, Verdict
from assay.kernel import Entrant, Setting
from assay.measure import Protocol
from assay.ops.arbiter import Admit, Exclusion
from assay.ops.built import BuiltKernel
from assay.ops.regime import Regime
from assay.ops.sources import device_here, environment_or_none, facts_here, log, place_here
from assay.signature import Call
from assay.tuning import (
    Candidate,
    Declaration,
    Failed,
    Job,
    Shop,
    VerdictSlot,
    WorkBench,
    exact_shape,
    keep_verdict,
    layouts_of,
    verdict_slot,
)
from assay.worker import Limits, Worker

Verdicts = dict[VerdictSlot, str]
"""Why a build may not run in a region; empty where it may."""

_Ask = Callable[[VerdictSlot | None], str]
"""Asks the gate why a build may not run, and is told where its verdict is kept, if anywhere."""


class Admission:
    """Builds and gates the candidates of one op, and remembers the verdicts."""

    def __init__(self, declaration: Declaration) -> None:
        """Creates an admission that knows nothing yet."""
        self._declaration = declaration
        self._verdicts: Verdicts = {}

    def admitting(self, call: Call, regime: Regime, inputs: Mapping[str, object]) -> Admit:
        """What builds and gates a candidate for a call.

        Args:
            call: the call.
            regime: says where verdicts are kept, and whether the gate is asked at all.
            inputs: the caller's own inputs by name; the gate works on copies of them.
        """
        shop = Shop(self._declaration, call, device=facts_here(), place=place_here(), inputs=inputs)

        def admit(candidate: Candidate, setting: Setting) -> BuiltKernel | Exclusion:
            entrant = Entrant(candidate.name, setting)

            def ask(slot: VerdictSlot | None) -> str:
                return self._judged(shop, entrant, slot, regime)

            reason = self._reason(candidate, setting, call, regime, ask)
            if reason:
                return Exclusion(reason)
            return BuiltKernel(candidate.kernel, setting, shop.program(entrant))

        return admit

    def known(self, call: Call, regime: Regime) -> Admit:
        """What says of a candidate whether a verdict is known that it may not run; it builds and runs nothing."""

        def admit(candidate: Candidate, setting: Setting) -> Exclusion | None:
            reason = self._reason(candidate, setting, call, regime, _unasked)
            return Exclusion(reason) if reason else None

        return admit

    def _reason(self, candidate: Candidate, setting: Setting, call: Call, regime: Regime, ask: _Ask) -> str:
        """Why a build may not run a call; empty when it may.

        Under ``tuned`` nobody is asked, and what is known to be wrong, or to crash, does not run all the same.
        """
        if regime.gate == "off":
            return ""
        ask = ask if regime.gate == "always" else _unasked
        entrant = Entrant(candidate.name, setting)
        slot = verdict_slot(self._declaration, entrant, call, device_here(), place_here())
        if slot is None:
            return ask(None)
        if slot not in self._verdicts:
            environment = environment_or_none(regime)
            kept = None if environment is None else environment.verdict(*slot)
            if kept is None:
                return ask(slot)
            self._verdicts[slot] = "" if kept.passed else kept.reason
        return self._verdicts[slot]

    def _judged_apart(self, shop: Shop, entrant: Entrant) -> Verdict | Failed | None:
        """The verdict on a C kernel, from a process of its own, so that its first crash is not the caller's.

        None for kernels of other frontends, and where there can be no such process: then it is judged here.
        """
        if shop.candidate(entrant).kernel.frontend != "c":
            return None
        job = Job(
            id=uuid4().hex,
            declaration=self._declaration.only(entrant.kernel),
            shape=exact_shape(self._declaration, shop.call),
            inputs=shop.inputs,
            layouts=layouts_of(shop.call),
            place=place_here(),
            protocol=Protocol(),
            limits=Limits(),
            own_process=True,
        )
        with Worker() as worker:
            try:
                return WorkBench(job, worker).examine([entrant], _unheard)[entrant]
            except MeasureError as impossible:
                log.info("%s is judged in this process: %s", entrant, impossible)
                return None

    def _judged(self, shop: Shop, entrant: Entrant, slot: VerdictSlot | None, regime: Regime) -> str:
        """The gate's reason, asked now and kept; empty when it lets the entrant pass."""
        verdict = self._judged_apart(shop, entrant)
        if verdict is None:
            verdict = shop.judge(entrant)
        if isinstance(verdict, Failed) and verdict.step != "call":
            return verdict.reason
        reason = "" if isinstance(verdict, Admitted) else verdict.reason
        if slot is not None:
            self._verdicts[slot] = reason
            environment = environment_or_none(regime)
            if environment is not None and environment.writable:
                keep_verdict(environment, slot, verdict, device_here().clock.date())
        return reason


def _unasked(slot: VerdictSlot | None) -> str:
    """What is said of a build when the gate is not asked: nothing against it."""
    del slot
    return ""


def _unheard(entrant: Entrant, verdict: Verdict | Failed) -> None:
    del entrant, verdict
