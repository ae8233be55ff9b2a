"""Which candidate runs a call: the order in which they are asked, and the first that can.

Asked in order: what the call or a context forces; what the profile chooses; the kept answer; the tiers. A bucket or an
entry only proposes: whether a kernel runs this very call is asked of the kernel, and of its gate verdict, for exactly
this call. A proposal that cannot run leaves its reason and the next one is asked; when none is left the reference
answers.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from assay.errors import AssayError, CallError, DeclarationError
from assay.kernel import Entrant, Setting, Value
from assay.ops.built import BuiltKernel
from assay.signature import Call, Facts, Scalar
from assay.store import Answer, DispatchOutcome
from assay.tuning import Candidate, Declaration, by_tier

Source = Literal["call", "forced", "profile", "table", "tier", "reference"]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a kernel is not asked for a call again.

    Attributes:
        reason: what it did.
        declined: whether it handed the call back, which is no fault of its.
    """

    reason: str
    declined: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate somebody suggests for a call.

    Attributes:
        kernel: its name.
        setting: values that come before the kernel's own; may be partial.
        source: who suggests it.
        reason: why, in a sentence.
        answer: the kept answer behind it; None when there is none.
    """

    kernel: str
    setting: Mapping[str, Value]
    source: Source
    reason: str
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What runs a call.

    Attributes:
        entrant: the kernel at its setting; None for the reference.
        built: what was built; None for the reference, and where nothing was to be built.
        source: who suggested it.
        reason: why.
        outcome: ``won``, ``degraded``, ``no_candidate`` or ``error``.
        selected: what was selected, which under a degrade is not what answers; None when there was nothing.
        rejected: candidates asked before it, with their reasons.
        answer: the kept answer behind it; None when there is none.
    """

    entrant: Entrant | None
    built: BuiltKernel | None
    source: Source
    reason: str
    outcome: DispatchOutcome
    selected: str | None
    rejected: Mapping[str, str] = field(default_factory=dict[str, str])
    answer: Answer | None = None


Admit = Callable[[Candidate, Setting], BuiltKernel | Exclusion | None]
"""Builds and gates a candidate for the call; None where nothing is to be built (an explanation)."""


@dataclass(frozen=True, slots=True)
class Question:
    """A call to find a kernel for.

    Attributes:
        declaration: the op.
        call: the call.
        device: the device's facts.
        pinned: settings that come before all others.
        recorded: settings the profile gives, by kernel.
        excluded: kernels that declined or failed this call before.
    """

    declaration: Declaration
    call: Call
    device: Mapping[str, Scalar]
    pinned: Mapping[str, Value]
    recorded: Mapping[str, Mapping[str, Value]]
    excluded: Mapping[str, Exclusion]

    @property
    def facts(self) -> Facts:
        """What an expression may read of the call and the device."""
        return self.call.facts(self.device)

    def setting(self, candidate: Candidate, given: Mapping[str, Value]) -> Setting:
        """The setting a candidate would run at: what the call gives, what is proposed, the profile, rule, default.

        What is proposed and what the profile records give way when the kernel, as it is now, forbids it.

        Raises:
            DeclarationError: what the call gives lies outside its tunable's domain, or breaks a constraint.
            SpaceError: no setting at all is valid for this call.
        """
        own = candidate.kernel.setting_in_force(self.facts).as_dict()
        recorded = self.recorded.get(candidate.name, {})
        try:
            return self._valid(candidate, {**own, **recorded, **given, **self.pinned})
        except DeclarationError:
            if not (recorded or given):
                raise
            return self._valid(candidate, {**own, **self.pinned})

    def _valid(self, candidate: Candidate, values: Mapping[str, Value]) -> Setting:
        setting = candidate.kernel.setting(values)
        invalid = candidate.invalid(setting, self.facts)
        if invalid is not None:
            raise DeclarationError(candidate.name, invalid)
        return setting

    def in_force(self) -> Entrant | None:
        """The entrant that would run unmeasured: the first by tier that serves the call; None when none does."""
        for found in by_tier(self.declaration.candidates):
            if found.refusal(self.call, self.device) is not None:
                continue
            try:
                return Entrant(found.name, self.setting(found, {}))
            except DeclarationError:
                continue
        return None


def choose(question: Question, proposals: Iterator[Proposal], admit: Admit) -> Choice:
    """The first proposal that can run the call, or the reference.

    Args:
        question: the call.
        proposals: in the order they are asked.
        admit: builds and gates.
    """
    rejected: dict[str, str] = {}
    for proposal in proposals:
        if proposal.kernel in rejected:
            continue
        found = _try(question, proposal, admit)
        if isinstance(found, Choice):
            return replace(found, rejected=rejected)
        rejected[proposal.kernel] = found.reason
    reason = "; ".join(f"{name}: {why}" for name, why in rejected.items()) or "the op has no kernels"
    return Choice(None, None, "reference", reason, "no_candidate", None, rejected)


def choose_forced(question: Question, name: str, source: Source, admit: Admit) -> Choice:
    """The forced candidate, or the reference with the reason: a forced name never gives way to another kernel.

    Raises:
        CallError: the op has no kernel of this name, or it is not available here.
    """
    declaration = question.declaration
    candidate = declaration.candidate(name)
    names = ", ".join(found.name for found in declaration.candidates) or "none"
    if candidate is None:
        raise CallError(declaration.name, f"no kernel {name!r} to force; there are {names}")
    unavailable = candidate.unavailable(question.call, question.device)
    if unavailable is not None:
        raise CallError(declaration.name, f"kernel {name!r} is forced and is {unavailable}; there are {names}")
    reason = f"{name} is named by the call" if source == "call" else f"{name} is forced"
    found = _try(question, Proposal(name, {}, source, reason), admit)
    if isinstance(found, Choice):
        return found
    outcome: DispatchOutcome = "degraded" if found.declined else "error"
    return Choice(None, None, source, found.reason, outcome, name, {name: found.reason})


def unmeasured(declaration: Declaration) -> Iterator[Proposal]:
    """The unmeasured choice: highest tier first, then in order of registration."""
    for found in by_tier(declaration.candidates):
        yield Proposal(found.name, {}, "tier", f"unmeasured choice: first of tier {found.kernel.tier} that serves")


def _try(question: Question, proposal: Proposal, admit: Admit) -> Choice | Exclusion:
    """The choice of a proposal, or why it does not run this call."""
    candidate = question.declaration.candidate(proposal.kernel)
    if candidate is None:
        return Exclusion(f"{proposal.source} names it, and the op has no such kernel")
    if proposal.kernel in question.excluded:
        return question.excluded[proposal.kernel]
    reason = candidate.refusal(question.call, question.device)
    if reason is not None:
        return Exclusion(reason, declined=True)
    try:
        setting = question.setting(candidate, proposal.setting)
        built = admit(candidate, setting)
    except AssayError as error:
        return Exclusion(str(error))
    if isinstance(built, Exclusion):
        return built
    entrant = Entrant(candidate.name, setting)
    return Choice(entrant, built, proposal.source, proposal.reason, "won", str(entrant), answer=proposal.answer)
