import os
import platform
from pathlib import Path

import pytest

from assay.device import UNKNOWN_MODE, CpuDevice, agrees
from assay.testing.clock import FakeClock

AMD = """processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
stepping\t: 1
flags\t\t: fpu sse2 avx avx2

processor\t: 1
vendor_id\t: SomeoneElse
"""
ARM = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd40\n"
USABLE = sorted(os.sched_getaffinity(0))


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path / "proc/cpuinfo", AMD)
    cache = tmp_path / f"sys/devices/system/cpu/cpu{USABLE[0]}/cache"
    for index, (level, kind, size) in enumerate([(1, "Data", "32K"), (1, "Instruction", "64K"), (2, "Unified", "1M")]):
        put(cache / f"index{index}/level", f"{level}\n")
        put(cache / f"index{index}/type", f"{kind}\n")
        put(cache / f"index{index}/size", f"{size}\n")
        put(cache / f"index{index}/coherency_line_size", "64\n")
    return tmp_path


def govern(root: Path, *modes: str) -> None:
    for cpu, mode in zip(USABLE, modes, strict=True):
        put(root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", f"{mode}\n")


def test_facts_are_read_from_the_data_caches_and_the_first_processor(root: Path) -> None:
    facts = CpuDevice(root, FakeClock()).facts()
    assert facts["l1_bytes"] == 32 * 1024
    assert facts["l2_bytes"] == 1024 * 1024
    assert (facts["line_bytes"], facts["vector_bits"], facts["cores"]) == (64, 256, len(USABLE))


def test_a_fact_that_cannot_be_read_is_absent_and_never_zero(root: Path) -> None:
    facts = CpuDevice(root, FakeClock()).facts()
    assert "l3_bytes" not in facts
    assert 0 not in facts.values()


def test_a_fingerprint_names_family_model_and_cores(root: Path) -> None:
    fingerprint = CpuDevice(root, FakeClock()).fingerprint
    assert fingerprint.slug == f"amd-epyc-f25-m17-{len(USABLE)}c"
    assert fingerprint.details["architecture"] == platform.machine()


def test_an_arm_core_is_identified_by_implementer_and_part(root: Path) -> None:
    put(root / "proc/cpuinfo", ARM)
    device = CpuDevice(root, FakeClock())
    assert device.fingerprint.identified
    assert device.facts()["vector_bits"] == 128


@pytest.mark.spec("A20")
def test_a_machine_that_does_not_say_what_it_is_gets_no_key(tmp_path: Path) -> None:
    fingerprint = CpuDevice(tmp_path, FakeClock()).fingerprint
    assert not fingerprint.identified
    assert fingerprint.key is None


def test_the_mode_is_the_governor_all_usable_cores_share(root: Path) -> None:
    govern(root, *["performance"] * len(USABLE))
    assert CpuDevice(root, FakeClock()).mode == "performance"


def test_the_mode_is_read_anew_each_time(root: Path) -> None:
    device = CpuDevice(root, FakeClock())
    govern(root, *["performance"] * len(USABLE))
    before = device.mode
    govern(root, *["powersave"] * len(USABLE))
    assert (before, device.mode) == ("performance", "powersave")


@pytest.mark.skipif(len(USABLE) < 2, reason="one usable core cannot differ from another")
@pytest.mark.spec("M12")
def test_cores_in_different_modes_make_the_mode_unknown(root: Path) -> None:
    govern(root, "powersave", *["performance"] * (len(USABLE) - 1))
    assert CpuDevice(root, FakeClock()).mode == UNKNOWN_MODE


@pytest.mark.spec("M12")
def test_a_mode_that_is_not_reported_is_unknown_and_equals_no_known_one(root: Path) -> None:
    mode = CpuDevice(root, FakeClock()).mode
    assert mode == UNKNOWN_MODE
    assert not agrees("performance", mode)
    assert not agrees(mode, "performance")
    assert agrees("performance", "performance")


@pytest.mark.spec("M10", "X9")
def test_a_system_without_the_wait_counter_says_unknown_and_names_the_missing_protection(root: Path) -> None:
    contention = CpuDevice(root, FakeClock()).contention()
    assert contention.waited_ns() is None
    (missing,) = contention.missing
    assert missing.startswith("run-queue wait: ")
