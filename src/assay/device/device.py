"""What assay asks of a device, whichever it is."""

from collections.abc import Mapping
from typing import Protocol

from assay.device.clock import Clock
from assay.device.contention import Contention
from assay.device.fingerprint import Fingerprint

UNKNOWN_MODE = "unknown"
"""The mode of a device that does not report one."""


class Device(Protocol):
    """A place where kernels run."""

    @property
    def name(self) -> str:
        """The name a user gives it by: ``cpu``."""
        ...

    @property
    def fingerprint(self) -> Fingerprint:
        """What it is."""
        ...

    @property
    def mode(self) -> str:
        """Its present mode of power and clocks; `UNKNOWN_MODE` when it does not report one."""
        ...

    @property
    def clock(self) -> Clock:
        """The clock its work is timed by."""
        ...

    def facts(self) -> Mapping[str, object]:
        """What an expression may read as ``device.NAME``; a fact that cannot be read is absent."""
        ...

    def contention(self) -> Contention:
        """The counters that say whether others got in the way of this process, the same object every time."""
        ...


def agrees(kept: str, present: str) -> bool:
    """Whether figures taken in one mode may stand beside those of another; an unknown mode equals no known one.

    Example:
        >>> agrees("performance", "performance"), agrees("performance", "unknown"), agrees("unknown", "unknown")
        (True, False, True)
    """
    return kept == present
