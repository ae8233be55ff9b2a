"""A figure as it is kept: a time, how it came about, and where."""

import msgspec

from assay.device import Device
from assay.measure.protocol import Protocol
from assay.measure.selection import Standing
from assay.measure.statistics import median


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant's time in one race.

    Attributes:
        t_ns: nanoseconds a call, the median of the rounds.
        rounds_ns: each round's figure.
        default_ns: the default's time beside it, the median of the same rounds; None for the default itself.
        default_rounds_ns: the default's figures of those rounds; empty for the default itself.
        digest: of the outputs' valid part, from one run before timing; None: none was taken.
        protocol: how it was measured.
        device: the key of the device it was measured on; None for one that could not be identified.
        mode: the device's mode.
        date: when, ISO 8601 in UTC.
        run: the id of the run that measured it.
    """

    t_ns: float
    rounds_ns: tuple[float, ...]
    default_ns: float | None
    default_rounds_ns: tuple[float, ...]
    digest: str | None
    protocol: Protocol
    device: str | None
    mode: str
    date: str
    run: str


def measurement(
    standing: Standing, device: Device, protocol: Protocol, run: str, *, digest: str | None = None
) -> Measurement | None:
    """What is kept of how an entrant did; None when it has no figure that may be used.

    Args:
        standing: how it did.
        device: where.
        protocol: by which protocol.
        run: the id of the run.
        digest: of the outputs; None: none was taken.
    """
    if standing.median_ns is None:
        return None
    return Measurement(
        t_ns=standing.median_ns,
        rounds_ns=standing.rounds_ns,
        default_ns=median(standing.default_rounds_ns) if standing.default_rounds_ns else None,
        default_rounds_ns=standing.default_rounds_ns,
        digest=digest,
        protocol=protocol,
        device=device.fingerprint.key,
        mode=device.mode,
        date=device.clock.date(),
        run=run,
    )
