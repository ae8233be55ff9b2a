import gc
from collections.abc import Callable

import pytest

from assay.measure import CallSampler, EntrantFailure
from assay.testing.simulated import Cost, Intruder, SimulatedDevice, Weather

CALM = Weather(sigma=0.0)
LONG = 10_000_000
"""Nanoseconds of a call that needs no lead-in after its first."""


def scripted(device: SimulatedDevice, *steps_ns: int, waits: dict[int, int] | None = None) -> Callable[[], object]:
    """A call whose n-th run takes the n-th time, the last one ever after; `waits` are counted as run-queue wait."""
    made = 0

    def call() -> None:
        nonlocal made
        device.clock.advance(steps_ns[min(made, len(steps_ns) - 1)])
        counter = device.contention()
        if counter.ns is not None:
            counter.ns += (waits or {}).get(made, 0)
        made += 1

    return call


@pytest.mark.spec("X8")
def test_each_call_is_timed_by_itself() -> None:
    device = SimulatedDevice(weather=CALM)
    sampler = CallSampler(device, [[scripted(device, 900, 10, 20, 30)]])
    assert sampler.block(0, 0, calls=3, wait_limit_ns=0).times_ns == (10, 20, 30)


@pytest.mark.spec("M3")
def test_the_call_that_warms_an_entrant_up_enters_no_sample() -> None:
    device = SimulatedDevice(weather=CALM)
    sampler = CallSampler(device, [[scripted(device, 900, 10)]])
    assert 900 not in sampler.block(0, 0, calls=5, wait_limit_ns=0).times_ns
    assert device.clock.now_ns() == 900 + 5 * 10, "it did run"


def test_a_long_call_is_warmed_up_once_and_a_short_one_before_every_block() -> None:
    for ns, made in ((LONG, 1 + 3 + 3), (50_000, 1 + 3 + 1 + 3)):
        device = SimulatedDevice(weather=CALM)
        sampler = CallSampler(device, device.bind([Cost(ns=ns)]))
        sampler.block(0, 0, calls=3, wait_limit_ns=0)
        sampler.block(0, 0, calls=3, wait_limit_ns=0)
        assert device.clock.now_ns() == made * ns


@pytest.mark.spec("X9")
def test_a_call_that_waited_is_dropped_and_made_again_whatever_its_time() -> None:
    device = SimulatedDevice(weather=CALM)
    # The second timed call waits and is the fastest; the fourth does not wait and is by far the slowest.
    call = scripted(device, 50, 50, 10, 50, 5000, 50, waits={2: 3_000})
    sample = CallSampler(device, [[call]]).block(0, 0, calls=4, wait_limit_ns=2_000)
    assert sample.times_ns == (50, 50, 5000, 50)
    assert (sample.dropped, sample.waited_ns) == (1, 3_000)


@pytest.mark.spec("X9")
def test_a_wait_is_never_subtracted() -> None:
    device = SimulatedDevice(weather=CALM)
    call = scripted(device, 5_000, waits={1: 1_500})
    sample = CallSampler(device, [[call]]).block(0, 0, calls=2, wait_limit_ns=2_000)
    assert sample.waited_ns == 1_500
    assert sample.times_ns == (5_000, 5_000)


@pytest.mark.spec("X9")
def test_calls_are_made_again_a_bounded_number_of_times() -> None:
    device = SimulatedDevice(weather=CALM, intruder=Intruder(every=1, wait_ns=10_000))
    sample = CallSampler(device, device.bind([Cost(ns=1_000)])).block(0, 0, calls=4, wait_limit_ns=2_000)
    assert sample.times_ns == ()
    assert sample.dropped == 12


@pytest.mark.spec("X9", "M10")
def test_without_a_counter_nothing_is_dropped_and_the_wait_is_unknown() -> None:
    device = SimulatedDevice(weather=CALM, intruder=Intruder(every=1, wait_ns=10_000), counts_waits=False)
    sample = CallSampler(device, device.bind([Cost(ns=1_000)])).block(0, 0, calls=4, wait_limit_ns=2_000)
    assert sample.times_ns == (11_000,) * 4
    assert (sample.dropped, sample.waited_ns) == (0, None)


@pytest.mark.spec("X9")
def test_of_many_short_calls_the_group_that_waited_is_dropped_whole() -> None:
    device = SimulatedDevice(weather=CALM)
    call = scripted(device, 1_000, waits={3: 5_000})
    sample = CallSampler(device, [[call]]).block(0, 0, calls=50, wait_limit_ns=2_000)
    assert len(sample.times_ns) == 50
    assert sample.dropped == 10


@pytest.mark.spec("X7")
def test_what_a_call_changes_is_put_back_before_every_call_outside_its_time() -> None:
    device = SimulatedDevice(weather=CALM)
    state = [3, 1, 2]

    def sort() -> None:
        device.clock.advance(10 if state == sorted(state) else 700)
        state.sort()

    def restore() -> None:
        device.clock.advance(5_000)
        state[:] = [3, 1, 2]

    trap = CallSampler(device, [[sort]]).block(0, 0, calls=3, wait_limit_ns=0)
    assert trap.times_ns == (10, 10, 10), "the trap: an in-place sort timed on its own sorted output"
    escaped = CallSampler(device, [[sort]], restore=[restore]).block(0, 0, calls=3, wait_limit_ns=0)
    assert escaped.times_ns == (700, 700, 700)


