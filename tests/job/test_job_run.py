"""After a run the profile has an entry for each shape, and a reloaded one resolves each to its winner."""

from dataclasses import replace
from pathlib import Path

import pytest

import assay
from assay.errors import TargetError
from assay.job import ShapeTask, profile_after, queue, tune
from assay.ops import op
from assay.store import Profile, update_profile
from assay.store.profile import Entry
from assay.tuning import EntrantResult, TuneResult

SIZES = (16, 32)


@pytest.fixture
def decided() -> list[tuple[ShapeTask, TuneResult]]:
    @op("forall N: Dim; T: DType[float32]. (x: T[N], scale: Float) -> (y: T[N])")
    def scaled(x: object, scale: object) -> object:
        return (x, scale)

    queued = queue([scaled], [{"N": size, "scale": 2.0} for size in SIZES])
    tasks = [one for one in queued if isinstance(one, ShapeTask)]
    return [(task, won_by(task, size)) for task, size in zip(tasks, SIZES, strict=True)]


def won_by(task: ShapeTask, tile: int) -> TuneResult:
    winner = EntrantResult("tiled", {"tile": tile}, "ranked")
    return TuneResult(
        op=task.op.name,
        shape=task.shape,
        outcome="gain",
        reason="",
        winner=winner,
        default=EntrantResult("plain", {}, "ranked"),
        ratio=0.5,
        interval=(0.4, 0.6),
        evidence=None,
        trials=(),
        entrants=(winner,),
        record=None,
        kept=False,
    )


@pytest.mark.spec("M34", "M36")
def test_a_reloaded_profile_resolves_each_tuned_shape_to_its_winner(
    decided: list[tuple[ShapeTask, TuneResult]], tmp_path: Path
) -> None:
    path = tmp_path / "device.json"
    profile_after(Profile("device"), decided).save(path)
    reloaded = Profile.load(path)
    assert len(reloaded.entries) == 2
    for task, result in decided:
        found = reloaded.resolve(task.op.name, task.shape)
        assert found.choose == "tiled"
        assert dict(found.settings["tiled"]) == result.winner.setting
    (broader,) = {tuple(entry.when) for entry in reloaded.entries}
    assert set(broader) == {"N", "T", "scale"}


@pytest.mark.spec("M35")
def test_the_same_decisions_again_leave_the_bytes_as_they_are(
    decided: list[tuple[ShapeTask, TuneResult]], tmp_path: Path
) -> None:
    path = tmp_path / "device.json"
    assert profile_after(Profile("device"), decided).save(path)
    before = path.read_bytes()
    assert not profile_after(Profile.load(path), reversed(decided)).save(path)
    assert path.read_bytes() == before


@pytest.mark.spec("M34")
def test_a_refused_race_decides_nothing_it_makes_no_entry_and_leaves_one_there_is(
    decided: list[tuple[ShapeTask, TuneResult]],
) -> None:
    refused = [(task, replace(result, outcome="refused", winner=result.default)) for task, result in decided]
    assert profile_after(Profile("device"), refused).entries == ()
    before = profile_after(Profile("device"), decided)
    assert profile_after(before, refused) == before
    nothing_gained = [(task, replace(result, outcome="no gain", winner=result.default)) for task, result in decided]
    assert {entry.kernel for entry in profile_after(before, nothing_gained).entries} == {"plain"}


def test_two_runs_that_end_at_once_and_a_hand_edit_keep_each_others_entries(tmp_path: Path) -> None:
    first: dict[str, int | str] = {"M": 8, "T": "float32"}
    second: dict[str, int | str] = {"M": 16, "T": "float32"}
    update_profile(tmp_path, "here", lambda now: now.with_tuned("gemm", "numpy", first, {}, choose=True))
    began_with = Profile.for_device(tmp_path, "here")
    update_profile(tmp_path, "here", lambda now: now.with_entry(Entry("softmax", "rows", {"N": 5})))  # meanwhile
    update_profile(tmp_path, "here", lambda now: now.with_tuned("gemm", "numpy", second, {}, choose=True))
    kept = Profile.for_device(tmp_path, "here")
    assert len(began_with.entries) == 1
    found = [(entry.op, entry.when) for entry in kept.entries]
    assert found == [("gemm", first), ("gemm", second), ("softmax", {"N": 5})]


@pytest.mark.parametrize("budget", [0, -5.0, float("nan"), float("inf"), "60s", True])
def test_a_budget_that_is_no_time_is_refused_before_anything_is_tuned(budget: object) -> None:
    with pytest.raises(TargetError, match="expected a number of seconds above 0"):
        tune("assay.zoo:gemm", budget=budget)  # type: ignore[call-overload]


@pytest.mark.parametrize("shapes", [{"M": 1}, "M=1", 3, [3]])
def test_shapes_that_are_no_list_of_shapes_are_refused(shapes: object) -> None:
    with pytest.raises(TargetError, match="shapes: expected"):
        tune("assay.zoo:gemm", shapes)  # type: ignore[call-overload]


@pytest.mark.parametrize("target", [None, 3, [None]])
def test_a_target_that_is_none_is_refused(target: object) -> None:
    with pytest.raises(TargetError, match="expected an op, a module, or a text"):
        tune(target)  # type: ignore[call-overload]


def test_under_frozen_nothing_is_tuned_since_nothing_may_be_written() -> None:
    with assay.policy("frozen"), pytest.raises(TargetError, match="nothing may be written"):
        tune("assay.zoo:gemm")
