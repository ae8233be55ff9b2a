import pytest

from assay.measure import CallSampler, Measurement, Protocol, Race, measurement, plan_rounds, race
from assay.testing.sampler import ScriptedSampler
from assay.testing.simulated import Cost, SimulatedDevice, Weather

WEATHERS = {
    "none": Weather(),
    "drift": Weather(drift=0.2),
    "ar1": Weather(sigma=0.03, correlation=0.8),
    "outliers": Weather(outlier_share=0.05),
    "bursts": Weather(burst_share=0.25),
}


def run(costs: list[Cost], protocol: Protocol, weather: Weather) -> Race:
    device = SimulatedDevice(weather=weather, seed=protocol.seed)
    return race(CallSampler(device, device.bind(costs, protocol.placements)), range(len(costs)), 0, protocol)


@pytest.mark.parametrize("weather", WEATHERS.values(), ids=WEATHERS)
@pytest.mark.spec("X2")
def test_equals_are_told_apart_in_no_more_races_than_promised(weather: Weather) -> None:
    races = [run([Cost(ns=60_000)] * 8, Protocol(margin=0.0, seed=seed), weather) for seed in range(200)]
    looked_faster = sum((one.selection.standings[0].ratio or 1) < 1 for one in races)
    assert looked_faster > 120, "the trap: by best median, identical entrants gain in most races"
    # 3.5 % of 200 is 7; the error of a count of 200 at 2.66 % is 2.3
    assert sum(one.outcome == "gain" for one in races) <= 7 + 2 * 2.3


def power(count: int, gain: float, margin: float, sigma: float) -> int:
    """Of 100 races of entrants one of which is faster, those that take that one."""
    right = 0
    for seed in range(100):
        best = 1 + seed % (count - 1)
        costs = [Cost(ns=60_000 * (1 - gain) if entrant == best else 60_000) for entrant in range(count)]
        done = run(costs, Protocol(margin=margin, seed=seed), Weather(sigma=sigma))
        right += done.outcome == "gain" and done.selection.survivor == best
    return right


@pytest.mark.parametrize("count", [8, 32])
@pytest.mark.spec("X3")
def test_two_per_cent_are_found_at_the_shipped_margin(count: int) -> None:
    assert power(count, 0.02, Protocol().margin, sigma=0.015) >= 94


@pytest.mark.parametrize("count", [8, 32])
@pytest.mark.spec("X3")
def test_one_per_cent_is_found_at_no_margin(count: int) -> None:
    assert power(count, 0.01, 0.0, sigma=0.015) >= 88


@pytest.mark.parametrize("count", [2, 8, 32])
@pytest.mark.spec("X4")
def test_a_race_keeps_to_its_blocks(count: int) -> None:
    for seed in range(5):
        done = run([Cost(ns=60_000)] * count, Protocol(margin=0.0, seed=seed, futility=None), WEATHERS["bursts"])
        assert done.blocks <= 20 * count + 220


@pytest.mark.spec("X1", "X5")
def test_a_candidate_that_was_lucky_in_selection_is_not_claimed() -> None:
    lucky_rounds = sum(rounds for _, rounds in plan_rounds(3))

    def figure(entrant: int, before: int) -> float:
        return 50_000.0 if entrant == 3 and before < lucky_rounds else 60_000.0

    done = race(ScriptedSampler(figure), range(4), 0, Protocol(margin=0.0))
    chosen = done.selection.standings[0]
    assert (chosen.entrant, chosen.ratio) == (3, pytest.approx(5 / 6)), "the trap: it looked 17 % faster"
    assert done.confirmation is not None
    assert (done.outcome, done.confirmation.ratio, done.confirmation.evidence.k) == ("no gain", 1.0, 0)


@pytest.mark.spec("X5")
def test_where_nobody_comes_near_the_default_stands_without_a_second_stage() -> None:
    done = race(ScriptedSampler(lambda entrant, _: 900.0 if entrant else 90.0), range(4), 0, Protocol())
    assert (done.outcome, done.confirmation) == ("no gain", None)
    assert done.reason


@pytest.mark.spec("X5")
def test_a_race_whose_selection_is_refused_is_refused() -> None:
    done = race(ScriptedSampler(lambda _entrant, _before: None), range(4), 0, Protocol())
    assert (done.outcome, done.confirmation) == ("refused", None)
    assert "calls waited for a CPU" in done.reason


@pytest.mark.spec("M15")
def test_a_measurement_holds_how_when_and_where_it_was_taken() -> None:
    device, protocol = SimulatedDevice(mode="performance"), Protocol(seed=4)
    sampler = ScriptedSampler(lambda entrant, before: 60_000.0 + entrant + 10 * before)
    selection = race(sampler, [0, 1], 0, protocol).selection
    kept = measurement(selection.standings[0], device, protocol, run="r1", digest="d1")
    # Four rounds: 60001, 60011, 60021, 60031; the default ran one block before them.
    assert kept == Measurement(
        t_ns=60_016.0,
        rounds_ns=(60_001.0, 60_011.0, 60_021.0, 60_031.0),
        default_ns=60_025.0,
        digest="d1",
        default_rounds_ns=(60_010.0, 60_020.0, 60_030.0, 60_040.0),
        protocol=protocol,
        device=device.fingerprint.key,
        mode="performance",
        date="2026-01-01T00:00:00Z",
        run="r1",
    )
    default = measurement(selection.default, device, protocol, run="r1")
    assert default is not None
    assert (default.default_ns, default.default_rounds_ns, default.digest) == (None, (), None)


@pytest.mark.spec("A20", "M15")
def test_a_measurement_of_an_unidentified_device_names_no_device() -> None:
    selection = race(ScriptedSampler(lambda _entrant, _before: 60_000.0), [0, 1], 0, Protocol()).selection
    kept = measurement(selection.default, SimulatedDevice(identified=False), Protocol(), run="r1")
    assert kept is not None
    assert kept.device is None


@pytest.mark.spec("M10")
def test_a_figure_that_was_refused_is_not_kept() -> None:
    selection = race(
        ScriptedSampler(lambda entrant, _: None if entrant == 1 else 1e3), range(6), 0, Protocol()
    ).selection
    refused = selection.standings[-1]
    assert refused.entrant == 1
    assert measurement(refused, SimulatedDevice(), Protocol(), run="r1") is None
