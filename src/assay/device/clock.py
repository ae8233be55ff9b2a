"""The one place clocks are read: a monotonic one for durations, the calendar's for dates.

Whoever needs the time is handed a `Clock`; `assay.testing.FakeClock` is the one that moves only when told.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """Something that says how late it is."""

    def now_ns(self) -> int:
        """Nanoseconds since a fixed, unspecified moment; never runs backwards."""
        ...

    def date(self) -> str:
        """The date and time in UTC, ISO 8601 to the second: ``2026-11-29T22:12:47Z``."""
        ...


class SystemClock:
    """This machine's clocks."""

    now_ns = staticmethod(time.perf_counter_ns)
    """Nanoseconds of the performance counter; the builtin itself, so that timing a call pays for no Python frame."""

    def date(self) -> str:
        """The date and time in UTC, ISO 8601 to the second."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
