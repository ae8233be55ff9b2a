"""`assay.tune`: a run for whoever writes Python rather than commands."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast, overload

from assay.device import Device
from assay.errors import TargetError
from assay.job.loop import Listener
from assay.job.request import TuneRequest
from assay.job.run import plan as plan_run
from assay.job.run import run
from assay.job.shape import read_shape
from assay.job.target import Target
from assay.ops import PlannedShape
from assay.store import Environment
from assay.tuning import TuneResult

Shapes = Sequence[Mapping[str, object] | str] | None


@overload
def tune(
    target: Target,
    shapes: Shapes = None,
    *,
    device: Device | str | None = None,
    budget: float | None = None,
    seed: int = 0,
    strategy: str = "default",
    protocol: str = "race",
    remeasure: bool = False,
    plan: Literal[False] = False,
    environment: Environment | str | None = None,
    profile: str | Path | None = None,
) -> list[TuneResult]: ...


@overload
def tune(
    target: Target,
    shapes: Shapes = None,
    *,
    device: Device | str | None = None,
    budget: float | None = None,
    seed: int = 0,
    strategy: str = "default",
    protocol: str = "race",
    remeasure: bool = False,
    plan: Literal[True],
    environment: Environment | str | None = None,
    profile: str | Path | None = None,
) -> list[PlannedShape]: ...


def tune(  # noqa: PLR0913  the one call a user tunes with
    target: Target,
    shapes: Shapes = None,
    *,
    device: Device | str | None = None,
    budget: float | None = None,
    seed: int = 0,
    strategy: str = "default",
    protocol: str = "race",
    remeasure: bool = False,
    plan: bool = False,
    environment: Environment | str | None = None,
    profile: str | Path | None = None,
) -> list[TuneResult] | list[PlannedShape]:
    """How each shape was decided; the answers are kept and the profile is written.

    Args:
        target: an op, a module or package of ops, a list of these, or a text naming one (``package.module:op``).
        shapes: the shapes, as indices by name or as text (``M=256,T=float32``); None means those the ops declare.
        device: a device, or its name; None means the CPU.
        budget: seconds the whole run may take; None sets no limit.
        seed: where every random choice starts.
        strategy: how settings are searched.
        protocol: how they are timed.
        remeasure: whether answers kept before are measured again and replaced.
        plan: whether only to say what would be tuned; nothing is timed then.
        environment: the environment, or its name in the store; None means the one in force.
        profile: the folder of profiles, which must exist; None means ``ASSAY_PROFILE``, else ``./profiles``.

    Returns:
        One result for each shape, in order; with `plan`, what would be tuned.

    Raises:
        AssayError: the first shape that could not be tuned, after the others were tuned and kept.
        TargetError: an argument is not of its kind; nothing was tuned.
        KeyboardInterrupt: the user ended it; what was decided is kept and the profile is as it was.
    """
    request = TuneRequest(
        target=target,
        shapes=None if shapes is None else _listed(shapes),
        device=device,
        budget_s=budget,
        seed=seed,
        strategy=strategy,
        protocol=protocol,
        remeasure=remeasure,
        environment=environment,
        profile=None if profile is None else Path(profile),
    )
    _require_budget(budget)
    if plan:
        planned = plan_run(request)
        if planned.failures:
            raise planned.failures[0].error
        return list(planned.shapes)
    report = run(request, Listener())
    if report.interrupted:
        raise KeyboardInterrupt
    if report.unwritten is not None:
        raise report.unwritten
    if report.failures:
        raise report.failures[0].error
    return list(report.results)


def _listed(shapes: object) -> list[Mapping[str, object]]:
    """The shapes, those that are text read.

    Raises:
        TargetError: they are no list, or one of them is no shape.
    """
    if isinstance(shapes, Mapping | str) or not isinstance(shapes, Iterable):
        raise TargetError("shapes", f"expected a list of shapes, found {shapes!r}", "write [shape]")
    found: list[Mapping[str, object]] = []
    for shape in cast("Iterable[object]", shapes):
        if isinstance(shape, str):
            found.append(read_shape(shape))
        elif isinstance(shape, Mapping):
            found.append(cast("Mapping[str, object]", shape))
        else:
            raise TargetError("shapes", f"expected indices by name, found {shape!r}", 'write {"M": 256}')
    return found


def _require_budget(budget: object) -> None:
    """Raises a TargetError for a budget that is no number of seconds above zero."""
    if budget is None:
        return
    if not isinstance(budget, int | float) or isinstance(budget, bool) or not 0 < budget < float("inf"):
        raise TargetError(f"budget={budget!r}", "expected a number of seconds above 0", "None sets no limit")
