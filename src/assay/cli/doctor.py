"""`assay doctor`: how good this machine is for measuring."""

from pathlib import Path

from assay.cli.codes import DONE, NO
from assay.cli.screen import open_screen
from assay.kernel.c_compiler import find_compiler
from assay.ops import device_here, options_in_force
from assay.report import Compiler, Health, examine, health_document, health_table
from assay.store import Profile, open_environment
from assay.store.profile import profile_path


def run_doctor(*, as_json: bool) -> int:
    """Shows what was found; the exit code says whether the machine is fit."""
    with open_screen(as_json=as_json) as screen:
        health = _examine()
        screen.hand_over(health_document(health))
        if not screen.wants_document:
            screen.show(health_table(health))
        for line in [f"unfit: {reason}" for reason in health.reasons] or ["fit for measuring"]:
            screen.say(line)
    return NO if health.reasons else DONE


def _examine() -> Health:
    device, options = device_here(), options_in_force()
    return examine(
        device,
        options,
        find_compiler=_compiler,
        open_store=lambda: Path(open_environment(options.store, read_only=True).place),
        read_profile=lambda: _read_profile(profile_path(options.profile, device.fingerprint.slug)),
    )


def _compiler() -> Compiler | None:
    found = find_compiler()
    return None if found is None else Compiler(found.path, found.version.partition("\n")[0])


def _read_profile(path: Path) -> Path:
    if path.exists():
        Profile.load(path)
    return path
