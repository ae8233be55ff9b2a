"""How often a race between equals claims a gain: exactly, and through the shipped code on a simulated device.

Every simulated race is between identical entrants, so every gain is a false one. The margin is 0, where it is hardest.
Race number i of every case draws from seed i, so the cases of one table are not independent of each other.
"""

from rich.progress import track

from assay.measure import CallSampler, Protocol, false_gain_rate, race
from assay.testing.simulated import Cost, SimulatedDevice, Weather
from assay.units import format_share
from benchmarks.document import make_parser, print_document, show

CANDIDATES = (2, 8, 32)
WEATHERS = {
    "none": Weather(),
    "drift": Weather(drift=0.2),
    "ar1": Weather(sigma=0.03, correlation=0.8),
    "outliers": Weather(outlier_share=0.05, outlier_factor=10.0),
    "bursts": Weather(burst_share=0.25, burst_calls=40, burst_factor=2.0),
}
COST = Cost(ns=60_000)


def simulated_rate(weather: Weather, candidates: int, races: int, margin: float) -> float:
    """The part of `races` races of identical entrants that claim a gain."""
    gains = 0
    for seed in range(races):
        device = SimulatedDevice(weather=weather, seed=seed)
        protocol = Protocol(margin=margin, seed=seed)
        sampler = CallSampler(device, device.bind([COST] * candidates, protocol.placements))
        gains += race(sampler, range(candidates), 0, protocol).outcome == "gain"
    return gains / races


def main() -> None:
    """Runs what the command line asks for."""
    parser = make_parser(__doc__)
    parser.add_argument("--simulated", type=int, required=True, metavar="N", help="simulated races per case")
    parser.add_argument("--margin", type=float, default=0.0, help="the margin they are run at (default 0)")
    options = parser.parse_args()
    if options.simulated < 1:
        parser.error(f"--simulated {options.simulated}: at least 1 race")
    cases = [(name, count) for name in WEATHERS for count in CANDIDATES]
    rates: dict[str, dict[str, float]] = {name: {} for name in WEATHERS}
    for name, count in track(cases, "racing", transient=True):
        rates[name][str(count)] = simulated_rate(WEATHERS[name], count, options.simulated, options.margin)
    protocol = Protocol(margin=options.margin)
    exact = false_gain_rate(protocol.alpha, protocol.max_pairs)
    count_error = (exact * (1 - exact) / options.simulated) ** 0.5
    rows = [(name, *(format_share(rate) for rate in by_count.values())) for name, by_count in rates.items()]
    show(
        f"false gains in {options.simulated} races a case, margin {options.margin:g}; "
        f"exact rate {format_share(exact)}, error of a count {format_share(count_error)}",
        ("machine", *(f"{count} entrants" for count in CANDIDATES)),
        rows,
    )
    if options.json:
        figures = {"exact": exact, "races": options.simulated, "margin": options.margin, "count_error": count_error}
        print_document({**figures, "simulated": rates})


if __name__ == "__main__":
    main()
