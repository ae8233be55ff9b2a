"""How good is this machine for measuring?

What is looked at is what a race leans on: a clock fine enough, a counter that tells a call that waited for a processor
from one that did not, a device that can be named so that its answers can be kept, a place to keep them, and the tools
that build kernels. Only what makes measuring or keeping impossible makes a machine unfit; the rest is said.
"""

import os
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import msgspec

from assay import units
from assay.device import UNKNOWN_MODE, Clock, Device
from assay.errors import AssayError
from assay.options import Options
from assay.report.table import Column, Table

COARSEST_CLOCK_NS = 1000
"""A block of calls takes some 50 µs; a clock coarser than a fiftieth of that cannot tell 1 % apart."""

CROWDED_SHARE = 0.5
"""A race is refused when fewer than half of its calls were clean; a machine this crowded would refuse most."""

WATCH_NS = 50_000_000
"""How long the processor is kept busy to see how long it has to wait for one, ns."""

_CLOCK_READINGS = 2000


class Compiler(msgspec.Struct, frozen=True):
    """The C compiler.

    Attributes:
        path: where it is.
        version: what it says of itself, in one line.
    """

    path: str
    version: str


class Frontend(msgspec.Struct, frozen=True):
    """A way to write kernels.

    Attributes:
        name: ``python``, ``numba`` or ``c``.
        available: whether kernels written so run here.
        version: of what it needs; empty when it is missing.
        remedy: how to get it; empty when it is there.
    """

    name: str
    available: bool
    version: str = ""
    remedy: str = ""


class Crowd(msgspec.Struct, frozen=True):
    """How long a busy process waited for a processor just now.

    Attributes:
        waited_ns: ns waited; None when this system does not count it.
        watched_ns: ns it was watched.
    """

    waited_ns: int | None
    watched_ns: int


class Storage(msgspec.Struct, frozen=True):
    """Where something is kept.

    Attributes:
        path: the file or folder.
        trouble: why it cannot be used; empty when it can.
        exists: whether it is there; what is not is made when it is first written.
    """

    path: str
    trouble: str = ""
    exists: bool = True


class Health(msgspec.Struct, frozen=True):
    """How good a machine is for measuring.

    Attributes:
        device: name of the device (``cpu``).
        model: what it is, as its maker calls it.
        slug: its name in files.
        identified: whether it can be told from others; nothing is kept for one that cannot.
        mode: its mode of power and clocks.
        cores: cores this process may use.
        clock_step_ns: the smallest step its clock was seen to take, ns.
        crowd: how long a busy process waited for a processor just now.
        missing: protections this system does not offer.
        compiler: the C compiler; None when there is none.
        frontends: the ways to write kernels.
        store: where answers are kept.
        profile: where the profile lies.
        versions: of assay and what it leans on, by name.
        reasons: what makes the machine unfit; empty when it is fit.
    """

    device: str
    model: str
    slug: str
    identified: bool
    mode: str
    cores: int
    clock_step_ns: int
    crowd: Crowd
    missing: tuple[str, ...]
    compiler: Compiler | None
    frontends: tuple[Frontend, ...]
    store: Storage
    profile: Storage
    versions: dict[str, str]
    reasons: tuple[str, ...]


def clock_step_ns(clock: Clock) -> int:
    """The smallest step a clock was seen to take, ns; 0 for one that stands still."""
    readings = [clock.now_ns() for _ in range(_CLOCK_READINGS)]
    steps = [after - before for before, after in pairwise(readings) if after > before]
    return min(steps, default=0)


def watch_crowd(device: Device, watch_ns: int = WATCH_NS) -> Crowd:
    """How long this process waits for a processor while it keeps one busy.

    Args:
        device: where it runs.
        watch_ns: how long to keep it busy, ns.
    """
    contention = device.contention()
    before = contention.waited_ns()
    start = now = device.clock.now_ns()
    while now - start < watch_ns:
        now = device.clock.now_ns()
    after = contention.waited_ns()
    waited = None if before is None or after is None else after - before
    return Crowd(waited, now - start)


def examine(
    device: Device,
    options: Options,
    *,
    find_compiler: Callable[[], Compiler | None],
    open_store: Callable[[], Path],
    read_profile: Callable[[], Path],
) -> Health:
    """How good a machine is for measuring.

    Args:
        device: the device.
        options: the options in force.
        find_compiler: looks for the C compiler.
        open_store: opens the environment in force for reading and returns its file.
        read_profile: reads the device's profile, where there is one, and returns its file.
    """
    fingerprint = device.fingerprint
    compiler = find_compiler()
    step_ns = clock_step_ns(device.clock)
    crowd = watch_crowd(device)
    store = _storage(open_store, options.store)
    profile = _storage(read_profile, str(options.profile))
    return Health(
        device=device.name,
        model=fingerprint.name,
        slug=fingerprint.slug,
        identified=fingerprint.identified,
        mode=device.mode,
        cores=_cores(device),
        clock_step_ns=step_ns,
        crowd=crowd,
        missing=device.contention().missing,
        compiler=compiler,
        frontends=frontends(compiler),
        store=store,
        profile=profile,
        versions=_versions(("assay", "numpy", "msgspec", "numba", "cffi")),
        reasons=tuple(_unfit(step_ns, crowd, store, profile, identified=fingerprint.identified)),
    )


