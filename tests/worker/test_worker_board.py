"""The shared page and the judgement of it, on a clock moved by hand."""

import math
import os
import struct
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.testing.clock import FakeClock
from assay.worker.board import LABEL_BYTES, Board, Watch

MS = 1_000_000


@pytest.fixture
def boards() -> Iterator[tuple[Board, Board]]:
    """The two ends of one page."""
    descriptor = Board.create()
    writer, reader = Board(descriptor), Board(descriptor)
    os.close(descriptor)
    yield writer, reader
    writer.close()
    reader.close()


def test_what_one_end_notes_the_other_reads(boards: tuple[Board, Board]) -> None:
    writer, reader = boards
    writer.step("call tiled[MR=8]", 10.0)
    note = reader.read()
    assert (note.label, note.limit_s) == ("call tiled[MR=8]", 10.0)


def test_every_step_has_a_count_of_its_own_though_its_label_is_the_same(boards: tuple[Board, Board]) -> None:
    writer, reader = boards
    writer.step("call", 1.0)
    first = reader.read()
    writer.step("call", 1.0)
    second = reader.read()
    assert first.label == second.label
    assert first.count != second.count


def test_an_end_that_comes_later_goes_on_with_the_count() -> None:
    descriptor = Board.create()
    first = Board(descriptor)
    first.step("starting", 1.0)
    before = first.read().count
    second = Board(descriptor)
    second.step("loading", 1.0)
    assert first.read().count == before + 2
    os.close(descriptor)
    first.close()
    second.close()


@given(st.text(max_size=300))
def test_any_label_is_read_as_written_up_to_the_room_there_is(label: str) -> None:
    descriptor = Board.create()
    board = Board(descriptor)
    os.close(descriptor)
    board.step(label, 1.0)
    read = board.read().label
    board.close()
    written = label.encode("utf-8", "replace")
    if len(written) <= LABEL_BYTES:
        assert read == written.decode()
    else:
        assert read == written[:LABEL_BYTES].decode("utf-8", "replace")


def test_a_step_is_overdue_past_its_limit_and_not_before(boards: tuple[Board, Board]) -> None:
    writer, reader = boards
    clock = FakeClock()
    watch = Watch(reader, clock)
    writer.step("call", 10.0)
    assert watch.overdue() is None
    clock.advance(10_000 * MS)
    assert watch.overdue() is None, "exactly the limit is within it"
    clock.advance(1 * MS)
    late = watch.overdue()
    assert late is not None
    assert late.label == "call"


def test_a_new_step_has_its_whole_limit(boards: tuple[Board, Board]) -> None:
    writer, reader = boards
    clock = FakeClock()
    watch = Watch(reader, clock)
    writer.step("build", 60.0)
    assert watch.overdue() is None
    clock.advance(59_000 * MS)
    writer.step("call", 2.0)
    clock.advance(1_500 * MS)  # 60.5 s after the build began, unseen until now
    assert watch.overdue() is None
    clock.advance(1_900 * MS)
    assert watch.overdue() is None
    clock.advance(200 * MS)  # 2.1 s after the call was first seen
    assert watch.overdue() is not None


def test_a_step_without_a_limit_is_never_overdue(boards: tuple[Board, Board]) -> None:
    writer, reader = boards
    clock = FakeClock()
    watch = Watch(reader, clock)
    writer.step("wait", math.inf)
    assert watch.overdue() is None
    clock.advance(1_000_000_000_000 * MS)
    assert watch.overdue() is None


def test_a_note_being_written_is_not_judged() -> None:
    """A writer held up half-way: the old step's time must not meet the new step's limit."""
    descriptor = Board.create()
    writer, reader = Board(descriptor), Board(descriptor)
    clock = FakeClock()
    watch = Watch(reader, clock)
    writer.step("build", 60.0)
    assert watch.overdue() is None
    clock.advance(30_000 * MS)
    whole = os.pread(descriptor, 16, 0)  # count and limit
    count = int.from_bytes(whole[:8], sys.byteorder)
    os.pwrite(descriptor, struct.pack("=Qd", count + 1, 0.5), 0)
    assert reader.read().limit_s == 0.5, "the new limit is there already"
    assert watch.overdue() is None
    os.pwrite(descriptor, struct.pack("=Qd", count, 0.5), 0)
    assert watch.overdue() is None, "seen anew"
    clock.advance(600 * MS)
    assert watch.overdue() is not None, "the same limit under a whole note is judged"
    os.close(descriptor)
    writer.close()
    reader.close()
