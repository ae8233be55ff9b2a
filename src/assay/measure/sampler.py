"""Blocks of timed calls: the one place where measuring touches a clock and runs a kernel.

Each call is timed by itself, and a call that waited for a processor is dropped by that wait alone, whatever its time
and whoever's it was; the wait is never subtracted. A dropped call is made again, a bounded number of times.
"""

import gc
from collections.abc import Callable, Sequence
from typing import Protocol as Interface

import msgspec

from assay.device import Device
from assay.errors import reason_of

_READINGS = 5
"""Readings of the wait counter a block makes at most: a block of many short calls reads it between groups of calls,
and a group that waited is dropped whole."""

_RETRIES = 2
"""A block may make this many times its calls again for those that waited."""

_MOST_REPEATS = 1 << 10
"""Back-to-back calls one timing may span where the clock does not see a single one."""

_LEAD_IN_BELOW_NS = 1_000_000
"""A block of calls shorter than this begins with one untimed call, which brings the entrant's code and data back near
the core; a longer call spends its own time on that."""


class Sample(msgspec.Struct, frozen=True):
    """The calls of one block.

    Attributes:
        times_ns: each clean call's time, in the order they ran.
        dropped: calls that were left out because they waited for a processor.
        waited_ns: how long all calls of the block waited together; None: the system does not count it.
    """

    times_ns: tuple[float, ...]
    dropped: int = 0
    waited_ns: int | None = None


class Sampler(Interface):
    """Something that runs a block of calls of one entrant."""

    def block(self, entrant: int, placement: int, calls: int, wait_limit_ns: int) -> Sample:
        """The times of `calls` calls; fewer where too many waited.

        Args:
            entrant: which entrant, from 0.
            placement: which set of buffers, from 0; taken modulo the number there are.
            calls: how many clean calls are wanted.
            wait_limit_ns: a call that waited longer than this is dropped.

        Raises:
            EntrantFailure: the entrant raised, or declined the call.
        """
        ...


class EntrantFailure(Exception):  # noqa: N818 - it is caught where it is raised for; a user never sees it
    """An entrant did not complete a call; the text is the reason kept beside it."""


class CallSampler:
    """Samples bound callables on a device.

    Args:
        device: gives the clock and the contention counters.
        bound: for each entrant its calls, one per placement, pointers bound.
        restore: for each placement, what puts back the inputs a call changes, outside the timed part; empty where
            nothing is changed.
        on_block: told which entrant runs next, before each block.
        failures: the exceptions that are the entrant's own; anything else passes through.
    """

    def __init__(
        self,
        device: Device,
        bound: Sequence[Sequence[Callable[[], object]]],
        *,
        restore: Sequence[Callable[[], None]] = (),
        on_block: Callable[[int], None] | None = None,
        failures: tuple[type[BaseException], ...] = (Exception,),
    ) -> None:
        self._now = device.clock.now_ns
        self._waited = device.contention().waited_ns
        self._bound = bound
        self._restore = restore
        self._on_block = on_block
        self._failures = failures
        self._short: dict[tuple[int, int], bool] = {}
        self._repeats = 1

    def block(self, entrant: int, placement: int, calls: int, wait_limit_ns: int) -> Sample:
        """The times of `calls` calls; fewer where too many waited. See `Sampler.block`."""
        if self._on_block is not None:
            self._on_block(entrant)
        placement %= len(self._bound[entrant])
        # A collection of Python's garbage inside a call would be a slow call no counter explains: it waits for the
        # block's end.
        collects = gc.isenabled()
        gc.disable()
        try:
            return self._seen(entrant, placement, calls, wait_limit_ns)
        except EntrantFailure:
            raise
        except self._failures as failure:
            raise EntrantFailure(reason_of(failure)) from failure
        finally:
            if collects:
                gc.enable()

    def _seen(self, entrant: int, placement: int, calls: int, wait_limit_ns: int) -> Sample:
        """A block whose calls the clock saw, however often each timing has to repeat its call for that."""
        self._lead_in(entrant, placement)
        while True:
            sample = self._timed(self._bound[entrant][placement], placement, calls, wait_limit_ns)
            if self._is_seen(sample):
                return sample
            self._repeats *= 2

    def _lead_in(self, entrant: int, placement: int) -> None:
        """Runs one untimed call, unless this entrant's calls are known to be long; the first one finds that out."""
        if self._short.get((entrant, placement), True):
            if self._restore:
                self._restore[placement]()
            begin = self._now()
            result = self._bound[entrant][placement]()
            self._short[entrant, placement] = self._now() - begin < _LEAD_IN_BELOW_NS
            if result is NotImplemented:
                raise EntrantFailure("declined the call")

    def _is_seen(self, sample: Sample) -> bool:
        """Whether the clock saw every call, or repeating cannot help: what changes its inputs is not repeated."""
        return bool(self._restore) or self._repeats >= _MOST_REPEATS or min(sample.times_ns, default=1.0) > 0

    def _timed(self, call: Callable[[], object], placement: int, calls: int, wait_limit_ns: int) -> Sample:
        restore = self._restore[placement] if self._restore else None
        most = 1 if restore is not None else -(-calls // _READINGS)
        left = calls * (1 + _RETRIES)
        times: list[float] = []
        dropped = waited = 0
        before = self._waited()
        while len(times) < calls and left > 0:
            group = min(most, calls - len(times), left)
            left -= group
            if restore is not None:
                restore()
                before = self._waited()
            taken = self._group(call, group)
            if before is None:
                times += taken
                continue
            after = self._waited() or 0
            wait = after - before
            before = after
            waited += wait
            if wait > wait_limit_ns:
                dropped += group
            else:
                times += taken
        return Sample(tuple(times), dropped, None if before is None else waited)

    def _group(self, call: Callable[[], object], count: int) -> list[float]:
        now, repeats = self._now, self._repeats
        times: list[float] = []
        for _ in range(count):
            if repeats == 1:
                begin = now()
                result = call()
                times.append(now() - begin)
            else:
                begin = now()
                for _ in range(repeats - 1):
                    call()
                result = call()
                times.append((now() - begin) / repeats)
            if result is NotImplemented:
                raise EntrantFailure("declined the call")
        return times
