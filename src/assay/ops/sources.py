"""What a miss may ask before it falls back on the tier: the profile, the kept answers, a measurement.

Trouble with a store or a profile never reaches the caller of an op: what cannot be read proposes nothing, and the
trouble is said once, in a warning of the ``assay`` logger. (A command that is given a profile by name opens it itself
and does raise.)
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.device import Device, cpu_device
from assay.errors import DeclarationError, ProfileError, StoreError
from assay.kernel import Place, Value
from assay.ops.arbiter import Proposal
from assay.ops.regime import Regime, environment_in_force, options_in_force
from assay.signature import Call, Scalar
from assay.store import Answer, Environment, Profile, Resolved, profile_path
from assay.tuning import BUCKET, EXACT, Declaration, answer_key, checksum, device_facts, exact_shape, shape_text

log = logging.getLogger("assay")

_lock = threading.Lock()
_devices: list[Device] = []
_profiles: dict[Path, Profile | None] = {}
_told: set[str] = set()


def device_here() -> Device:
    """The device calls run on: this machine's processor, looked at once."""
    with _lock:
        if not _devices:
            _devices.append(cpu_device())
        return _devices[0]


def facts_here() -> Mapping[str, Scalar]:
    """What an expression may read of this device."""
    return device_facts(device_here())


def place_here() -> Place:
    """Where compiled kernels are kept."""
    return Place(options_in_force().cache / "kernels")


def profile_here() -> Profile | None:
    """The profile in force on this device, read once; None when there is none, or it cannot be read."""
    slug, folder = device_here().fingerprint.slug, options_in_force().profile
    path = profile_path(folder, slug)
    with _lock:
        if path in _profiles:
            return _profiles[path]
    found: Profile | None = None
    if options_in_force().profile_named and not folder.is_dir():
        tell_once(f"ASSAY_PROFILE={folder}: there is no such folder, so calls run without a profile")
    try:
        found = Profile.for_device(folder, slug)
    except ProfileError as damaged:
        tell_once(str(damaged))
    with _lock:
        return _profiles.setdefault(path, found)


def forget_profiles() -> None:
    """Has the profile read again at the next miss."""
    with _lock:
        _profiles.clear()
        _told.clear()


def tell_once(trouble: str) -> None:
    """Warns of something, once per process and sentence."""
    with _lock:
        new = trouble not in _told
        _told.add(trouble)
    if new:
        log.warning("%s", trouble)


def resolved(declaration: Declaration, call: Call, regime: Regime) -> Resolved | None:
    """What the profile says of a call; None without one, or when two of its entries contradict each other."""
    if regime.policy == "off":
        return None
    profile = profile_here()
    if profile is None:
        return None
    found = profile.resolve(declaration.name, exact_shape(declaration, call))
    tell_of_dropped(declaration, found)
    return found


def tell_of_dropped(declaration: Declaration, found: Resolved) -> None:
    """Warns of what a profile records that the op, as it is now, does not have: it gives way to what is there."""
    for entry in found.entries:
        candidate = declaration.candidate(entry.kernel)
        if candidate is None:
            names = ", ".join(one.name for one in declaration.candidates) or "none"
            tell_once(f"profile entry {entry}: {declaration.name} has no such kernel, only {names}; edit or delete it")
            continue
        try:
            candidate.kernel.setting(entry.setting)
        except DeclarationError as wrong:
            tell_once(f"profile entry {entry}: {wrong}; the kernel's own setting is used: edit or delete the entry")


def recorded_settings(found: Resolved | None) -> Mapping[str, Mapping[str, Value]]:
    """The settings a profile gives, by kernel."""
    return found.settings if found is not None else {}


def environment_or_none(regime: Regime) -> Environment | None:
    """The environment in force; None when it cannot be opened, which is said once."""
    try:
        return environment_in_force(regime)
    except StoreError as trouble:
        tell_once(str(trouble))
        return None


def kept_answer(declaration: Declaration, call: Call, regime: Regime) -> Answer | None:
    """The answer kept for this call: for its exact shape, else for its bucket; None when there is none.

    A winner that is no longer in the list it was chosen from is no answer.
    """
    device = device_here()
    if regime.policy == "off" or device.fingerprint.key is None or not declaration.candidates:
        return None
    environment = environment_or_none(regime)
    if environment is None:
        return None
    among = checksum(declaration, call, place_here())
    domains = {
        found.name: {name: domain.values for name, domain in found.kernel.tunables.items()}
        for found in declaration.candidates
    }
    for level in (EXACT, BUCKET):
        found = environment.answer(answer_key(declaration, call, device, level=level), among)
        if found is not None and found.winner.disagreement(domains) is None:
            return found
    return None


def proposals(
    declaration: Declaration, call: Call, found: Resolved | None, answer: Answer | None
) -> Iterator[Proposal]:
    """What the profile and the kept answer propose for a call, in that order."""
    if found is not None and found.choose is not None:
        named = found.settings.get(found.choose, {})
        behind = answer if answer is not None and _agrees(answer, found.choose, named) else None
        yield Proposal(found.choose, named, "profile", f"chosen by the profile, {_matched(found)}", behind)
    if answer is not None:
        yield Proposal(answer.winner.kernel, answer.winner.setting, "table", _why(declaration, call, answer), answer)


def _agrees(answer: Answer, kernel: str, setting: Mapping[str, Value]) -> bool:
    """Whether a kept answer says what the profile says, so that its evidence stands behind the entry."""
    return answer.winner.kernel == kernel and dict(answer.winner.setting) == dict(setting)


def _matched(found: Resolved) -> str:
    entry = next(one for one in found.entries if one.choose)
    return f"entry {shape_text(entry.when)}" if entry.when else "an entry for every shape"


def _why(declaration: Declaration, call: Call, answer: Answer) -> str:
    here = shape_text(exact_shape(declaration, call))
    measured = shape_text(answer.indices)
    where = "this shape" if measured == here else f"{measured}, of the same bucket"
    return f"{answer.outcome} when {where} was tuned"
