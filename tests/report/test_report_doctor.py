"""The doctor says what was found, and calls a machine unfit only for what makes measuring or keeping impossible."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from assay.device import Clock, Contention, Fingerprint
from assay.errors import StoreError
from assay.options import read_options
from assay.report import Compiler, Health, examine, health_document, health_table
from assay.report.doctor import Crowd, clock_step_ns, frontends, watch_crowd, writable_trouble

MILLISECOND = 1_000_000


class SteppingClock:
    """A clock that moves by one step at every reading."""

    def __init__(self, step_ns: int) -> None:
        self._readings: Iterator[int] = count(0, step_ns)

    def now_ns(self) -> int:
        return next(self._readings)

    def date(self) -> str:
        return "2026-01-01T00:00:00Z"


class Crowded:
    """A counter that says a share of the time that passed was waited."""

    missing: tuple[str, ...] = ()

    def __init__(self, waits: Iterator[int | None]) -> None:
        self._waits = waits

    def waited_ns(self) -> int | None:
        return next(self._waits)


class Machine:
    """A device as it is told to be."""

    name = "cpu"

    def __init__(self, *, step_ns: int, waited_ns: int | None = 0, identified: bool = True) -> None:
        self.fingerprint: Fingerprint = Fingerprint("cpu", "Test CPU", "test-cpu-4c", identified, {})
        self.mode: str = "performance"
        self.clock: Clock = SteppingClock(step_ns)
        waits: list[int | None] = [None, None] if waited_ns is None else [5, 5 + waited_ns]
        self._contention: Contention = Crowded(iter(waits))

    def facts(self) -> Mapping[str, object]:
        return {"cores": 4}

    def contention(self) -> Contention:
        return self._contention


def look_at(machine: Machine, tmp_path: Path, store_trouble: str = "") -> Health:
    def open_store() -> Path:
        if store_trouble:
            raise StoreError(str(tmp_path / "default.db"), store_trouble)
        return tmp_path / "default.db"

    return examine(
        machine,
        read_options({"ASSAY_STORE": str(tmp_path)}),
        find_compiler=lambda: Compiler("/usr/bin/cc", "cc 13.2"),
        open_store=open_store,
        read_profile=lambda: tmp_path / "profiles/test-cpu-4c.json",
    )


def test_the_step_of_a_clock_is_the_smallest_it_was_seen_to_take() -> None:
    assert clock_step_ns(SteppingClock(40)) == 40
    assert clock_step_ns(SteppingClock(0)) == 0


def test_the_crowd_is_what_was_waited_while_a_processor_was_kept_busy() -> None:
    machine = Machine(step_ns=1000, waited_ns=7 * MILLISECOND)
    assert watch_crowd(machine, 50 * MILLISECOND) == Crowd(7 * MILLISECOND, 50 * MILLISECOND)


def test_a_quiet_machine_with_a_fine_clock_is_fit(tmp_path: Path) -> None:
    health = look_at(Machine(step_ns=100), tmp_path)
    assert health.reasons == ()
    document = health_document(health)
    assert document["fit"] is True
    assert document["cores"] == 4
    assert document["clock_step_ns"] == 100
    assert document["compiler"] == {"path": "/usr/bin/cc", "version": "cc 13.2"}
    assert document["store"] == {"path": str(tmp_path / "default.db"), "trouble": "", "exists": False}


def test_a_counter_that_is_missing_is_unknown_and_never_zero(tmp_path: Path) -> None:
    health = look_at(Machine(step_ns=100, waited_ns=None), tmp_path)
    assert health.crowd.waited_ns is None
    assert health.reasons == ()
    rows = dict(row for row in health_table(health).rows if len(row) == 2)
    assert rows["waiting for a CPU"].startswith("unknown over ")


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (Machine(step_ns=2000), "the clock steps by 2 µs"),
        (Machine(step_ns=100, waited_ns=26 * MILLISECOND), "too crowded: 26 ms of the last 50 ms (52 %)"),
        (Machine(step_ns=100, identified=False), "the device cannot be identified"),
    ],
)
def test_a_machine_is_unfit_for_a_reason(machine: Machine, reason: str, tmp_path: Path) -> None:
    (found,) = look_at(machine, tmp_path).reasons
    assert reason in found


def test_a_store_that_is_damaged_makes_the_machine_unfit_and_is_named(tmp_path: Path) -> None:
    health = look_at(Machine(step_ns=100), tmp_path, "is damaged")
    assert (health.store.path, health.store.trouble) == (str(tmp_path / "default.db"), "is damaged")
    assert health.reasons == (f"store {tmp_path / 'default.db'}: is damaged",)
    assert health_document(health)["fit"] is False


def test_a_profile_that_is_not_there_yet_is_no_trouble_and_says_so(tmp_path: Path) -> None:
    health = look_at(Machine(step_ns=100), tmp_path)
    rows = dict(row for row in health_table(health).rows if len(row) == 2)
    assert rows["profile"] == f"{tmp_path / 'profiles/test-cpu-4c.json'} (not there yet)"
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles/test-cpu-4c.json").touch()
    rows = dict(row for row in health_table(look_at(Machine(step_ns=100), tmp_path)).rows if len(row) == 2)
    assert rows["profile"] == str(tmp_path / "profiles/test-cpu-4c.json")


def test_a_frontend_that_is_missing_says_how_to_get_it() -> None:
    by_name = {frontend.name: frontend for frontend in frontends(None)}
    assert by_name["python"].available
    assert not by_name["c"].available
    assert by_name["c"].remedy == "install a C compiler, as with: apt install gcc"


def test_a_place_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert writable_trouble(tmp_path / "not/yet/there.db") == ""
    assert writable_trouble(tmp_path / "file/there.db") == f"{tmp_path / 'file'} is not a folder"
