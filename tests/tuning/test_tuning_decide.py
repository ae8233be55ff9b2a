"""Deciding one call: what is tried, what is claimed, and the word every entrant ends with."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from assay.errors import TuneError
from assay.gate import Declined, Gate, Refused, Verdict
from assay.kernel import Entrant, Kernel, PythonKernel, Setting
from assay.signature import describe, parse
from assay.testing.bench import ScriptedBench
from assay.testing.simulated import SimulatedDevice
from assay.tuning import Candidate, Contest, Decision, Declaration, Failed, Progress, Search, decide
from assay.tuning.bench import OnExamined

SIGNATURE = parse("forall N: Dim. (x: float32[N]) -> (y: float32[N])")


def nothing(x: object, *, y: object, **tunables: object) -> None:
    """A kernel's body that is never run here."""
    del x, y, tunables


def kernel(name: str, tiles: Sequence[int] = (), serves: str | None = None, constraint: str = "") -> Kernel:
    """A kernel with one tunable, or none."""
    made = PythonKernel(
        nothing,
        name,
        tunables={"tile": tiles} if tiles else None,
        serves=serves,
        constraints=[constraint] if constraint else None,
    )
    return made.for_signature(SIGNATURE)


def decided(
    kernels: Sequence[Kernel],
    bench: ScriptedBench,
    default: str,
    search: Search | None = None,
    device: SimulatedDevice | None = None,
    heard: list[Progress] | None = None,
) -> Decision:
    """The decision among these kernels for a call of 64 elements."""
    declaration = Declaration("double", SIGNATURE, None, Gate(), tuple(Candidate(one) for one in kernels))
    found = next(one for one in kernels if one.name == default)
    contest = Contest(declaration, describe(SIGNATURE, "double", {"N": 64}), Entrant(default, found.default), "N=64")
    heard = [] if heard is None else heard
    return decide(contest, bench, search or Search(), device or SimulatedDevice(), heard.append)


def outcomes(decision: Decision) -> Mapping[str, str]:
    """Each entrant's word."""
    return {one.label: one.outcome for one in decision.entrants}


@pytest.mark.spec("X5", "M28")
def test_the_fastest_takes_the_defaults_place_only_through_the_confirming_race() -> None:
    bench = ScriptedBench({"plain": 100_000, "quick": 80_000, "slow": 120_000})
    decision = decided([kernel("plain"), kernel("quick"), kernel("slow")], bench, "plain")
    assert (decision.outcome, str(decision.winner), str(decision.default)) == ("gain", "quick", "plain")
    assert bench.confirmed == ["quick"]
    assert decision.confirmation is not None
    assert decision.confirmation.ratio == pytest.approx(0.8)
    assert [one.gains for one in decision.trials] == [False, True, False]


@pytest.mark.spec("X5", "M28")
def test_a_tie_keeps_the_default() -> None:
    bench = ScriptedBench({"plain": 100_000, "twin": 100_000})
    decision = decided([kernel("twin"), kernel("plain")], bench, "plain")
    assert (decision.outcome, str(decision.winner)) == ("no gain", "plain")


@pytest.mark.spec("X1")
def test_what_saves_less_than_the_margin_keeps_the_default() -> None:
    bench = ScriptedBench({"plain": 100_000, "hair": 99_500})
    decision = decided([kernel("plain"), kernel("hair")], bench, "plain")
    assert bench.confirmed == ["hair"]
    assert (decision.outcome, str(decision.winner)) == ("no gain", "plain")


@pytest.mark.spec("A5", "A8", "R8")
def test_what_the_gate_does_not_admit_is_never_timed_and_ends_with_its_word() -> None:
    bench = ScriptedBench(
        {"plain": 100_000, "quick": 80_000, "crashing": 1, "wrong": 1, "shy": 1, "broken": 1},
        verdicts={
            "wrong": Refused("wrong", "y[3] is 7, reference 6", "shape", "y", (3,)),
            "shy": Declined("shy", "shape", "declined"),
            "broken": Failed("cc: error: expected ';'", "build"),
        },
        crashes={"crashing": "killed by signal 11"},
    )
    names = ["plain", "wrong", "shy", "broken", "crashing", "quick"]
    decision = decided([*map(kernel, names), kernel("big", serves="N > 1000")], bench, "plain")
    assert outcomes(decision) == {
        "plain": "ranked",
        "quick": "ranked",
        "wrong": "refused",
        "shy": "refused",
        "broken": "failed",
        "crashing": "failed",
        "big": "skipped",
    }
    assert all("wrong" not in batch and "shy" not in batch and "broken" not in batch for batch in bench.selected)
    assert "big" not in bench.examined
    assert str(decision.winner) == "quick"
    reasons = {one.label: one.reason for one in decision.entrants}
    assert "N is 64" in reasons["big"]
    assert reasons["crashing"] == "killed by signal 11"


