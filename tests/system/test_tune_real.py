"""Tuning on the real system: worker processes, a C compiler, a SQLite store, a profile."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import assay
from assay.measure import Protocol
from assay.ops import Op, device_here, dispatch, environment_in_force, forget_profiles, place_here, tune_call
from assay.store import Profile
from assay.tuning import TuneOrder, TuneResult
from assay.worker import Done, Limits, Worker

Array = npt.NDArray[np.float32]

ADD_ONE = """
#include <stdint.h>
void add_one(const ASSAY_T *x, ASSAY_T *y, int64_t N) {
    for (int64_t i = 0; i < N; i++) y[i] = x[i] + (ASSAY_T)STEP;
}
"""


@pytest.fixture
def add_one() -> Op:
    """An op with a good kernel, one that wastes its time, and a collection of hostile ones."""

    @assay.op("forall N: Dim; T: DType[float32 | float64]. (x: T[N]) -> (y: T[N])")
    def add_one(x: Array) -> Array:
        return x + 1

    @add_one.kernel(tier="hand-tuned")
    def wasteful(x: Array, *, y: Array) -> None:
        for _ in range(6):
            np.add(x, 1, out=y)

    @add_one.kernel
    def plain(x: Array, *, y: Array) -> None:
        np.add(x, 1, out=y)

    add_one.add(
        assay.CKernel("compiled", source=ADD_ONE, function="add_one", tunables={"STEP": [1]}, serves="x.contiguous")
    )
    return add_one


def hostile(op: Op) -> None:
    """Adds kernels that crash, hang, lie and leave."""

    @op.kernel
    def segfaults(x: Array, *, y: Array) -> None:
        import ctypes

        ctypes.string_at(0)

    @op.kernel
    def leaves(x: Array, *, y: Array) -> None:
        import os

        os._exit(0)

    @op.kernel
    def hangs(x: Array, *, y: Array) -> None:
        while True:
            pass

    @op.kernel
    def interrupts(x: Array, *, y: Array) -> None:
        raise KeyboardInterrupt

    @op.kernel
    def raises(x: Array, *, y: Array) -> None:
        class OddError(Exception):
            pass

        raise OddError("an unusual one")

    @op.kernel
    def wrong(x: Array, *, y: Array) -> None:
        np.add(x, 2, out=y)

    broken = "void add_one(const ASSAY_T *x) { this is no C; }"
    op.add(assay.CKernel("broken", source=broken, function="add_one", args=["x"]))


def tuned(op: Op, shape: Mapping[str, object], worker: Worker, *, remeasure: bool = False) -> TuneResult:
    """The result of tuning one shape with short limits."""
    order = TuneOrder(
        device=device_here(),
        environment=environment_in_force(),
        place=place_here(),
        runner=worker,
        protocol=Protocol(),
        limits=Limits(call_s=1.0),
        remeasure=remeasure,
    )
    return tune_call(op, op.describe(shape), order, profile=Profile("here"), seed=0)


SHAPE: dict[str, int | str] = {"N": 200_000, "T": "float32"}


@pytest.mark.spec("A5", "A9", "M14", "X10")
def test_hostile_kernels_cost_themselves_and_the_tune_ends_with_the_right_answer(add_one: Op) -> None:
    hostile(add_one)
    with Worker() as worker:
        result = tuned(add_one, SHAPE, worker)
    words = {one.kernel: (one.outcome, one.reason) for one in result.entrants}
    assert words["segfaults"] == ("failed", "killed by signal 11 (segmentation fault) while it was run")
    assert words["leaves"] == ("failed", "exited with 0 while it was run")
    assert words["hangs"] == ("failed", "no answer within 1.0 s while it was run")
    assert "KeyboardInterrupt" in words["interrupts"][1]
    assert "OddError: an unusual one" in words["raises"][1]
    assert words["wrong"][0] == "refused"
    assert "y[" in words["wrong"][1]
    assert words["broken"][0] == "failed"
    assert "error" in words["broken"][1]
    assert result.default.kernel == "wasteful"
    assert result.winner.kernel in ("plain", "compiled", "wasteful")  # a machine too busy to measure keeps the default
    assert result.outcome == "refused" or result.winner.kernel != "wasteful"


@pytest.mark.spec("M17", "R5")
def test_a_second_tune_measures_nothing_and_says_the_same(add_one: Op) -> None:
    with Worker() as worker:
        first = tuned(add_one, SHAPE, worker)
    records = environment_in_force().records()

    class NoWorker(Worker):
        def run(self, task: object, on_message: object = None) -> object:  # type: ignore[override]
            raise AssertionError("a kept decision is not measured again")

    second = tuned(add_one, SHAPE, NoWorker())
    assert not first.kept
    assert second.kept
    assert (second.outcome, second.winner, second.ratio) == (first.outcome, first.winner, first.ratio)
    assert environment_in_force().records() == records


@pytest.mark.spec("R16", "R17", "R19")
def test_a_tune_leaves_a_record_that_joins_its_answer(add_one: Op) -> None:
    with Worker() as worker:
        result = tuned(add_one, SHAPE, worker)
    record = result.record
    assert record is not None
    assert record.stored
    kept = environment_in_force().answer(record.entry.key, record.entry.checksum)
    assert kept is not None
    assert kept.winner.kernel == result.winner.kernel
    assert kept.winner.index == record.winner
    assert [trial.name for trial in record.trials] == ["wasteful", "plain", "compiled[STEP=1]"]
    assert all(trial.wall > 0 for trial in record.trials)
    assert record.wall > 0
    assert [one.body for one in environment_in_force().records()] == [record]


@pytest.mark.spec("A14", "A17")
def test_a_tuned_winner_runs_afterwards_and_serves_its_bucket_as_a_hint(add_one: Op) -> None:
    with Worker() as worker:
        result = tuned(add_one, SHAPE, worker)
    dispatch.reset()
    x = np.ones(200_000, np.float32)
    explained = add_one.explain(x)
    assert (str(explained.entrant), explained.source) == (result.winner.label, "table")
    np.testing.assert_array_equal(add_one(x), x + 1)
    neighbour = add_one.explain(np.ones(199_999, np.float32))
    assert (neighbour.source, str(neighbour.entrant)) == ("table", result.winner.label)
    assert "N=200000,T=float32, of the same bucket" in neighbour.reason
    strided = add_one.explain(np.ones(400_000, np.float32)[::2])
    assert strided.entrant is not None
    assert strided.entrant.kernel != "compiled"  # it serves contiguous arrays only
    assert add_one.explain(np.ones(7, np.float32)).source == "tier"


@pytest.mark.spec("A12")
def test_under_measure_the_first_miss_decides_and_the_second_query_runs_nothing(add_one: Op) -> None:
    x = np.ones(200_000, np.float32)
    with assay.policy("measure"):
        np.testing.assert_array_equal(add_one(x), x + 1)
        records = environment_in_force().records()
        assert len(records) == 1
        add_one(np.ones(200_000, np.float32))
        add_one.pathway.replan()
        add_one(x)
        assert environment_in_force().records() == records
    assert add_one.explain(x).source == "table"


@pytest.mark.spec("C35", "C36", "C37")
def test_tuned_mode_changes_the_setting_and_never_the_kernel() -> None:
    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    def add_one(x: Array) -> Array:
        return x + 1

    passes: list[int] = []

    @add_one.kernel(tunables={"times": [8, 1]}, default={"times": 8}, tier="hand-tuned")
    def tunable(x: Array, *, y: Array, times: int) -> None:
        passes.append(times)
        for _ in range(times):
            np.add(x, 1, out=y)

    @add_one.kernel
    def quicker(x: Array, *, y: Array) -> None:
        np.add(x, 1, out=y)

    add_one.request_tune()  # asked before the first call, it tunes at the launch
    x = np.ones(100_000, np.float32)
    add_one(x)
    ran = add_one.pathway.planner.plan  # the plan is there: the next launch runs the tuned program
    assert ran is not None
    passes.clear()
    add_one(x)
    assert add_one.explain(x).entrant is not None
    assert {found.kernel.name for found in add_one.iter_kernels()} == {"tunable"}
    assert passes in ([1], [8])  # 8 only where the machine was too busy to tell them apart
    before = len(passes)
    add_one.request_tune()
    add_one(x)
    assert len(passes) == before + 1  # a second request does nothing


@pytest.mark.spec("M36")
def test_a_profile_choice_is_followed_and_outranks_the_kept_answer(add_one: Op, own_folders: Path) -> None:
    with Worker() as worker:
        tuned(add_one, SHAPE, worker)
    slug = device_here().fingerprint.slug
    profile = Profile(slug).with_tuned("add_one", "wasteful", SHAPE, {}, choose=True)
    profile.save(own_folders / "profiles" / f"{slug}.json")
    forget_profiles()
    add_one.pathway.replan()
    explained = add_one.explain(np.ones(200_000, np.float32))
    assert (str(explained.entrant), explained.source) == ("wasteful", "profile")
    with assay.policy("off"):
        assert add_one.explain(np.ones(200_000, np.float32)).source == "tier"


@pytest.mark.spec("A10", "A5")
def test_a_kernel_that_crashed_its_worker_never_runs_in_the_users_process(add_one: Op) -> None:
    @add_one.kernel(tier="hand-tuned")
    def leaves(x: Array, *, y: Array) -> None:
        import os

        os._exit(7)

    with Worker() as worker:
        tuned(add_one, SHAPE, worker)
    x = np.ones(200_000, np.float32)
    with assay.force(add_one="leaves"):
        np.testing.assert_array_equal(add_one(x), x + 1)
    assert "exited with 7" in dispatch.entries()[-1].reason


SEGFAULT = "void f(const float *x, float *y, long N) { *(volatile int *)0 = N; y[0] = x[0]; }"


@pytest.mark.spec("A5", "X10")
def test_a_c_kernel_that_crashes_at_its_first_call_takes_its_judge_down_and_not_the_caller() -> None:
    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    def same(x: Array) -> Array:
        return x.copy()

    contiguous = "x.contiguous and y.contiguous"
    same.add(assay.CKernel("crashing", source=SEGFAULT, function="f", serves=contiguous))
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(same(x), x)
    assert "segmentation fault" in dispatch.entries()[-1].reason
    np.testing.assert_array_equal(same(x[:5].copy()), x[:5])


@pytest.mark.spec("A5", "X10")
def test_a_c_kernel_whose_first_call_has_strided_arrays_is_judged_elsewhere_as_they_lie() -> None:
    backwards = "if (sx < 0) *(volatile int *)0 = 1; for (long i = 0; i < N; i++) y[i * sy] = x[i * sx] + 1;"
    source = f"void f(const float *x, long sx, float *y, long sy, long N) {{ {backwards} }}"

    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    def add(x: Array) -> Array:
        return x + 1

    add.add(assay.CKernel("forward", source=source, function="f", args=["x", "x.stride[0]", "y", "y.stride[0]", "N"]))
    x, out = np.arange(8, dtype=np.float32), np.zeros(16, np.float32)
    np.testing.assert_array_equal(add(x[::-1]), x[::-1] + 1)
    assert "segmentation fault" in dispatch.entries()[-1].reason
    np.testing.assert_array_equal(add(x, out=out[::2]), x + 1)
    np.testing.assert_array_equal(out[1::2], 0)


@pytest.mark.spec("C7", "X24")
def test_two_outputs_never_share_memory_with_a_plan_and_without() -> None:
    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N], z: float32[N])")
    def both(x: Array) -> tuple[Array, Array]:
        return x + 1, x + 2

    x, room = np.zeros(4, np.float32), np.empty(8, np.float32)
    for _ in range(2):
        for out in ((room[:4], room[:4]), (room[:4], room[3:7]), [room[:4], room[4:]], room[:4], (room[:4],)):
            with pytest.raises(ValueError, match=r"overlap|out is|out holds"):
                both(x, out=out)
        y, z = both(x, out=(room[:4], room[4:]))
        assert (y == 1).all()
        assert (z == 2).all()
    one = np.empty(4, np.float32)

    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    def plus_one(x: Array) -> Array:
        return x + 1

    for _ in range(2):
        with pytest.raises(ValueError, match="out is a tuple, expected one array: y"):
            plus_one(x, out=(one,))
        plus_one(x, out=one)


@pytest.mark.spec("X13")
def test_an_op_crosses_to_another_process_also_where_a_kernel_calls_it() -> None:
    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    def double(x: Array) -> Array:
        return 2 * x

    @double.kernel
    def halving(x: Array, *, y: Array) -> None:
        if x.size > 2:
            half = x.size // 2
            y[:half], y[half:] = double(x[:half]), double(x[half:])
        else:
            np.multiply(x, 2, out=y)

    with Worker() as worker:
        done = worker.run(lambda _channel: double(np.arange(5, dtype=np.float32)).tolist())
    assert isinstance(done, Done)
    assert done.value == [0, 2, 4, 6, 8]


PAST_WORKSPACE = """
#include <stdint.h>
void f(const float *x, float *y, float *w, int64_t N) {
    for (int64_t i = 0; i < N + PAST; i++) w[i] = 1;
    for (int64_t i = 0; i < N; i++) y[i] = x[i] + w[i];
}
"""


@pytest.mark.spec("A11")
@pytest.mark.parametrize("past", [0, 1])
def test_a_write_past_the_workspace_is_refused(past: int) -> None:
    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    def plus_one(x: Array) -> Array:
        return x + 1

    plus_one.add(
        assay.CKernel(
            "scratching",
            source=PAST_WORKSPACE,
            function="f",
            args=["x", "y", "workspace", "N"],
            workspace="4*N",
            tunables={"PAST": [past]},
            serves="x.contiguous and y.contiguous",
        )
    )
    x = np.arange(32, dtype=np.float32)
    np.testing.assert_array_equal(plus_one(x), x + 1)
    entry = dispatch.entries()[-1]
    assert entry.outcome == ("no_candidate" if past else "won")
    assert ("wrote past the end of its workspace" in entry.reason) == bool(past)
