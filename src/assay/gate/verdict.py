"""What the gate says of an entrant: a verdict is a value, kept with its reason.

``Admitted`` may be timed. ``Refused`` computed something wrong, or did what a kernel should not do. ``Declined``
handed the call's own shape back, so it is not viable for this call and nothing is held against it.
"""

import msgspec


class Handed(msgspec.Struct, frozen=True):
    """A probe that was handed back.

    Attributes:
        probe: name of the probe.
        reason: how it was handed back.
    """

    probe: str
    reason: str


class Admitted(msgspec.Struct, frozen=True, tag="admitted"):
    """The entrant is right wherever it was probed.

    Attributes:
        entrant: the entrant, as the user names it.
        probes: names of the probes it passed, in order.
        declined: the probes it handed back although it serves them: it is not viable for such calls.
        notes: what was left out and why: probes outside the calls it serves, or without a reference.
        precision: what the references were computed in (``longdouble``, ``float64``, ``int64``).
    """

    entrant: str
    probes: tuple[str, ...]
    declined: tuple[Handed, ...] = ()
    notes: tuple[str, ...] = ()
    precision: str = ""

    def __str__(self) -> str:
        handed = f", {len(self.declined)} declined" if self.declined else ""
        return f"{self.entrant}: right on {len(self.probes)} probes{handed} (reference in {self.precision})"


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """The entrant is wrong, or did what a kernel should not do.

    Attributes:
        entrant: the entrant, as the user names it.
        reason: a sentence with the worst element, its index, the reference and the tolerance.
        probe: name of the probe that showed it.
        output: name of the output or input concerned; empty where there is none (it raised).
        index: index of the worst element; None where there is none.
    """

    entrant: str
    reason: str
    probe: str
    output: str = ""
    index: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"{self.entrant}: {self.reason}; not timed"


class Declined(msgspec.Struct, frozen=True, tag="declined"):
    """The entrant handed the call's own shape back.

    Attributes:
        entrant: the entrant, as the user names it.
        probe: name of the probe.
        reason: how it was handed back.
    """

    entrant: str
    probe: str
    reason: str

    def __str__(self) -> str:
        return f"{self.entrant}: {self.reason}; not timed"


Verdict = Admitted | Refused | Declined