def frontends(compiler: Compiler | None) -> tuple[Frontend, ...]:
    """The ways to write kernels, each with how to get it where it is missing."""
    numba = find_spec("numba") is not None
    return (
        Frontend("python", available=True, version=f"Python {platform.python_version()}"),
        Frontend("numba", available=True, version=f"numba {_version('numba')}")
        if numba
        else Frontend("numba", available=False, remedy="pip install 'assay[cpu]'"),
        Frontend("c", available=True, version=compiler.version)
        if compiler is not None
        else Frontend("c", available=False, remedy="install a C compiler, as with: apt install gcc"),
    )


def health_table(health: Health) -> Table:
    """One row for each thing that was looked at."""
    rows = [
        ("device", f"{health.device}: {health.model} ({health.slug})"),
        ("identified", "yes" if health.identified else "no: nothing is kept for it"),
        ("mode", health.mode if health.mode != UNKNOWN_MODE else "unknown: the system does not report one"),
        ("cores", str(health.cores)),
        ("clock step", units.format_ns(health.clock_step_ns)),
        ("waiting for a CPU", _crowd_text(health.crowd)),
        *(("missing protection", missing) for missing in health.missing),
        *((f"kernels in {frontend.name}", _frontend_text(frontend)) for frontend in health.frontends),
        ("store", _storage_text(health.store)),
        ("profile", _storage_text(health.profile)),
        ("versions", ", ".join(f"{name} {number}" for name, number in health.versions.items())),
    ]
    return Table(columns=(Column("what"), Column("found", wraps=True)), rows=tuple(rows))


def health_document(health: Health) -> dict[str, object]:
    """What `assay doctor --json` prints."""
    document: dict[str, object] = msgspec.to_builtins(health)
    return {"fit": not health.reasons, **document}


def writable_trouble(path: Path) -> str:
    """Why a file or folder cannot be written or made; empty when it can."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    if not os.access(place, os.W_OK):
        return f"{place} cannot be written"
    if place != path and not place.is_dir():
        return f"{place} is not a folder"
    return ""


def _unfit(step_ns: int, crowd: Crowd, store: Storage, profile: Storage, *, identified: bool) -> list[str]:
    reasons: list[str] = []
    if not identified:
        reasons.append("the device cannot be identified, so nothing can be kept for it")
    if not 0 < step_ns <= COARSEST_CLOCK_NS:
        reasons.append(
            f"the clock steps by {units.format_ns(step_ns)}, at most {units.format_ns(COARSEST_CLOCK_NS)} do"
        )
    if crowd.waited_ns is not None and crowd.waited_ns > CROWDED_SHARE * crowd.watched_ns:
        reasons.append(f"too crowded: {_crowd_text(crowd)}; end what else runs, and ask again")
    reasons += [f"store {store.path}: {store.trouble}"] if store.trouble else []
    reasons += [f"profile {profile.path}: {profile.trouble}"] if profile.trouble else []
    return reasons


def _storage(use: Callable[[], Path], path: str) -> Storage:
    try:
        found = use()
    except AssayError as error:
        return Storage(error.subject or path, "; ".join(filter(None, (error.said, error.remedy))))
    except ValueError as error:
        return Storage(path, str(error))
    return Storage(str(found), writable_trouble(found), exists=found.exists())


def _cores(device: Device) -> int:
    cores = device.facts().get("cores")
    return cores if isinstance(cores, int) else os.cpu_count() or 1


def _versions(names: Sequence[str]) -> dict[str, str]:
    found = {name: _version(name) for name in names}
    return {name: number for name, number in found.items() if number}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _crowd_text(crowd: Crowd) -> str:
    watched = units.format_ns(crowd.watched_ns)
    if crowd.waited_ns is None:
        return f"unknown over {watched}: this system does not count it"
    share = units.format_share(crowd.waited_ns / crowd.watched_ns)
    return f"{units.format_ns(crowd.waited_ns)} of the last {watched} ({share})"


def _frontend_text(frontend: Frontend) -> str:
    return frontend.version or "yes" if frontend.available else f"not here; {frontend.remedy}"


def _storage_text(storage: Storage) -> str:
    if storage.trouble:
        return f"{storage.path}: {storage.trouble}"
    return storage.path if storage.exists else f"{storage.path} (not there yet)"
