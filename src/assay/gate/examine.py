"""Is an entrant right? Probe after probe: run it twice from the same start, look around it, then at what it wrote.

What a kernel should not do is looked for before its values are: writes outside its arrays, inputs changed, outputs not
written in full, results that differ from run to run. A kernel that declines, or runs the reference itself, is not
viable for that probe; for the call's own shape, that settles it.
"""

from collections.abc import Callable, Mapping
from typing import Any, assert_never

import msgspec
import numpy.typing as npt

from assay.array import dtype_name
from assay.errors import reason_of
from assay.gate.bench import Bench, Run, unsteady
from assay.gate.judge import Mismatch, element, judge, number
from assay.gate.oracle import Expected, Oracle, Unjudged
from assay.gate.probes import LAYOUTS, OFFSET, OWN, Probe, Probes
from assay.gate.tolerance import Gate
from assay.gate.verdict import Admitted, Declined, Handed, Refused, Verdict
from assay.gate.watch import run_watched
from assay.signature import Call

Array = npt.NDArray[Any]
Refusal = Callable[[Call], str | None]

_HINTS = {
    **dict.fromkeys(LAYOUTS, "; it does not follow strides: say in `serves` which arrays must be contiguous"),
    OFFSET: "; it needs more alignment than it claims: say in `serves` how much (x.align >= 16)",
}


class _Passed(msgspec.Struct, frozen=True):
    precision: str


class _Skipped(msgspec.Struct, frozen=True):
    reason: str


_Outcome = _Passed | _Skipped | Handed | Refused


def examine(
    probes: Probes, oracle: Oracle, run: Run, gate: Gate, *, label: str, refusal: Refusal | None = None
) -> Verdict:
    """The verdict on one entrant.

    Args:
        probes: what it is asked; the call itself first.
        oracle: the op's reference, shared by all entrants.
        run: runs the entrant on (call, inputs, outputs), arrays in guarded memory: returns None; `NotImplemented` when
            the kernel declined. What it raises is the entrant's.
        gate: the entrant's gate (`candidate_gate`).
        label: the entrant, as the user names it (``gemm.tiled[MR=8]``).
        refusal: why the entrant does not serve a call, None where it does: there nothing is claimed or held against
            it, and no probe is set up. None means that it serves every call.
    """
    passed: list[str] = []
    declined: list[Handed] = []
    notes = list(probes.notes)
    precisions: list[str] = []
    for probe in probes.probes:
        if probe.layout in passed:
            continue
        refused = refusal(probe.call) if refusal is not None else None
        outcome: _Outcome = (
            _Examination(probe, oracle, run, gate, label).outcome()
            if refused is None
            else _Skipped(f"not served: {refused}")
        )
        match outcome:
            case _Passed():
                passed.append(probe.name)
                precisions.append(outcome.precision)
            case Refused():
                return outcome
            case Handed() | _Skipped() if probe.name == OWN:
                return Declined(label, OWN, outcome.reason)
            case Handed():
                declined.append(outcome)
            case _Skipped():
                notes.append(f"{probe.name}: {outcome.reason}")
            case _:
                assert_never(outcome)
    used = ", ".join(dict.fromkeys(precisions))
    return Admitted(label, tuple(passed), tuple(declined), tuple(notes), used)


class _Examination:
    """One entrant on one probe."""

    def __init__(self, probe: Probe, oracle: Oracle, run: Run, gate: Gate, label: str) -> None:
        self._probe = probe
        self._oracle = oracle
        self._run = run
        self._gate = gate
        self._label = label
        self._bench = Bench(probe)

    def outcome(self) -> _Outcome:
        """Passed, skipped, handed back or refused."""
        first = self._results(0)
        if not isinstance(first, Mapping):
            return first
        second = self._results(1)
        if not isinstance(second, Mapping):
            return second
        left = self._bench.unwritten(first, second)
        if left is not None:
            return self._refused(left.reason, left.name, left.index)
        expected = self._oracle.reference(self._probe)
        if isinstance(expected, Unjudged):
            return self._unjudged(expected)
        differs = unsteady(first, second)
        wrong = self._worst(first, expected)
        if wrong is None and differs is not None:
            wrong = self._worst(second, expected)
        if wrong is not None:
            return self._refused(str(wrong), wrong.output, wrong.index)
        if differs is not None:
            name, index = differs
            seen = f"{number(first[name][index])} in one run and {number(second[name][index])} in the next"
            return self._refused(f"{element(name, index)} is {seen}", name, index)
        return _Passed(expected.precision)

    def _results(self, turn: int) -> Mapping[str, Array] | _Outcome:
        try:
            # Only the second run is watched: the first may compile, which watching slows down several times.
            returned, ran_reference = (
                run_watched(self._oracle.body, self._once) if turn else (self._bench.run(self._run, 0), False)
            )
        except Exception as failure:  # noqa: BLE001 (whatever a kernel raises is its own, and is the reason kept)
            # Where the op is not defined (an empty maximum), raising is as good as anything.
            expected = self._oracle.reference(self._probe)
            return self._unjudged(expected) if isinstance(expected, Unjudged) else self._refused(reason_of(failure))
        if returned is NotImplemented:
            return Handed(self._probe.name, f"declined{self._where()}")
        if ran_reference:
            return Handed(self._probe.name, f"ran the reference itself{self._where()}")
        if returned is not None:
            return self._refused(f"returned {type(returned).__name__}: a kernel writes into its outputs, returns None")
        trespass = self._bench.trespass()
        if trespass is not None:
            return self._refused(trespass.reason, trespass.name, trespass.index)
        return self._bench.taken()

    def _once(self) -> object:
        return self._bench.run(self._run, 1)

    def _worst(self, seen: Mapping[str, Array], expected: Expected) -> Mismatch | None:
        for name, array in seen.items():
            tolerance = self._gate.tolerance(name, dtype_name(array.dtype))
            wants_magnitude = tolerance.scale == "magnitude" and tolerance.rtol > 0
            scale = self._oracle.scale(self._probe, expected).get(name) if wants_magnitude else None
            found = judge(name, array, expected.values[name], scale, tolerance)
            if found is not None:
                return found
        return None

    def _unjudged(self, unjudged: Unjudged) -> _Outcome:
        if self._probe.name != OWN:
            return _Skipped(unjudged.reason)
        return self._refused(f"{unjudged.reason}, so nothing says what is right")

    def _refused(self, reason: str, output: str = "", index: tuple[int, ...] | None = None) -> Refused:
        told = f"{reason}{self._where()}{_HINTS.get(self._probe.layout, '')}"
        return Refused(self._label, told, self._probe.name, output, index)

    def _where(self) -> str:
        return "" if self._probe.name == OWN else f" on {self._probe}"
