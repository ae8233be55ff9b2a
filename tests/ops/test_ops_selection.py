"""Which kernel answers, and what the log says of it."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from ops_declared import Array, bare_gemm, counted, matrices, two_kernel_gemm

import assay
from assay.errors import CallError, NoKernelError, TargetError
from assay.ops import Op, dispatch, gating
from assay.testing import wrong


def ran(op: Op, *arrays: Array) -> str | None:
    """The kernel that would answer."""
    entrant = op.explain(*arrays).entrant
    return entrant.kernel if entrant else None


@pytest.mark.spec("C29", "A2")
def test_unmeasured_the_highest_tier_that_serves_runs_then_the_first_registered() -> None:
    gemm = two_kernel_gemm()

    @gemm.kernel
    def third(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    assert ran(gemm, *matrices(32, 8, 5)) == "blocked"  # hand-tuned, although registered after general
    assert ran(gemm, *matrices(31, 8, 5)) == "general"  # blocked does not serve 31 rows; general came before third
    gemm(*matrices(31, 8, 5))
    assert counted(gemm) == {"won": 1}


@pytest.mark.spec("C27")
def test_serves_is_asked_for_the_very_call() -> None:
    gemm = bare_gemm()
    seen: list[tuple[int, ...]] = []

    @gemm.kernel(serves="a.contiguous and b.stride[1] == 1 and N <= 8")
    def picky(a: Array, b: Array, *, c: Array) -> None:
        seen.append(a.shape)
        assert a.flags.c_contiguous
        np.matmul(a, b, out=c)

    a, b = matrices(32, 16, 8)
    assert ran(gemm, a, b) == "picky"
    assert ran(gemm, np.asfortranarray(a), b) is None
    assert ran(gemm, a, np.asfortranarray(b)) is None
    assert ran(gemm, *matrices(32, 16, 9)) is None
    np.testing.assert_allclose(gemm(np.asfortranarray(a), b), a @ b, rtol=1e-5)
    assert seen == []


@pytest.mark.spec("C27")
def test_alignment_is_a_guard_of_the_plan_and_not_of_its_key() -> None:
    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    def double(x: Array) -> Array:
        return 2 * x

    ran_on: list[int] = []

    @double.kernel(serves="x.align >= 64")
    def aligned(x: Array, *, y: Array) -> None:
        ran_on.append(x.ctypes.data % 64)
        np.multiply(x, 2, out=y)

    room = np.zeros(4096, np.uint8)
    start = -room.ctypes.data % 64
    one = room[start : start + 400].view(np.float32)
    other = room[start + 16 : start + 416].view(np.float32)
    assert one.ctypes.data % 64 == 0
    assert other.ctypes.data % 64 == 16
    double(one)
    ran_on.clear()
    for _ in range(2):  # equal class, shape, strides and dtype: only the pointer differs
        double(one)
        double(other)
    assert ran_on == [0, 0]
    assert counted(double) == {"won": 3, "no_candidate": 2}


@pytest.mark.spec("C28", "A4")
def test_when_nothing_serves_the_reference_answers_and_the_log_has_each_reason() -> None:
    gemm = bare_gemm()

    @gemm.kernel(serves="M % 16 == 0")
    def tall(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    @gemm.kernel(available="device.cores > 1000")
    def huge(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    a, b = matrices(31, 8, 5)
    np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)
    assert counted(gemm) == {"no_candidate": 1}
    reason = dispatch.entries()[-1].reason
    assert "tall: serves 'M % 16 == 0'; here M is 31" in reason
    assert "huge: not available here: device.cores > 1000" in reason


@pytest.mark.spec("C28")
def test_without_a_reference_a_call_nothing_serves_is_a_typed_error_with_the_reasons() -> None:
    gemm = bare_gemm()
    gemm.pathway.declare(replace(gemm.declaration, reference=None))

    @gemm.kernel(serves="M % 16 == 0")
    def tall(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    with pytest.raises(NoKernelError, match=r"nothing serves this call: tall: serves 'M % 16 == 0'; here M is 31"):
        gemm(*matrices(31, 8, 5))


@pytest.mark.spec("A3")
def test_forcing_a_kernel_that_is_unknown_or_unavailable_raises_and_lists_the_names() -> None:
    gemm = two_kernel_gemm()

    @gemm.kernel(available="device.cores > 1000")
    def huge(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    a, b = matrices(32, 8, 5)
    with (
        assay.force(gemm="tiled"),
        pytest.raises(CallError, match="no kernel 'tiled' to force; there are general"),
    ):
        gemm(a, b)
    with assay.force(gemm="huge"), pytest.raises(CallError, match=r"huge.*not available here.*general, blocked, huge"):
        gemm(a, b)


@pytest.mark.spec("A3")
def test_a_forced_kernel_that_does_not_serve_leaves_the_call_to_the_reference_as_degraded() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(31, 8, 5)
    with assay.force(gemm="blocked"):
        np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)
    assert counted(gemm) == {"degraded": 1}
    with assay.force(gemm="blocked"):
        gemm(*matrices(32, 8, 5))
    assert counted(gemm) == {"degraded": 1, "won": 1}


@pytest.mark.spec("A3", "A5")
@pytest.mark.parametrize("policy", ["off", "cached", "measure", "frozen"])
def test_a_wrong_kernel_answers_nothing_under_any_policy(policy: str) -> None:
    gemm = bare_gemm()

    @gemm.kernel(tier="hand-tuned")
    def wrong(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)
        c[0, 0] += 1

    @gemm.kernel
    def right(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    a, b = matrices(32, 8, 5)
    with assay.policy(policy):
        np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)
        with assay.force(gemm="wrong"):
            np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)
    assert counted(gemm) == {"won": 1, "error": 1}
    assert "c[0, 0] is" in dispatch.entries()[-1].reason


@pytest.mark.spec("A8")
def test_a_kernel_that_declines_at_run_time_gives_way_to_the_next() -> None:
    gemm = bare_gemm()

    @gemm.kernel(tier="hand-tuned")
    def small_only(a: Array, b: Array, *, c: Array) -> object:
        if a.shape[0] > 16 and a[0, 0] > 100:
            return NotImplemented
        np.matmul(a, b, out=c)
        return None

    @gemm.kernel
    def general(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    a, b = matrices(32, 8, 5)
    gemm(a, b)
    a[0, 0] = 1000
    np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)
    assert counted(gemm) == {"won": 2}
    assert [entry.selected for entry in dispatch.entries()] == ["small_only", "general"]


@pytest.mark.spec("A19")
@pytest.mark.parametrize("failure", [ZeroDivisionError("the moon is full"), wrong.UnprintableError()])
def test_a_kernel_that_raises_at_call_time_is_remembered_and_the_next_one_answers(failure: Exception) -> None:
    gemm = bare_gemm()
    calls: list[str] = []

    @gemm.kernel(tier="hand-tuned")
    def fragile(a: Array, b: Array, *, c: Array) -> None:
        if a[0, 0] == 1234:
            calls.append("raised")
            raise failure
        np.matmul(a, b, out=c)

    @gemm.kernel
    def general(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    a, b = matrices(32, 8, 5)
    gemm(a, b)
    a[0, 0] = 1234
    for _ in range(3):
        np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)
    assert calls == ["raised"]
    assert dispatch.entries()[-1].selected == "general"


@pytest.mark.spec("A1")
def test_registering_a_name_again_replaces_the_kernel_in_place() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(31, 8, 5)
    gemm(a, b)
    ran_now: list[str] = []

    def general(a: Array, b: Array, *, c: Array) -> None:
        ran_now.append("new")
        np.matmul(a, b, out=c)

    gemm.kernel(general)
    gemm(a, b)
    assert ran_now
    assert [found.name for found in gemm.declaration.candidates] == ["general", "blocked"]


@pytest.mark.spec("A5")
def test_the_gate_may_be_asked_of_tuned_builds_only_or_not_at_all_and_what_is_known_stays_known() -> None:
    gemm = bare_gemm()

    @gemm.kernel
    def wrong(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)
        c += 1

    a, b = matrices(32, 8, 5)
    with gating("tuned"):
        np.testing.assert_allclose(gemm(a, b), a @ b + 1, rtol=1e-5)  # nobody asked
    np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)  # asked, and refused
    gemm.pathway.replan()
    with gating("tuned"):
        np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)  # known
    with gating("off"):
        np.testing.assert_allclose(gemm(a, b), a @ b + 1, rtol=1e-5)
    with pytest.raises(TargetError, match="gate 'sometimes'"), gating("sometimes"):
        pass


def test_an_op_whose_kernels_read_alignment_keeps_no_data_alive() -> None:
    @assay.op("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    def double(x: Array) -> Array:
        return 2 * x

    @double.kernel(serves="x.align >= 1")
    def any_alignment(x: Array, *, y: Array) -> None:
        np.multiply(x, 2, out=y)

    x = np.ones(8, np.float32)
    watch = weakref.ref(x)
    double(x)
    del x
    gc.collect()
    assert watch() is None
