"""An op as tuning sees it: what was declared, all of it plain values and picklable callables.

The op itself (its plans, counters and locks) lives above; a `Declaration` is what crosses to a worker process.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.gate import Gate
from assay.kernel import TIERS, Kernel, Setting
from assay.signature import Call, Expr, Facts, Scalar, Signature

Available = Expr | Callable[[], bool] | None


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A kernel registered for an op.

    Attributes:
        kernel: what runs; it states its tier and the calls it serves.
        gate: the kernel's own gate; None means the op's.
        available: whether it can run on this device at all; None means it can.
    """

    kernel: Kernel
    gate: Gate | None = None
    available: Available = None

    @property
    def name(self) -> str:
        """The kernel's name, unique in its op."""
        return self.kernel.name

    def refusal(self, call: Call, device: Mapping[str, Scalar]) -> str | None:
        """Why this candidate does not run this very call; None when it does."""
        return self.unavailable(call, device) or self.kernel.refusal(call.facts(device))

    def invalid(self, setting: Setting, facts: Facts) -> str | None:
        """Why a setting breaks the kernel's constraints on a call; None when it does not.

        Raises:
            SpaceError: no setting at all is valid for this call.
        """
        return self.kernel.space(facts).refusal(setting) if self.kernel.constraints else None

    def unavailable(self, call: Call, device: Mapping[str, Scalar]) -> str | None:
        """Why this candidate cannot run here at all; None when it can."""
        condition = self.available
        if condition is None:
            return None
        if isinstance(condition, Expr):
            return None if condition.evaluate(call.facts(device)) else f"not available here: {condition}"
        return None if condition() else "not available here"


@dataclass(frozen=True, eq=False, slots=True)
class Declaration:
    """What an op declares.

    Attributes:
        name: the op's name.
        signature: which calls are legal.
        reference: the body; called with the inputs in signature order, it returns what is right. None: there is none.
        gate: the tolerance that admits a kernel.
        candidates: the registered kernels, in order of registration.
        params: the construction parameters.
        maker: the user's input maker; None means seeded random values.
        probes: the user's extra probes.
        finite_only: whether the op is defined for finite values only.
        flops: the formula of the work; None when none was given.
        target: the backend that runs the kernels.
    """

    name: str
    signature: Signature
    reference: Callable[..., object] | None
    gate: Gate
    candidates: tuple[Candidate, ...] = ()
    params: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    maker: Callable[..., object] | None = None
    probes: tuple[Callable[..., object], ...] = ()
    finite_only: bool = False
    flops: Expr | None = None
    target: str = "cpu"

    def only(self, name: str) -> "Declaration":
        """This declaration with one candidate alone, as a tune of a single kernel sees it."""
        return replace(self, candidates=tuple(found for found in self.candidates if found.name == name))

    def candidate(self, name: str) -> Candidate | None:
        """The candidate of this name; None when there is none."""
        return next((found for found in self.candidates if found.name == name), None)


def by_tier(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates in the order of the unmeasured choice: highest tier first, then first registered."""
    return sorted(candidates, key=lambda found: -TIERS.index(found.kernel.tier))
