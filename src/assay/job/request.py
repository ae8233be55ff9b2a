"""What a run is asked for, and what it comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.device import Device
from assay.errors import AssayError, StoreError
from assay.job.target import Target
from assay.store import Environment
from assay.tuning import Progress, TuneResult


@dataclass(frozen=True, kw_only=True, slots=True)
class TuneRequest:
    """What is to be tuned, where, and how.

    Attributes:
        target: the ops (`assay.job.resolve`).
        shapes: the shapes, as indices by name, typed text allowed as values; None means those the ops declare.
        home: the module whose ops the target may give by their bare name; None means there is none.
        device: a device, or its name; None means the CPU.
        budget_s: seconds the whole run may take, shared evenly by the shapes still to come; None sets no limit.
        seed: where every random choice starts.
        strategy: how settings are searched.
        protocol: how they are timed.
        remeasure: whether answers kept by an earlier run are measured again and replaced.
        environment: the environment, or its name in the options' store; None means the one in force.
        profile: the folder of profiles, which must exist; None means the options' folder.
    """

    target: Target
    shapes: Sequence[Mapping[str, object]] | None = None
    home: str | None = None
    device: Device | str | None = None
    budget_s: float | None = None
    seed: int = 0
    strategy: str = "default"
    protocol: str = "race"
    remeasure: bool = False
    environment: Environment | str | None = None
    profile: Path | None = None


@dataclass(frozen=True, slots=True)
class ShapeFailure:
    """A shape that could not be tuned.

    Attributes:
        op: name of the op.
        shape: the indices, as they were given.
        error: why.
    """

    op: str
    shape: Mapping[str, object]
    error: AssayError


@dataclass(frozen=True, slots=True)
class TuneReport:
    """What a run came to.

    Attributes:
        ended: each shape's end, in the order the shapes were given; without those an interrupt left out.
        profile: the profile that holds the winners; None when none was written or found.
        session: id of the session the answers were kept under.
        interrupted: whether the user ended the run; the profile is then as it was before.
        unwritten: why the profile could not be written although something was decided; None where it was.
        notes: what the user should know about the run as a whole.
    """

    ended: tuple[TuneResult | ShapeFailure, ...]
    profile: Path | None
    session: str
    interrupted: bool = False
    unwritten: StoreError | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def results(self) -> tuple[TuneResult, ...]:
        """The shapes that were decided, in order."""
        return tuple(one for one in self.ended if isinstance(one, TuneResult))

    @property
    def failures(self) -> tuple[ShapeFailure, ...]:
        """The shapes that could not be tuned, in order."""
        return tuple(one for one in self.ended if isinstance(one, ShapeFailure))


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Where a run is.

    Attributes:
        number: which shape is being tuned, from 1.
        shapes: how many there are.
        at: where the tuning of this shape is.
        left_s: seconds left of the whole run, a guess; None while nothing is known.
    """

    number: int
    shapes: int
    at: Progress
    left_s: float | None