@pytest.mark.spec("R13")
def test_a_single_entrant_is_the_answer_and_nothing_is_timed() -> None:
    bench = ScriptedBench({"plain": 100_000})
    decision = decided([kernel("plain")], bench, "plain")
    assert (decision.outcome, str(decision.winner), decision.measured) == ("no gain", "plain", False)
    assert bench.selected == []
    assert outcomes(decision) == {"plain": "not measured"}


@pytest.mark.spec("R13")
def test_when_all_fail_the_error_gives_each_reason() -> None:
    bench = ScriptedBench({}, verdicts={"one": Failed("does not build", "build"), "two": Failed("hangs")})
    with pytest.raises(TuneError, match=r"double at N=64: no entrant survived: one: does not build; two: hangs"):
        decided([kernel("one"), kernel("two")], bench, "one")


def test_when_nothing_serves_the_error_gives_each_reason() -> None:
    with pytest.raises(TuneError, match=r"nothing to tune: big: serves 'N > 1000'; here N is 64"):
        decided([kernel("big", serves="N > 1000")], ScriptedBench({}), "big")


def test_a_default_that_is_refused_gives_its_place_to_the_first_that_is_right() -> None:
    bench = ScriptedBench(
        {"plain": 100_000, "quick": 80_000}, verdicts={"wrong": Refused("wrong", "y[0] is 1", "shape")}
    )
    decision = decided([kernel("wrong"), kernel("plain"), kernel("quick")], bench, "wrong")
    assert (str(decision.default), str(decision.winner), decision.outcome) == ("plain", "quick", "gain")


@pytest.mark.spec("M25")
def test_the_default_comes_first_and_each_setting_once() -> None:
    tiles = [8, 16, 32, 64]
    bench = ScriptedBench({f"tiled[tile={tile}]": 1000.0 * tile for tile in tiles} | {"plain": 50_000})
    decided([kernel("tiled", tiles), kernel("plain")], bench, "plain")
    assert bench.examined[0] == "plain"
    assert sorted(bench.examined) == sorted({"plain", *(f"tiled[tile={tile}]" for tile in tiles)})


@pytest.mark.spec("M26")
def test_a_large_space_is_descended_batch_by_batch_beside_the_default() -> None:
    tiles, widths = range(1, 9), range(1, 9)
    costs = {
        f"tiled[tile={tile}, width={width}]": 100_000.0 + 5000 * abs(tile - 6) + 3000 * abs(width - 3)
        for tile in tiles
        for width in widths
    }
    bench = ScriptedBench(costs)
    tiled = PythonKernel(nothing, "tiled", tunables={"tile": tiles, "width": widths}).for_signature(SIGNATURE)
    decision = decided([tiled], bench, "tiled")
    assert str(decision.winner) == "tiled[tile=6, width=3]"
    assert 1 < len(bench.selected) <= 4
    assert all(batch[0] == "tiled[tile=1, width=1]" for batch in bench.selected)
    assert len(set(bench.examined)) == len(bench.examined) < 64


@pytest.mark.spec("M6")
def test_the_default_is_timed_in_every_batch() -> None:
    tiles = list(range(1, 41))
    bench = ScriptedBench({f"tiled[tile={tile}]": 1e5 + tile for tile in tiles} | {"plain": 1e5})
    decided([kernel("tiled", tiles), kernel("plain")], bench, "plain")
    assert all(batch[0] == "plain" for batch in bench.selected)


def test_when_time_is_up_what_is_left_is_not_reached_and_the_default_stands() -> None:
    device = SimulatedDevice()

    class Slow(ScriptedBench):
        def examine(self, entrants: Sequence[Entrant], on_examined: OnExamined) -> dict[Entrant, Verdict | Failed]:
            device.clock.advance(60_000_000_000)
            return super().examine(entrants, on_examined)

    bench = Slow({"plain": 100_000, "quick": 50_000})
    decision = decided([kernel("plain"), kernel("quick")], bench, "plain", Search(budget_s=30), device)
    assert (decision.outcome, str(decision.winner)) == ("no gain", "plain")
    assert "out of budget before quick could be confirmed" in decision.reason
    none = decided([kernel("plain"), kernel("quick")], bench, "plain", Search(budget_s=0.0), device)
    assert (none.outcome, str(none.winner), none.measured) == ("no gain", "plain", False)
    assert none.reason == "out of budget before anything was timed"
    assert outcomes(none) == {"plain": "not reached", "quick": "not reached"}


