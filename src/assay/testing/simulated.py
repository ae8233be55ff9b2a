"""A device whose times are scripted: what each entrant costs, what the machine does to it, who gets in the way.

A call moves the device's clock by its entrant's cost times a factor of the machine's, which depends on when the call
is made, never on whose it is. So all of measuring runs on it as shipped, blocks, races and all, in no time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from assay.device import UNKNOWN_MODE, Fingerprint, make_slug
from assay.testing.clock import FakeClock

_CHUNK = 4096
"""Factors drawn at a time."""

_MACHINE, _CHANCE = 101, 102
"""What a device draws from its seed: never what a race of the same seed draws."""

Factors = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What an entrant does when called.

    Attributes:
        ns: nanoseconds a call takes on a machine that does nothing to it.
        slow_share: part of its calls that are in its slow mode.
        slow_factor: how many times longer those take.
        raises: what a call raises; None: nothing.
        fails_from: the call, counted from 0, that raises first.
        declines: whether a call returns `NotImplemented`.
    """

    ns: float
    slow_share: float = 0.0
    slow_factor: float = 1.0
    raises: BaseException | None = None
    fails_from: int = 0
    declines: bool = False


@dataclass(frozen=True, kw_only=True)
class Weather:
    """What the machine does to calls, whosoever they are.

    Attributes:
        sigma: relative noise of a call (log-normal).
        correlation: how much of its noise a call shares with the one before (AR(1)).
        drift: relative swing of a slow wave over `drift_calls` calls.
        drift_calls: calls of one such wave.
        outlier_share: part of the calls that take `outlier_factor` times as long.
        outlier_factor: see there.
        burst_share: part of the calls that fall into bursts.
        burst_calls: mean length of a burst, in calls.
        burst_factor: how many times longer a call takes in one, on average.
    """

    sigma: float = 0.01
    correlation: float = 0.0
    drift: float = 0.0
    drift_calls: int = 400
    outlier_share: float = 0.0
    outlier_factor: float = 10.0
    burst_share: float = 0.0
    burst_calls: float = 40.0
    burst_factor: float = 2.0

    def factors(self, rng: np.random.Generator) -> Iterator[list[float]]:
        """Factors of the calls in the order they are made, chunk by chunk, without end."""
        carried, made, in_burst = float(rng.standard_normal()), 0, False
        while True:
            noise = rng.standard_normal(_CHUNK)
            if self.correlation:
                noise = _correlated(noise, self.correlation, carried)
                carried = float(noise[-1])
            factors = np.exp(self.sigma * noise)
            if self.drift:
                when = np.arange(made, made + _CHUNK)
                factors *= 1 + self.drift * np.sin(2 * np.pi * when / self.drift_calls)
            if self.outlier_share:
                factors[rng.random(_CHUNK) < self.outlier_share] *= self.outlier_factor
            if self.burst_share:
                burst = _bursts(rng, self.burst_share, self.burst_calls, starts_inside=in_burst)
                in_burst = bool(burst[-1])
                hit = int(burst.sum())
                factors[burst] *= 1 + (self.burst_factor - 1) * rng.exponential(1.0, hit)
            made += _CHUNK
            yield factors.tolist()


@dataclass(frozen=True, kw_only=True)
class Intruder:
    """Another process that takes the processor away, and is counted as run-queue wait.

    Attributes:
        every: one call in so many is hit, on average.
        wait_ns: how long such a call waits, on top of its time.
    """

    every: float
    wait_ns: int


@dataclass
class SimulatedContention:
    """Counters a script moves.

    Attributes:
        ns: what the counter shows; None: there is no such counter.
    """

    ns: int | None = 0

    @property
    def missing(self) -> tuple[str, ...]:
        """The missing protection, where there is no counter."""
        return () if self.ns is not None else ("run-queue wait: this simulated device has no such counter",)

    def waited_ns(self) -> int | None:
        """What the counter shows."""
        return self.ns


