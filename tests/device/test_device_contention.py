from pathlib import Path

import pytest

from assay.device import NoCounter, RunQueueWait, process_contention


def thread(tasks: Path, name: str, waited_ns: int) -> None:
    (tasks / name).mkdir(exist_ok=True)
    (tasks / name / "schedstat").write_text(f"999 {waited_ns} 7\n")


@pytest.mark.spec("X9")
def test_the_wait_is_the_second_field_summed_over_every_thread(tmp_path: Path) -> None:
    thread(tmp_path, "10", 1_000)
    thread(tmp_path, "11", 20)
    counter = RunQueueWait(str(tmp_path))
    assert counter.waited_ns() == 1_020
    thread(tmp_path, "11", 50)
    assert counter.waited_ns() == 1_050
    assert counter.missing == ()
    counter.close()


@pytest.mark.parametrize("text", ["", "12", "one two three"])
@pytest.mark.spec("M10")
def test_a_counter_that_cannot_be_understood_is_unknown_and_never_zero(tmp_path: Path, text: str) -> None:
    (tmp_path / "10").mkdir()
    (tmp_path / "10" / "schedstat").write_text(text)
    contention = process_contention(str(tmp_path))
    assert isinstance(contention, NoCounter)
    assert contention.waited_ns() is None
    assert str(tmp_path) in contention.missing[0]


@pytest.mark.spec("M10")
def test_threads_without_counters_make_the_wait_unknown(tmp_path: Path) -> None:
    (tmp_path / "10").mkdir()
    assert process_contention(str(tmp_path)).waited_ns() is None
