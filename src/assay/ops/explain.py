"""Why this kernel runs here: the value `op.explain` returns, which prints in about ten lines."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay.kernel import Entrant
from assay.store import Answer
from assay.units import format_ratio


@dataclass(frozen=True, slots=True)
class Explanation:
    """Which entrant would run a call, from where, and why.

    Attributes:
        op: the op's name.
        shape: the call's indices, as they are typed.
        entrant: what would run; None for the reference.
        source: ``call``, ``forced``, ``profile``, ``table``, ``tier`` or ``reference``.
        reason: why, in a sentence.
        device: the device, by name.
        policy: the policy in force.
        answer: the kept answer behind it; None when there is none.
        rejected: kernels that do not run this call, with the reason; those asked before the entrant first.
        others: kernels that would run if it were gone, in order.
        ratios: best time of each kernel over the default's, when this shape was tuned; a kernel that was not timed
            is missing.
    """

    op: str
    shape: str
    entrant: Entrant | None
    source: str
    reason: str
    device: str
    policy: str
    answer: Answer | None
    rejected: Mapping[str, str]
    others: tuple[str, ...]
    ratios: Mapping[str, float]

    def __str__(self) -> str:
        runs = str(self.entrant) if self.entrant else "the reference"
        lines = [
            f"{self.op} at {self.shape}",
            f"  runs      {runs}",
            f"  source    {self.source}: {self.reason}",
            f"  here      {self.device}, policy {self.policy}",
        ]
        lines += _evidence(self.answer)
        lines += [f"  not       {name}: {reason}" for name, reason in list(self.rejected.items())[:3]]
        if self.others:
            lines.append(f"  else      {', '.join(map(self._with_ratio, self.others[:5]))}")
        lines.append(f"  changes   {self._what_would_change_it()}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        """The explanation as plain values, for JSON."""
        answer = self.answer
        return {
            "op": self.op,
            "shape": self.shape,
            "entrant": str(self.entrant) if self.entrant else None,
            "kernel": self.entrant.kernel if self.entrant else None,
            "setting": self.entrant.setting.as_dict() if self.entrant else {},
            "source": self.source,
            "reason": self.reason,
            "device": self.device,
            "policy": self.policy,
            "rejected": dict(self.rejected),
            "others": list(self.others),
            "ratios": dict(self.ratios),
            "ratio": answer.ratio if answer else None,
            "interval": list(answer.interval) if answer and answer.interval else None,
            "date": answer.date if answer else None,
            "session": answer.session if answer else None,
        }

    def _with_ratio(self, kernel: str) -> str:
        ratio = self.ratios.get(kernel)
        return kernel if ratio is None else f"{kernel} ({ratio:.2f})"

    def _what_would_change_it(self) -> str:
        if self.source in ("call", "forced"):
            return "leave out the choice, and the profile, the kept answer or the tier decides"
        if self.source == "profile":
            return "edit the profile, or `assay tune --remeasure` this shape"
        if self.source == "table":
            return "`assay tune --remeasure` this shape, or a change of a kernel"
        if self.entrant is None:
            return "register a kernel that serves it"
        return "`assay tune` this shape, or register a kernel of a higher tier that serves it"


def best_ratios(answer: Answer | None) -> dict[str, float]:
    """By kernel, the best time of its entrants over the default's, as the selecting stage saw it."""
    found: dict[str, float] = {}
    for one in answer.entrants if answer is not None else ():
        if one.ratio is not None:
            found[one.kernel] = min(one.ratio, found.get(one.kernel, one.ratio))
    return found


def never_ran(answer: Answer | None) -> dict[str, str]:
    """By kernel none of whose entrants could be timed: the reason of the first of them."""
    found: dict[str, str] = {}
    for one in answer.entrants if answer is not None else ():
        if one.outcome in ("refused", "failed"):
            found.setdefault(one.kernel, f"{one.outcome}: {one.reason}")
    timed = best_ratios(answer)
    return {name: reason for name, reason in found.items() if name not in timed}


def _evidence(answer: Answer | None) -> list[str]:
    if answer is None:
        return []
    protocol = answer.protocol.partition(" ")[0] or "unknown"
    lines = [f"  decided   {answer.date or 'undated'}, protocol {protocol}: {answer.outcome}"]
    if answer.outcome != "gain":
        return [*lines, f"  raced     {answer.reason}"]
    if answer.ratio is not None and answer.interval is not None:
        low, high = answer.interval
        lines.append(
            f"  against   {answer.default.kernel}: {format_ratio(answer.ratio)}"
            f" ({low:.3f} to {high:.3f} of its time, 95 %)"
        )
    if answer.evidence is not None:
        found = answer.evidence
        lines.append(f"  evidence  won {found.k} of {found.t} pairs at margin {found.margin:g}, E = {found.E:.3g}")
    return lines
