"""What is counted, listed and pinned: the dispatch log, the built kernels, plans that are shared."""

import threading

import numpy as np
import pytest
from ops_declared import Array, bare_gemm, counted, matrices, two_kernel_gemm

import assay
from assay.errors import DispatchError, TargetError
from assay.ops import DispatchEntry, DispatchLog, dispatch


@pytest.mark.spec("A25")
def test_strict_mode_raises_on_a_degrade_after_logging_it_and_not_where_nothing_serves() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(31, 8, 5)
    with dispatch.strict(), assay.force(gemm="blocked"), pytest.raises(DispatchError, match="blocked was selected"):
        gemm(a, b)
    assert dispatch.entries()[-1].outcome == "degraded"
    assert counted(gemm) == {"degraded": 1}
    bare = bare_gemm()
    with dispatch.strict():
        bare(a, b)


@pytest.mark.spec("A22", "A23")
def test_every_call_is_counted_and_every_selection_logged_once() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(32, 8, 5)
    for _ in range(5):
        gemm(a, b)
    assert counted(gemm) == {"won": 5}
    assert len(dispatch.entries()) == 1
    assert dispatch.histogram(target="gpu") == {}
    assert list(dispatch.histogram()) == [("cpu", "gemm")]
    dispatch.reset()
    assert dispatch.histogram() == {}
    gemm(a, b)
    assert counted(gemm) == {"won": 1}


@pytest.mark.spec("A22")
def test_a_tag_nobody_declared_is_an_error() -> None:
    with pytest.raises(ValueError, match="tag 'oracle'"):
        DispatchLog().note(DispatchEntry("cpu", "gemm", None, "oracle", "won", "", ""))


@pytest.mark.spec("A24")
def test_eight_threads_lose_no_count_and_the_newest_entries_stay() -> None:
    log = DispatchLog(kept=3)
    entry = DispatchEntry("cpu", "gemm", "general", "kernel", "won", "", "")

    def work() -> None:
        for _ in range(50):
            step = log.note(entry)
            for _ in range(200):
                next(step)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        log.histogram()
        log.entries()
    assert log.histogram()["cpu", "gemm"]["won"] == 8 * 50 * 200
    assert len(log.entries()) == 3


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TargetError, match="policy 'fastest'"), assay.policy("fastest"):
        pass


def test_what_a_call_gives_is_pinned() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(32, 8, 5)
    pinned = gemm.at("blocked", tile=16)
    np.testing.assert_allclose(pinned(a, b), a @ b, rtol=1e-5)
    explained = pinned.explain(a, b)
    assert (str(explained.entrant), explained.source) == ("blocked[tile=16]", "call")
    for wrong in (lambda: gemm.at("tiled"), lambda: gemm.at("blocked", tile=17), lambda: gemm.at("blocked", size=1)):
        with pytest.raises(ValueError, match=r"gemm|blocked"):
            wrong()


@pytest.mark.spec("C30", "C31", "C32", "C42")
def test_what_was_built_is_listed_once_and_read_only() -> None:
    gemm = two_kernel_gemm()
    assert not gemm.built_entries("gemm")
    assert gemm.kernel_config() is None
    for rows in (32, 64, 31):
        gemm(*matrices(rows, 8, 5))
    assert sorted(found.kernel.name for found in gemm.iter_kernels()) == ["blocked", "general"]
    assert gemm.kernel_config() == {"tile": 32}
    entries = gemm.built_entries("gemm")
    assert {name for name, _ in entries} == {"blocked", "general"}
    with pytest.raises(TypeError):
        entries["x", "y"] = next(gemm.iter_kernels())  # type: ignore[index]
    with pytest.raises(KeyError):
        gemm.built_entries("softmax")
    assert gemm.held_delegates() == ()


@pytest.mark.spec("C25")
def test_equal_calls_of_many_threads_build_once() -> None:
    gemm = bare_gemm()
    gate_runs: list[int] = []

    @gemm.probe
    def counting(rng: np.random.Generator, M: int, N: int, K: int, T: np.dtype) -> tuple[Array, Array]:
        gate_runs.append(M)
        return rng.standard_normal((M, K)).astype(T), rng.standard_normal((K, N)).astype(T)

    @gemm.kernel
    def general(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    a, b = matrices(32, 8, 5)
    threads = [threading.Thread(target=lambda: gemm(a, b)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gate_runs == [32]
    assert counted(gemm) == {"won": 8}


@pytest.mark.spec("C26")
def test_a_hit_asks_nothing_of_device_profile_or_store() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(32, 8, 5)
    gemm(a, b)
    touched: list[str] = []
    gemm.pathway.planner.plan = lambda *_: touched.append("planned")  # type: ignore[method-assign, assignment]
    for _ in range(3):
        gemm(a, b)
    assert touched == []
    assert counted(gemm) == {"won": 4}


def test_an_op_that_was_never_declared_cannot_be_forced() -> None:
    two_kernel_gemm()
    said = r"force\(gemn='tiled'\): no op 'gemn' was declared; did you mean 'gemm'"
    with pytest.raises(TargetError, match=said), assay.force(gemn="tiled"):
        pass


def test_pythons_own_errors_name_the_op() -> None:
    with pytest.raises(TypeError, match=r"gemm\(\) missing 1 required positional argument: 'b'"):
        bare_gemm()(matrices(1, 1, 1)[0])
