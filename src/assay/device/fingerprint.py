"""What a device is: the facts that tell two kinds of device apart, and nothing that tells two alike ones apart.

A device whose maker or model cannot be read is *unidentified*: it gets no key, so that nothing is kept for it and
nothing kept is used on it.
"""

import hashlib
import re
from collections.abc import Mapping

import msgspec

_SLUG_LENGTH = 60


class Fingerprint(msgspec.Struct, frozen=True):
    """What a device is.

    Attributes:
        kind: ``cpu``.
        name: as its maker calls it (``AMD EPYC``).
        slug: a name for files: lower-case letters, digits and single hyphens (``amd-epyc-f25-m17-2c``).
        identified: whether its maker and model were read from the device.
        details: everything its times follow, by name.
    """

    kind: str
    name: str
    slug: str
    identified: bool
    details: dict[str, str]

    @property
    def key(self) -> str | None:
        """Twelve hex digits that stand for what the device is; None for an unidentified one, which has no key."""
        if not self.identified:
            return None
        text = msgspec.json.encode([self.kind, self.name, sorted(self.details.items())])
        return hashlib.sha256(text).hexdigest()[:12]


def cpu_fingerprint(details: Mapping[str, str], cores: int) -> Fingerprint:
    """The fingerprint of a processor.

    Args:
        details: its facts by name; ``vendor``, ``family``, ``model`` and ``name`` as far as they are known.
        cores: logical processors this process may use.

    Example:
        >>> cpu_fingerprint({"vendor": "AuthenticAMD", "family": "25", "model": "17", "name": "AMD EPYC"}, 2).slug
        'amd-epyc-f25-m17-2c'
    """
    vendor, family, model = (details.get(part, "") for part in ("vendor", "family", "model"))
    identified = bool(vendor and model)
    name = details.get("name", "") or f"{vendor} {model}".strip() or "unidentified processor"
    numbers = [f"f{family}"] if family else []
    numbers += [f"m{model}"] if model else []
    return Fingerprint(
        kind="cpu",
        name=name,
        slug=make_slug(name, *numbers, f"{cores}c"),
        identified=identified,
        details={**details, "cores": str(cores)},
    )


def make_slug(name: str, *marks: str) -> str:
    """A file-safe form of a device's name with marks that make it distinct, which always stay whole.

    Example:
        >>> make_slug("Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz", "f6", "m143", "8c")
        'intel-xeon-platinum-8488c-f6-m143-8c'
    """
    bare = re.sub(r"\((r|tm|c)\)|\bcpu\b|\bprocessor\b|@.*$", " ", name.lower())
    words = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")
    tail = "-".join(re.sub(r"[^a-z0-9]+", "-", mark.lower()).strip("-") for mark in marks)
    head = words[: max(_SLUG_LENGTH - len(tail) - 1, 1)].strip("-")
    return "-".join(part for part in (head, tail) if part)