def test_an_unsatisfiable_space_is_skipped_with_the_constraint_and_the_others_go_on() -> None:
    bench = ScriptedBench({"plain": 100_000, "quick": 50_000})
    empty = kernel("tiled", [8, 16], constraint="tile > 100")
    decision = decided([kernel("plain"), empty, kernel("quick")], bench, "plain")
    assert str(decision.winner) == "quick"
    reasons = {one.kernel: one.reason for one in decision.entrants}
    assert "tile > 100" in reasons["tiled"]


def test_a_pinned_tunable_never_moves() -> None:
    bench = ScriptedBench({f"tiled[tile={tile}]": 1e5 - tile for tile in (8, 16, 32)})
    decision = decided([kernel("tiled", [8, 16, 32])], bench, "tiled", Search(pinned={"tiled": {"tile": 8}}))
    assert bench.examined == ["tiled[tile=8]"]
    assert decision.winner.setting == Setting.of({"tile": 8})


def test_two_decisions_from_one_seed_are_equal() -> None:
    costs = {f"tiled[tile={tile}]": float(cost) for tile, cost in zip(range(1, 41), np.arange(40) + 5e4, strict=True)}
    first, second = (decided([kernel("tiled", list(range(1, 41)))], ScriptedBench(costs), "tiled") for _ in range(2))
    assert first.entrants == second.entrants
    assert first.confirmation == second.confirmation


@pytest.mark.spec("M39")
def test_progress_says_what_is_done_what_is_to_go_and_the_best_so_far() -> None:
    heard: list[Progress] = []
    bench = ScriptedBench(
        {"plain": 100_000, "quick": 80_000, "wrong": 1}, verdicts={"wrong": Refused("wrong", "y[0] is 1", "shape")}
    )
    decided([kernel("plain"), kernel("wrong"), kernel("quick")], bench, "plain", heard=heard)
    told = [(one.stage, one.entrant, one.timed, one.to_go, one.best) for one in heard]
    assert told == [
        ("gate", "plain", 0, 3, ""),
        ("gate", "wrong", 1, 2, ""),
        ("gate", "quick", 2, 1, ""),
        ("gate", "", 3, 0, ""),
        ("select", "", 3, 1, "plain"),
        ("confirm", "quick", 3, 0, "quick"),
    ]
    assert [one.note for one in heard if one.note] == ["wrong: y[0] is 1"]
    assert heard[-1].best_ratio == pytest.approx(0.8)


@pytest.mark.spec("A9")
def test_a_default_that_is_lost_while_it_is_timed_gives_its_place_to_the_next_and_the_tune_goes_on() -> None:
    bench = ScriptedBench({"plain": 100_000, "quick": 80_000}, lost=frozenset({"fragile"}))
    decision = decided([kernel("fragile"), kernel("plain"), kernel("quick")], bench, "fragile")
    assert (decision.outcome, str(decision.default), str(decision.winner)) == ("gain", "plain", "quick")
    assert outcomes(decision)["fragile"] == "failed"
    assert bench.selected == [["plain", "quick"]]


def test_when_defaults_are_lost_until_one_is_left_it_stands() -> None:
    bench = ScriptedBench({}, lost=frozenset({"one"}))
    decision = decided([kernel("one"), kernel("two")], bench, "one")
    assert (str(decision.winner), decision.measured) == ("two", False)
    assert outcomes(decision) == {"two": "not measured", "one": "failed"}


def test_a_budget_ends_a_batch_between_entrants_and_the_decision_says_it_was_cut_short() -> None:
    device = SimulatedDevice()

    class Slow(ScriptedBench):
        def examine(self, entrants: Sequence[Entrant], on_examined: OnExamined) -> dict[Entrant, Verdict | Failed]:
            device.clock.advance(10_000_000_000)
            return super().examine(entrants, on_examined)

    tiles = range(1, 31)
    bench = Slow({f"tiled[tile={tile}]": 1e5 - tile for tile in tiles})
    decision = decided([kernel("tiled", list(tiles))], bench, "tiled", Search(budget_s=15), device)
    assert len(bench.examined) == 8
    assert decision.cut_short
    assert list(outcomes(decision).values()).count("not reached") == 22
    whole = decided([kernel("tiled", list(tiles))], ScriptedBench(bench.cost_ns), "tiled")
    assert not whole.cut_short


def test_an_entrant_a_full_disk_kept_out_leaves_the_decision_open() -> None:
    full = Failed("does not compile: cannot write: No space left on device", "build")
    bench = ScriptedBench({"plain": 100_000, "quick": 80_000}, verdicts={"compiled": full})
    assert decided([kernel("plain"), kernel("compiled"), kernel("quick")], bench, "plain").cut_short
    broken = Failed("does not compile: expected ';'", "build")
    bench = ScriptedBench({"plain": 100_000, "quick": 80_000}, verdicts={"compiled": broken})
    assert not decided([kernel("plain"), kernel("compiled"), kernel("quick")], bench, "plain").cut_short
