"""How a call gets its plan: what is proposed is chosen, built and gated, and the choice is written down.

A planner is made for one declaration; when the declaration changes, so does the planner, and nothing it remembered
survives.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any

import numpy as np

from assay.array import dtype_of
from assay.errors import AssayError, NoKernelError
from assay.kernel import Setting, Value
from assay.ops.admission import Admission
from assay.ops.alignment import AlignmentSwitch, reads_alignment
from assay.ops.arbiter import Admit, Choice, Exclusion, Proposal, Question, choose, choose_forced, unmeasured
from assay.ops.built import BuiltKernel
from assay.ops.explain import Explanation, best_ratios, never_ran
from assay.ops.launch import Launch, nothing, reference_launch, strict_refusal
from assay.ops.log import DispatchEntry, DispatchLog, save_at_exit
from assay.ops.measuring import measured_answer
from assay.ops.plan import Plan
from assay.ops.regime import Regime
from assay.ops.sources import (
    device_here,
    facts_here,
    kept_answer,
    log,
    proposals,
    recorded_settings,
    resolved,
    tell_once,
)
from assay.ops.tuned import TunedSettings
from assay.signature import Call, outputs_written
from assay.store import Answer, Resolved
from assay.tuning import Declaration, by_tier, exact_shape, shape_text

NOTHING_TO_WRITE = Choice(None, None, "reference", "there is nothing to write", "no_candidate", None)
"""The choice for a call whose every output is empty."""


class Planner:
    """Plans the calls of one declaration.

    Args:
        declaration: what was declared.
        pinned: the kernel, and the values of its tunables, that every call runs; None leaves it open.
        built: where what is built is listed, by kernel name and build identity.
        log: where selections are written down.
        tuned: the settings of tuned mode.
    """

    def __init__(
        self,
        declaration: Declaration,
        pinned: tuple[str, Mapping[str, Value]] | None,
        built: dict[tuple[str, str], BuiltKernel],
        log: DispatchLog,
        tuned: TunedSettings,
    ) -> None:
        self._declaration = declaration
        self._pinned = pinned
        self._built = built
        self._log = log
        self._tuned = tuned
        self._admission = Admission(declaration)

    def plan(self, call: Call, regime: Regime, excluded: Mapping[str, Exclusion], inputs: Mapping[str, object]) -> Plan:
        """The plan of a call.

        Args:
            call: the call.
            regime: what is in force.
            excluded: kernels that declined or failed this call before.
            inputs: the caller's inputs by name.

        Raises:
            NoKernelError: nothing serves the call and there is no reference.
            CallError: a kernel is forced that the op does not have, or that is not available here.
        """
        if not outputs_written(call):
            return self._made(call, nothing, NOTHING_TO_WRITE, excluded, tag="nothing")
        if reads_alignment(self._declaration):
            return self._switch(call, regime, excluded)
        return self._plan_exactly(call, regime, excluded, inputs)

    def explain(self, call: Call, regime: Regime) -> Explanation:
        """Which entrant would run a call, from where, and why; nothing is built or run.

        Raises:
            CallError: a kernel is forced that the op does not have, or that is not available here.
        """
        found = resolved(self._declaration, call, regime)
        question = self._question(call, found, {})
        answer = kept_answer(self._declaration, call, regime)
        known = self._admission.known(call, regime)
        written = bool(outputs_written(call))
        choice = self._choose(question, regime, found, answer, known) if written else NOTHING_TO_WRITE
        asked = {*choice.rejected, choice.entrant.kernel if choice.entrant is not None else None}
        others = [one.name for one in by_tier(self._declaration.candidates) if one.name not in asked and written]
        never = never_ran(answer)
        reasons = {name: self._reason_against(question, name, known) or never.get(name, "") for name in others}
        fingerprint = device_here().fingerprint
        return Explanation(
            op=self._declaration.name,
            shape=shape_text(exact_shape(self._declaration, call)),
            entrant=choice.entrant,
            source=choice.source if choice.entrant is not None else "reference",
            reason=choice.reason,
            device=f"{fingerprint.name} ({fingerprint.slug})",
            policy=regime.policy,
            answer=choice.answer,
            rejected={**choice.rejected, **{name: reason for name, reason in reasons.items() if reason}},
            others=tuple(name for name, reason in reasons.items() if not reason),
            ratios=best_ratios(answer),
        )

    def question(self, call: Call, regime: Regime) -> Question:
        """A call as the arbiter is asked about it, with what the profile records."""
        return self._question(call, resolved(self._declaration, call, regime), {})

    def _switch(self, call: Call, regime: Regime, excluded: Mapping[str, Exclusion]) -> Plan:
        """A plan that looks where the arrays of each call lie; the plans behind it count the calls."""
        switch = AlignmentSwitch(call, lambda met, inputs: self._plan_exactly(met, regime, excluded, inputs))
        return Plan(switch, self._fresh(call), count(), call, None, dict(excluded))

    def _plan_exactly(
        self, call: Call, regime: Regime, excluded: Mapping[str, Exclusion], inputs: Mapping[str, object]
    ) -> Plan:
        choice = self._choice(call, regime, excluded, inputs)
        launch = self._launch(choice, call)
        tag = "kernel" if choice.built is not None else "reference"
        plan = self._made(call, nothing if regime.dry_run else launch, choice, excluded, tag=tag)
        if regime.strict and choice.outcome in ("degraded", "error"):
            plan.launch = strict_refusal(self._declaration.name, choice, plan.step)
        return plan

    def _reason_against(self, question: Question, name: str, known: Admit) -> str:
        """Why a kernel would not run a call, as far as is known without building it; empty when nothing is."""
        candidate = self._declaration.candidate(name)
        reason = None if candidate is None else candidate.refusal(question.call, question.device)
        if reason is not None:
            return reason
        found = choose_forced(question, name, "tier", known)
        return "" if found.outcome == "won" else found.reason

    def _choice(
        self, call: Call, regime: Regime, excluded: Mapping[str, Exclusion], inputs: Mapping[str, object]
    ) -> Choice:
        found = resolved(self._declaration, call, regime)
        question = self._question(call, found, excluded)
        answer = kept_answer(self._declaration, call, regime)
        if answer is None and (found is None or found.choose is None) and self._measures(regime):
            answer = measured_answer(question, regime, inputs)
        admit = self._admission.admitting(call, regime, inputs)
        choice = self._choose(question, regime, found, answer, admit)
        if choice.entrant is None or not self._tuned.requested:
            return choice
        return self._tuned_choice(choice, question, regime, admit)

    def _tuned_choice(self, choice: Choice, question: Question, regime: Regime, admit: Admit) -> Choice:
        """The same kernel at the setting tuned mode found for this call; as it was where that cannot be had."""
        candidate = None if choice.entrant is None else self._declaration.candidate(choice.entrant.kernel)
        if candidate is None or choice.entrant is None:
            return choice
        try:
            setting: Setting = self._tuned.setting(question, choice.entrant, regime)
            built = admit(candidate, setting)
        except AssayError as failed:
            tell_once(f"{self._declaration.name}: tuning at this launch failed, the old setting stays: {failed}")
            return choice
        if not isinstance(built, BuiltKernel):
            return choice
        return replace(choice, entrant=built.entrant, built=built, selected=str(built.entrant))

    def _measures(self, regime: Regime) -> bool:
        forced = self._pinned is not None or regime.forced_kernel(self._declaration.name) is not None
        return regime.policy == "measure" and not forced and device_here().fingerprint.key is not None

    def _choose(
        self, question: Question, regime: Regime, found: Resolved | None, answer: Answer | None, admit: Admit
    ) -> Choice:
        if self._pinned is not None:
            return choose_forced(question, self._pinned[0], "call", admit)
        forced = regime.forced_kernel(self._declaration.name)
        if forced is not None:
            return choose_forced(question, forced, "forced", admit)
        measured: Iterator[Proposal] = proposals(self._declaration, question.call, found, answer)
        return choose(question, chain(measured, unmeasured(self._declaration)), admit)

    def _question(self, call: Call, found: Resolved | None, excluded: Mapping[str, Exclusion]) -> Question:
        pinned: Mapping[str, Value] = self._pinned[1] if self._pinned is not None else {}
        return Question(self._declaration, call, facts_here(), pinned, recorded_settings(found), excluded)

    def _launch(self, choice: Choice, call: Call) -> Launch:
        if choice.built is not None:
            self._built[choice.built.kernel.name, choice.built.program.identity] = choice.built
            return choice.built.program.launcher(call)
        if self._declaration.reference is None:
            raise NoKernelError(self._declaration.name, f"nothing serves this call: {choice.reason}")
        return reference_launch(self._declaration, self._declaration.reference, call)

    def _made(self, call: Call, launch: Launch, choice: Choice, excluded: Mapping[str, Exclusion], *, tag: str) -> Plan:
        entry = DispatchEntry(
            target=self._declaration.target,
            op=self._declaration.name,
            selected=choice.selected,
            tag=tag,
            outcome=choice.outcome,
            reason=choice.reason,
            key=shape_text(exact_shape(self._declaration, call)),
        )
        save_at_exit()
        log.info("%s at %s: %s, %s: %s", entry.op, entry.key, entry.outcome, entry.selected or tag, entry.reason)
        return Plan(launch, self._fresh(call), self._log.note(entry), call, choice.entrant, dict(excluded))

    def _fresh(self, call: Call) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and dtype of every output that is allocated."""
        views = [call.views[name] for name in self._declaration.signature.fresh_outputs]
        return [(view.shape, dtype_of(view.dtype)) for view in views]
