"""What every device promises, run on every one there is."""

from pathlib import Path

import pytest

from assay.device import CpuDevice, Device
from assay.testing.clock import FakeClock
from assay.testing.simulated import SimulatedDevice

DEVICES = ("cpu", "simulated")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, tmp_path: Path) -> Device:
    return CpuDevice(tmp_path, FakeClock()) if request.param == "cpu" else SimulatedDevice()


def test_a_device_says_what_it_is_without_changing_its_mind(device: Device) -> None:
    assert device.fingerprint == device.fingerprint
    assert device.name
    assert device.mode


def test_a_device_has_an_identity_exactly_when_it_is_identified(device: Device) -> None:
    assert (device.fingerprint.key is not None) == device.fingerprint.identified


def test_a_devices_facts_cannot_be_changed(device: Device) -> None:
    with pytest.raises(TypeError):
        device.facts()["cores"] = 9  # pyright: ignore[reportIndexIssue] - that is what is tested


def test_contention_is_one_object_and_names_what_it_cannot_say(device: Device) -> None:
    assert device.contention() is device.contention()
    assert (device.contention().waited_ns() is None) == bool(device.contention().missing)


def test_the_fake_clock_moves_only_when_told() -> None:
    clock = FakeClock(5)
    assert (clock.now_ns(), clock.now_ns()) == (5, 5)
    clock.advance(7)
    assert clock.now_ns() == 12
    with pytest.raises(ValueError, match="ns=-1"):
        clock.advance(-1)