@dataclass
class SimulatedDevice:
    """A device that follows a script.

    Attributes:
        weather: what it does to calls.
        intruder: who gets in the way; None: nobody.
        seed: what all chance is drawn from.
        counts_waits: whether it has a counter of run-queue wait.
        mode: its mode.
        identified: whether it says what it is.
        clock: moved by every call.
    """

    weather: Weather = field(default_factory=Weather)
    intruder: Intruder | None = None
    seed: int = 0
    counts_waits: bool = True
    mode: str = UNKNOWN_MODE
    identified: bool = True
    name: str = "simulated"
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        """Draws the machine's sequence."""
        rng = np.random.default_rng((self.seed, _MACHINE))
        self._factor = chain.from_iterable(self.weather.factors(rng)).__next__
        self._chance = chain.from_iterable(_uniform(np.random.default_rng((self.seed, _CHANCE)))).__next__
        self._contention = SimulatedContention(0 if self.counts_waits else None)

    @property
    def fingerprint(self) -> Fingerprint:
        """A made-up device's."""
        return Fingerprint("simulated", "simulated", make_slug("simulated"), self.identified, {"seed": str(self.seed)})

    def facts(self) -> Mapping[str, object]:
        """One core."""
        return MappingProxyType({"cores": 1})

    def contention(self) -> SimulatedContention:
        """Its counters."""
        return self._contention

    def bind(self, costs: Sequence[Cost], placements: int = 1) -> list[list[Callable[[], object]]]:
        """For each entrant its call, once for every placement: what a `CallSampler` takes."""
        return [[self._call(cost)] * placements for cost in costs]

    def _call(self, cost: Cost) -> Callable[[], object]:
        plain = not cost.slow_share and cost.raises is None and not cost.declines
        return self._plain(cost.ns) if plain and self.intruder is None else self._scripted(cost)

    def _plain(self, ns: float) -> Callable[[], object]:
        clock, factor = self.clock, self._factor

        def call() -> None:
            clock.ns += round(ns * factor())

        return call

    def _scripted(self, cost: Cost) -> Callable[[], object]:
        clock, factor, chance, intruder = self.clock, self._factor, self._chance, self.intruder
        contention, made = self._contention, 0

        def call() -> object:
            nonlocal made
            made += 1
            if cost.raises is not None and made > cost.fails_from:
                raise cost.raises
            if cost.declines:
                return NotImplemented
            ns = cost.ns * factor()
            if cost.slow_share and chance() < cost.slow_share:
                ns *= cost.slow_factor
            if intruder is not None and chance() * intruder.every < 1:
                ns += intruder.wait_ns
                if contention.ns is not None:
                    contention.ns += intruder.wait_ns
            clock.ns += round(ns)
            return None

        return call


def _uniform(rng: np.random.Generator) -> Iterator[list[float]]:
    while True:
        yield rng.random(_CHUNK).tolist()


def _correlated(noise: Factors, correlation: float, carried: float) -> Factors:
    """Noise of unit variance in which each value shares `correlation` with the one before."""
    fresh = (noise * np.sqrt(1 - correlation**2)).tolist()
    for index, value in enumerate(fresh):
        carried = correlation * carried + value
        fresh[index] = carried
    return np.asarray(fresh)


def _bursts(rng: np.random.Generator, share: float, length: float, *, starts_inside: bool) -> npt.NDArray[np.bool_]:
    """Which calls of a chunk fall into bursts: geometric lengths inside and between."""
    between = length * (1 - share) / share
    spans: list[int] = []
    while sum(spans) < _CHUNK:
        spans += [int(rng.geometric(1 / length)), int(rng.geometric(1 / between))]
    flags = np.tile([True, False], len(spans) // 2) if starts_inside else np.tile([False, True], len(spans) // 2)
    if not starts_inside:
        spans = [span for pair in zip(spans[1::2], spans[::2], strict=True) for span in pair]
    return np.repeat(flags, spans)[:_CHUNK]