@pytest.mark.spec("X7", "X9")
def test_a_wait_while_putting_back_is_not_the_calls() -> None:
    device = SimulatedDevice(weather=CALM)

    def restore() -> None:
        counter = device.contention()
        counter.ns = (counter.ns or 0) + 9_000

    call = scripted(device, 1_000)
    sample = CallSampler(device, [[call]], restore=[restore]).block(0, 0, calls=3, wait_limit_ns=2_000)
    assert (len(sample.times_ns), sample.dropped) == (3, 0)


@pytest.mark.spec("X7")
def test_a_block_runs_on_the_placement_it_is_told_round_and_round() -> None:
    device = SimulatedDevice(weather=CALM)
    bound = [[scripted(device, 100 * (1 + placement)) for placement in range(3)]]
    sampler = CallSampler(device, bound)
    seen = [sampler.block(0, placement, calls=1, wait_limit_ns=0).times_ns[0] for placement in range(5)]
    assert seen == [100, 200, 300, 100, 200]


class Ticking:
    """A clock that shows only every 1000th nanosecond."""

    def __init__(self) -> None:
        self.ns = 0

    def now_ns(self) -> int:
        return self.ns // 1000 * 1000

    def date(self) -> str:
        return ""


class Coarse(SimulatedDevice):
    """A device whose clock is coarse."""

    def __init__(self) -> None:
        super().__init__(weather=CALM)
        self.ticking = Ticking()
        self.clock = self.ticking  # pyright: ignore[reportAttributeAccessIssue] - a clock, though not the fake one

    def call(self) -> None:
        self.ticking.ns += 100


@pytest.mark.spec("M13")
def test_calls_the_clock_does_not_see_are_repeated_until_it_does() -> None:
    device = Coarse()
    assert device.clock.now_ns() == 0
    sample = CallSampler(device, [[device.call]]).block(0, 0, calls=5, wait_limit_ns=0)
    assert min(sample.times_ns) > 0, "of 100 ns each, by a clock of 1000"
    assert sum(sample.times_ns) / 5 == pytest.approx(100, rel=0.5)


def test_an_entrant_that_raises_has_failed_and_says_how() -> None:
    device = SimulatedDevice(weather=CALM)
    sampler = CallSampler(device, device.bind([Cost(ns=10, raises=ZeroDivisionError("by nothing"), fails_from=2)]))
    with pytest.raises(EntrantFailure, match=r"^raised ZeroDivisionError: by nothing$") as failure:
        sampler.block(0, 0, calls=3, wait_limit_ns=0)
    assert isinstance(failure.value.__cause__, ZeroDivisionError)


@pytest.mark.spec("A16")
def test_an_entrant_that_declines_is_not_timed_as_if_it_ran() -> None:
    device = SimulatedDevice(weather=CALM)
    sampler = CallSampler(device, device.bind([Cost(ns=10, declines=True)]))
    with pytest.raises(EntrantFailure, match="declined the call"):
        sampler.block(0, 0, calls=3, wait_limit_ns=0)


def test_an_interrupt_passes_through_unless_it_can_only_be_the_entrants_own() -> None:
    device = SimulatedDevice(weather=CALM)
    bound = device.bind([Cost(ns=10, raises=KeyboardInterrupt())])
    with pytest.raises(KeyboardInterrupt):
        CallSampler(device, bound).block(0, 0, calls=3, wait_limit_ns=0)
    with pytest.raises(EntrantFailure, match=r"raised KeyboardInterrupt$"):
        CallSampler(device, bound, failures=(Exception, KeyboardInterrupt)).block(0, 0, calls=3, wait_limit_ns=0)


def test_no_garbage_is_collected_inside_a_block_and_collecting_goes_on_after_it() -> None:
    device = SimulatedDevice(weather=CALM)
    seen: list[bool] = []
    assert gc.isenabled()
    CallSampler(device, [[lambda: seen.append(gc.isenabled())]], restore=[lambda: None]).block(0, 0, 3, 0)
    assert set(seen) == {False}
    assert gc.isenabled()
    with pytest.raises(EntrantFailure):
        CallSampler(device, device.bind([Cost(ns=10, declines=True)])).block(0, 0, 3, 0)
    assert gc.isenabled()


def test_whoever_asks_is_told_which_entrant_runs_next() -> None:
    device = SimulatedDevice(weather=CALM)
    told: list[int] = []
    sampler = CallSampler(device, device.bind([Cost(ns=10), Cost(ns=10)]), on_block=told.append)
    for entrant in (1, 0, 1):
        sampler.block(entrant, 0, calls=1, wait_limit_ns=0)
    assert told == [1, 0, 1]
