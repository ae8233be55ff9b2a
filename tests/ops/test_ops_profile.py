"""What a profile in force does to a call."""

import logging
from pathlib import Path

import numpy as np
import pytest
from ops_declared import Array, bare_gemm, counted, matrices

import assay
from assay.ops import Op, device_here, environment_in_force, forget_profiles, options_in_force, start_over
from assay.store import Profile

SHAPE: dict[str, int | str] = {"M": 32, "N": 5, "K": 8, "T": "float32"}


def tunable_gemm(default: int = 1, constraints: tuple[str, ...] = ()) -> Op:
    """A matrix product with one tunable kernel and one plain one."""
    gemm = bare_gemm()

    @gemm.kernel(tunables={"tile": [1, 2]}, default={"tile": default}, constraints=constraints)
    def tiled(a: Array, b: Array, *, c: Array, tile: int) -> None:
        del tile
        np.matmul(a, b, out=c)

    @gemm.kernel
    def plain(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    return gemm


def in_force(kernel: str, setting: dict[str, int]) -> None:
    """Puts a profile in force that chooses this for the shape."""
    slug = device_here().fingerprint.slug
    profile = Profile(slug).with_tuned("gemm", kernel, SHAPE, setting, choose=True)
    profile.save(options_in_force().profile / f"{slug}.json")
    forget_profiles()


def test_a_profile_chooses_kernel_and_setting() -> None:
    gemm = tunable_gemm()
    in_force("tiled", {"tile": 2})
    explained = gemm.explain(*matrices(32, 8, 5))
    assert (str(explained.entrant), explained.source) == ("tiled[tile=2]", "profile")
    assert gemm.explain(*matrices(33, 8, 5)).source == "tier"


@pytest.mark.parametrize("setting", [{"tile": 1}, {"tile": 7}])
def test_a_recorded_setting_the_kernel_forbids_now_gives_way_to_the_kernels_own(
    setting: dict[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    gemm = tunable_gemm(default=2, constraints=("tile > 1",))
    in_force("tiled", setting)
    a, b = matrices(32, 8, 5)
    assert str(gemm.explain(a, b).entrant) == "tiled[tile=2]"
    np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)
    assert counted(gemm) == {"won": 1}
    said = [record.getMessage() for record in caplog.records if "tile=7 is not in" in record.getMessage()]
    assert len(said) == (1 if setting == {"tile": 7} else 0)  # once, though it was looked at more often
    assert all("edit or delete the entry" in line for line in said)


def test_a_profile_that_names_a_kernel_the_op_does_not_have_gives_way() -> None:
    gemm = tunable_gemm()
    in_force("gone", {})
    explained = gemm.explain(*matrices(32, 8, 5))
    assert explained.source == "tier"
    assert explained.rejected == {"gone": "profile names it, and the op has no such kernel"}


def test_where_the_profile_decides_nothing_is_measured() -> None:
    gemm = tunable_gemm()
    in_force("plain", {})
    with assay.policy("measure"):
        gemm(*matrices(32, 8, 5))
    assert environment_in_force().answers() == []


@pytest.mark.spec("X12")
def test_a_damaged_profile_or_store_costs_a_caller_nothing_but_a_warning(
    own_folders: Path, caplog: pytest.LogCaptureFixture
) -> None:
    slug = device_here().fingerprint.slug
    damaged = options_in_force().profile / f"{slug}.json"
    damaged.parent.mkdir()
    damaged.write_text('{"assay": 1, "entries": [')
    store = own_folders / "store" / "default.db"
    store.parent.mkdir()
    store.write_bytes(b"this is no database" * 100)
    forget_profiles()
    gemm = tunable_gemm()
    a, b = matrices(32, 8, 5)
    with caplog.at_level(logging.WARNING, "assay"):
        for rows in (32, 33, 34):
            np.testing.assert_allclose(gemm(a[:rows], b), a[:rows] @ b, rtol=1e-5)
            gemm(*matrices(rows, 8, 5))
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert any(str(damaged.name) in line for line in said)
    assert any(str(store) in line for line in said)
    assert damaged.read_text() == '{"assay": 1, "entries": ['


def test_the_log_says_each_selection_at_level_info(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ASSAY_LOG", "info")
    start_over()
    gemm = tunable_gemm()
    gemm(*matrices(32, 8, 5))
    gemm(*matrices(32, 8, 5))
    assert [record.getMessage() for record in caplog.records if record.name == "assay"] == [
        "gemm at M=32,N=5,K=8,T=float32: won, tiled[tile=1]: unmeasured choice: first of tier emitted that serves"
    ]
