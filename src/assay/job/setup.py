"""What a run works with: the device, the environment, the profile as it is, and where kernels are built.

Everything that can be wrong in what was asked is found here, before any time is spent.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path

from assay.device import Device
from assay.errors import TargetError
from assay.job.folder import make_ready, profile_folder
from assay.job.request import TuneRequest
from assay.measure import Protocol
from assay.ops import device_here, environment_in_force, options_in_force
from assay.search import STRATEGIES
from assay.store import Environment, Profile, Session, open_environment
from assay.store.profile import profile_path

PROTOCOLS = {"race": Protocol}
"""The measuring protocols by name; each is made with the run's seed."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run works with.

    Attributes:
        device: where the kernels run.
        environment: where answers are kept.
        session: id of this process's session in it.
        profile: the profile as it was before the run.
        path: its file; None on a device that cannot be identified, for which nothing is kept.
        protocol: how entrants are timed.
        versions: what answers are decided with, by name.
    """

    device: Device
    environment: Environment
    session: str
    profile: Profile
    path: Path | None
    protocol: Protocol
    versions: Mapping[str, str]


def set_up(request: TuneRequest, *, writes: bool) -> Setup:
    """What a run works with.

    Args:
        request: what was asked for.
        writes: whether the run will write a profile, so that its folder is made.

    Raises:
        TargetError: no device, strategy, protocol, environment or folder has the name that was given.
        StoreError: the environment or the profile cannot be used; each file is left as it is.
    """
    device = _device(request.device)
    _one_of("strategy", request.strategy, STRATEGIES)
    _one_of("protocol", request.protocol, PROTOCOLS)
    folder = profile_folder(options_in_force(), request.profile)
    slug = device.fingerprint.slug
    identified = device.fingerprint.identified
    profile = Profile.for_device(folder, slug) if identified else Profile(slug)
    environment = _environment(request.environment)
    versions = {"assay": version("assay"), "numpy": version("numpy")}
    session = environment.session
    if session is None:
        session = Session.here(device.clock.date(), device=device.fingerprint.key or "", versions=versions)
        environment.begin(session)
    if writes and identified:
        make_ready(folder)
    return Setup(
        device=device,
        environment=environment,
        session=session.id,
        profile=profile,
        path=profile_path(folder, slug) if identified else None,
        protocol=PROTOCOLS[request.protocol](seed=request.seed),
        versions=versions,
    )


def _device(asked: Device | str | None) -> Device:
    here = device_here()
    if asked is None or asked == here.name:
        return here
    if isinstance(asked, str):
        raise TargetError("", f"no device {asked!r}", f"there is {here.name!r}")
    return asked


def _environment(asked: Environment | str | None) -> Environment:
    if asked is None:
        return environment_in_force()
    if isinstance(asked, Environment):
        return asked
    try:
        return open_environment(options_in_force().store, asked)
    except ValueError as bad_name:
        raise TargetError("", str(bad_name)) from bad_name


def _one_of(what: str, asked: str, known: Collection[str]) -> None:
    if asked not in known:
        near = get_close_matches(asked, known, 1)
        remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise TargetError("", f"no {what} {asked!r}", remedy)
