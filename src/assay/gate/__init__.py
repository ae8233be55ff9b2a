"""Is it right? Only an entrant that computes what its op's reference computes is ever timed."""

from assay.gate.examine import examine
from assay.gate.judge import Mismatch, judge
from assay.gate.oracle import Expected, Oracle, Unjudged
from assay.gate.probes import Probe, Probes, Recipe, make_probes
from assay.gate.tolerance import Gate, Tolerance, candidate_gate, refuse_unknown, refuse_wider
from assay.gate.verdict import Admitted, Declined, Handed, Refused, Verdict

__all__ = [
    "Admitted",
    "Declined",
    "Expected",
    "Gate",
    "Handed",
    "Mismatch",
    "Oracle",
    "Probe",
    "Probes",
    "Recipe",
    "Refused",
    "Tolerance",
    "Unjudged",
    "Verdict",
    "candidate_gate",
    "examine",
    "judge",
    "make_probes",
    "refuse_unknown",
    "refuse_wider",
]
