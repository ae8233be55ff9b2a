"""An answer: which entrant a key runs, and every entrant's result.

What must hold of a row is checked when one is made, which is both before it is written and after it is read: a time
that is zero, negative, NaN or infinite makes no result, a gain needs a winner with a time, and without a gain the
default stands.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from assay.errors import DeclarationError
from assay.store.key import AnswerKey
from assay.store.values import Dimension, Value, require_finite

Outcome = Literal["gain", "no gain", "refused"]
EntrantOutcome = Literal["ranked", "skipped", "not reached", "pruned", "refused", "failed", "not measured"]

ENTRANT_OUTCOMES: tuple[EntrantOutcome, ...] = get_args(EntrantOutcome)
_LAST = ("skipped", "not reached", "pruned", "not measured", "refused", "failed")


class Chosen(msgspec.Struct, frozen=True):
    """An entrant by name: a kernel and a setting.

    Attributes:
        kernel: the kernel's name.
        setting: its tunables' values.
    """

    kernel: str
    setting: dict[str, Value] = {}


class Winner(msgspec.Struct, frozen=True):
    """The entrant a key runs, named three ways so that a changed candidate list cannot be mistaken.

    Attributes:
        kernel: the kernel's name.
        index: its place in the candidate list, from 0.
        setting: its tunables' values.
    """

    kernel: str
    index: int
    setting: dict[str, Value] = {}

    def disagreement(self, kernels: Mapping[str, Mapping[str, Sequence[Value]]]) -> str | None:
        """How the winner disagrees with the present candidates; None when it is one of them.

        Args:
            kernels: the present kernels in their order, each with its tunables' domains.
        """
        names = list(kernels)
        if not 0 <= self.index < len(names):
            return f"kernel {self.index} of {len(names)} is named"
        if names[self.index] != self.kernel:
            return f"kernel {self.index} is {names[self.index]}, not {self.kernel}"
        domains = kernels[self.kernel]
        if self.setting.keys() != domains.keys():
            return f"{self.kernel} has the tunables {_listed(domains)}, not {_listed(self.setting)}"
        for name, value in self.setting.items():
            if not any(type(value) is type(known) and value == known for known in domains[name]):
                return f"{self.kernel}.{name} has no value {value!r}"
        return None


class Ranked(msgspec.Struct, frozen=True):
    """One entrant's result.

    Attributes:
        kernel: the kernel's name.
        setting: its tunables' values.
        outcome: what became of it; only a ``ranked`` one has a place in the order.
        reason: why, in words; empty where the outcome says all.
        median_ns: median time of a call; None when it was not timed.
        ratio: its time over the default's, below 1 is faster; None when unknown.
        delta_ns: its time less the default's; None when unknown.
        noise_ns: standard error of `delta_ns`; None when unknown.
        wall_s: from its first launch, building included, to its samples resolved; None when it did not run.
    """

    kernel: str
    setting: dict[str, Value]
    outcome: EntrantOutcome
    reason: str = ""
    median_ns: float | None = None
    ratio: float | None = None
    delta_ns: float | None = None
    noise_ns: float | None = None
    wall_s: float | None = None

    def __post_init__(self) -> None:
        """Checks the figures.

        Raises:
            DeclarationError: a figure is not finite, a time is not above zero, or a ranked entrant has no time.
        """
        figures = {name: getattr(self, name) for name in ("median_ns", "ratio", "delta_ns", "noise_ns", "wall_s")}
        require_finite(self.kernel, figures.items())
        for name in ("median_ns", "ratio", "wall_s"):
            if figures[name] is not None and figures[name] <= 0:
                raise DeclarationError(self.kernel, f"{name} is {figures[name]}, expected more than 0")
        if self.outcome == "ranked" and self.median_ns is None:
            raise DeclarationError(self.kernel, "ranked without a time")


class Evidence(msgspec.Struct, frozen=True):
    """What confirms an answer, from fresh data alone.

    Attributes:
        k: pairs the candidate won.
        t: pairs that count.
        E: the evidence after them.
        margin: by how much a pair has to be won, as a share.
        pairs: pairs that were run.
        refused: calls dropped.
        seed: seed of the orders and coin flips.
    """

    k: int
    t: int
    E: float
    margin: float
    pairs: int
    refused: int
    seed: int

    def __post_init__(self) -> None:
        """Checks the figures.

        Raises:
            DeclarationError: a figure is not finite.
        """
        require_finite("evidence", (("E", self.E), ("margin", self.margin)))


class Answer(msgspec.Struct, frozen=True):
    """What was decided for a key under one candidate list.

    Attributes:
        key: what it holds for.
        checksum: of the candidate list it was decided under.
        winner: the entrant the key runs.
        default: the entrant in force when it was decided.
        outcome: whether the winner was shown to gain.
        entrants: every entrant's result, in the order of `rank`.
        reason: why, in words.
        ratio: winner over default from the confirming data; None when there is none.
        interval: low and high bound of `ratio`; None when unknown.
        evidence: what confirms it; None when nothing was raced.
        session: id of the session that decided it.
        date: when, in ISO 8601.
        protocol: name of the measuring protocol.
        versions: what it was decided with, by name.
        indices: the exact shape that was measured, by index.
    """

    key: AnswerKey
    checksum: str
    winner: Winner
    default: Chosen
    outcome: Outcome
    entrants: tuple[Ranked, ...] = ()
    reason: str = ""
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    evidence: Evidence | None = None
    session: str = ""
    date: str = ""
    protocol: str = ""
    versions: dict[str, str] = {}
    indices: dict[str, Dimension] = {}

    def __post_init__(self) -> None:
        """Checks what a row must not say.

        Raises:
            DeclarationError: a figure is not finite or a ratio not above zero, the entrants are out of order, a gain
                is claimed for an entrant without a time, or the winner is not the default although nothing gained.
        """
        low, high = self.interval or (None, None)
        require_finite(self.key.op, (("ratio", self.ratio), ("interval", low), ("interval", high)))
        if self.ratio is not None and self.ratio <= 0:
            raise DeclarationError(self.key.op, f"ratio is {self.ratio}, expected more than 0")
        if self.entrants != rank(self.entrants):
            raise DeclarationError(self.key.op, "entrants are not ranked best first, failures last")
        chosen = (self.winner.kernel, self.winner.setting)
        if self.outcome != "gain" and chosen != (self.default.kernel, self.default.setting):
            raise DeclarationError(self.key.op, f"{self.winner.kernel} wins, but the outcome is {self.outcome!r}")
        timed = [(each.kernel, each.setting) for each in self.entrants if each.outcome == "ranked"]
        if self.outcome == "gain" and chosen not in timed:
            raise DeclarationError(self.key.op, f"{self.winner.kernel} gains without a time")


def rank(entrants: Iterable[Ranked]) -> tuple[Ranked, ...]:
    """The entrants best first, those without a place after them, failures last; ties keep their order.

    The order is by ratio to the default, which is paired and so free of drift; where one has none, by median.
    """
    listed = tuple(entrants)
    paired = all(each.ratio is not None for each in listed if each.outcome == "ranked")

    def place(entrant: Ranked) -> tuple[int, float]:
        if entrant.outcome != "ranked":
            return 1 + _LAST.index(entrant.outcome), 0.0
        return 0, (entrant.ratio if paired else entrant.median_ns) or 0.0

    return tuple(sorted(listed, key=place))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
