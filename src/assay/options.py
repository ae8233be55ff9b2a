"""What a user can configure from outside: assay's environment variables, read in this one file.

Nothing else reads `os.environ`; whoever needs an option is handed an `Options`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

POLICIES = ("off", "cached", "measure", "frozen")
GATES = ("always", "tuned", "off")
LOG_LEVELS = ("debug", "info", "warning", "error")
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("", "0", "false", "no", "off")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options in force.

    Attributes:
        store: a folder, or a ``postgresql://`` URL, that holds the environments.
        policy: what a miss may do (`POLICIES`).
        profile: the folder of profiles.
        profile_named: whether the user named that folder; a named one must exist.
        strict: whether a degraded or failed call raises.
        gate: which builds must pass the gate before they answer (`GATES`).
        log: the level of the `assay` logger (`LOG_LEVELS`).
        cache: the folder of compiled kernels.
    """

    store: str
    policy: str = "cached"
    profile: Path = Path("profiles")
    profile_named: bool = False
    strict: bool = False
    gate: str = "always"
    log: str = "warning"
    cache: Path


def read_options(variables: Mapping[str, str] | None = None) -> Options:
    """The options the environment variables give.

    Args:
        variables: the variables to read; None means this process's own.

    Raises:
        ValueError: a variable has a value it cannot have; the message names the variable and what it may be.
    """
    given = os.environ if variables is None else variables
    cache = user_cache_path("assay", appauthor=False)
    profile = given.get("ASSAY_PROFILE", "")
    return Options(
        store=given.get("ASSAY_STORE", "") or str(cache),
        policy=_one_of(given, "ASSAY_POLICY", POLICIES, "cached"),
        profile=Path(profile or "profiles"),
        profile_named=bool(profile),
        strict=_switch(given, "ASSAY_STRICT"),
        gate=_one_of(given, "ASSAY_GATE", GATES, "always"),
        log=_one_of(given, "ASSAY_LOG", LOG_LEVELS, "warning"),
        cache=cache,
    )


def _one_of(given: Mapping[str, str], name: str, allowed: tuple[str, ...], default: str) -> str:
    value = given.get(name, "") or default
    if value not in allowed:
        raise ValueError(f"{name}={value}: expected one of {', '.join(allowed)}")
    return value


def _switch(given: Mapping[str, str], name: str) -> bool:
    value = given.get(name, "").lower()
    if value not in _TRUE + _FALSE:
        raise ValueError(f"{name}={value}: expected one of {', '.join((*_TRUE, *filter(None, _FALSE)))}")
    return value in _TRUE
