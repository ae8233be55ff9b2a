"""What is tuned, how, and where what comes of it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.device import Device
from assay.kernel import Entrant, Place
from assay.measure import Protocol
from assay.signature import Call
from assay.store import Dimension, Environment
from assay.tuning.declaration import Declaration
from assay.tuning.keys import exact_shape
from assay.worker import Limits, Runner


@dataclass(frozen=True, eq=False, slots=True)
class TuneOrder:
    """How to tune, and where to keep what comes of it.

    Attributes:
        device: where kernels run.
        environment: where answers are kept.
        place: where compiled kernels are kept.
        runner: what runs the kernels: a worker process, or this one.
        protocol: how to measure; its seed is the seed of everything drawn.
        strategy: name of the search strategy.
        budget_s: seconds after which no further batch of a shape is begun; None means no end.
        remeasure: measure again what was decided before, and replace it.
        limits: how long a build and a call may take.
        dry_run: whether the tune stands inside a dry run.
        versions: what the answer is decided with, by name.
    """

    device: Device
    environment: Environment
    place: Place
    runner: Runner
    protocol: Protocol
    strategy: str = "default"
    budget_s: float | None = None
    remeasure: bool = False
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    dry_run: bool = False
    versions: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, eq=False, slots=True)
class Subject:
    """What is tuned.

    Attributes:
        declaration: the op.
        call: the call to be decided.
        default: the entrant in force; the one without a name when nothing serves the call.
        inputs: the caller's own inputs by name; None means they are made from the shape.
    """

    declaration: Declaration
    call: Call
    default: Entrant
    inputs: Mapping[str, object] | None = None

    @property
    def shape(self) -> dict[str, Dimension]:
        """The indices and scalars of the call."""
        return exact_shape(self.declaration, self.call)
