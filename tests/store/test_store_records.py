import os
from pathlib import Path

import msgspec
import pytest

from assay.errors import StoreError
from assay.store import Environment, KeptRecord, SqliteStorage, TuneRecord
from assay.store.log import SessionLog
from assay.testing.store import CountingStore, sample_answer, sample_key, sample_record, sample_session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


@pytest.mark.spec("R16")
def test_a_record_joins_its_answer_s_row_by_table_key_and_checksum(path: Path) -> None:
    answers = [sample_answer(sample_key(size), checksum=checksum) for size in (64, 128) for checksum in ("a", "b")]
    with Environment(path) as environment:
        environment.begin(sample_session())
        for answer in answers:
            environment.commit([answer], (), sample_record(answer))
    with Environment(path, read_only=True) as environment:
        rows = {(each.key, each.checksum): each for each in environment.answers()}
        joined = [rows[each.body.entry.key, each.body.entry.checksum] for each in environment.records("autotune")]
        assert joined == answers
        assert {each.body.table for each in environment.records()} == {"answers"}
        assert environment.records("another kind") == []


@pytest.mark.spec("R18")
def test_the_short_circuit_and_the_winner_may_differ(path: Path) -> None:
    answer = sample_answer()
    record = msgspec.structs.replace(sample_record(answer), short_circuit="blocked[tile=32]")
    with Environment(path) as environment:
        environment.begin(sample_session())
        environment.commit([answer], (), record)
        (kept,) = environment.records()
        assert (kept.body.short_circuit, kept.body.winner) == ("blocked[tile=32]", 1)
        assert answer.winner.setting == {"tile": 64}


@pytest.mark.spec("R17")
def test_a_record_says_when_walls_may_overlap(path: Path) -> None:
    answer = sample_answer()
    side_by_side = msgspec.structs.replace(sample_record(answer), overlapping=True)
    with Environment(path) as environment:
        environment.begin(sample_session())
        environment.commit([answer], (), side_by_side)
        (kept,) = environment.records()
        assert kept.body.overlapping
        assert all(trial.wall > 0 for trial in kept.body.trials)


@pytest.mark.spec("R19")
def test_a_stored_answer_s_record_is_stored_and_changed(path: Path) -> None:
    answer = sample_answer()
    with Environment(path) as environment:
        environment.begin(sample_session())
        committed = environment.commit([answer], (), sample_record(answer), offset_s=2.5)
        (kept,) = environment.records()
        assert kept.body == committed.record
        assert (kept.body.stored, kept.effect, kept.offset_s) == (True, "Changed", 2.5)


@pytest.mark.spec("R19", "R26")
def test_the_first_change_writes_the_session_and_the_observed_records_before_it_in_order(path: Path) -> None:
    unmeasured, first, lost, own = (sample_answer(sample_key(size)) for size in (8, 16, 32, 64))
    theirs = sample_answer(lost.key, tile=16)
    session = sample_session("evening")
    with Environment(path) as environment, Environment(path) as neighbour:
        neighbour.commit([theirs])
        environment.begin(session)
        assert environment.commit([], (), sample_record(unmeasured)).reason == "nothing was measured"
        assert environment.commit([lost], (), sample_record(lost)).reason == "another writer was first"
        assert environment.records() == environment.sessions() == [], "nothing changed yet"
        environment.commit([own], (), sample_record(own))
        assert environment.sessions() == [session]
        kept = environment.records()
        assert [each.effect for each in kept] == ["Observed", "Observed", "Changed"]
        assert [each.body.stored for each in kept] == [False, False, True]
        assert [each.body.entry.key for each in kept] == [unmeasured.key, lost.key, own.key]
        environment.commit([first], (), sample_record(first))
        assert len(environment.records()) == 4, "what was written is not written again"
        assert environment.sessions() == [session]


@pytest.mark.spec("R26")
def test_a_session_that_changed_nothing_leaves_no_file(path: Path) -> None:
    with Environment(path) as environment:
        environment.begin(sample_session())
        environment.commit([], (), sample_record(sample_answer()))
        assert environment.records() == []


@pytest.mark.spec("R26")
def test_the_oldest_observed_records_leave_a_full_buffer(path: Path) -> None:
    storage = SqliteStorage(path)
    log = SessionLog(sample_session(), buffered=2)
    for size in (8, 16, 32):
        log.observe(sample_record(sample_answer(sample_key(size))), 0.0)
    with storage.transaction() as transaction:
        log.change(transaction, sample_record(sample_answer(sample_key(64))), 0.0)
    kept = [msgspec.json.decode(text, type=KeptRecord) for _, text in storage.scan("records")]
    assert [each.body.entry.key for each in kept] == [sample_key(size) for size in (16, 32, 64)]
    storage.close()


@pytest.mark.spec("R25")
def test_records_carry_their_session_and_a_sequence_number_of_their_own(path: Path) -> None:
    one, other = sample_session("one"), sample_session("other")
    with Environment(path) as environment, Environment(path) as neighbour:
        environment.begin(one)
        neighbour.begin(other)
        for size in (8, 16, 32):
            for where, checksum in ((environment, "a"), (neighbour, "b")):
                answer = sample_answer(sample_key(size), checksum=checksum)
                where.commit([answer], (), sample_record(answer))
        kept = environment.records()
        assert environment.sessions() == [one, other]
    for session in (one, other):
        assert [each.sequence for each in kept if each.session == session.id] == [0, 1, 2]
    assert one.id != other.id


@pytest.mark.spec("R25")
def test_a_session_says_which_process_it_is_and_on_what() -> None:
    session = sample_session("evening")
    assert session.process == os.getpid()
    assert session.label == "evening"
    assert session.device == "sample-device"
    assert session.operating_system
    assert session.architecture
    assert "python" in session.versions


@pytest.mark.spec("R21")
def test_the_answer_is_the_same_with_records_off(path: Path) -> None:
    answer = sample_answer()
    with Environment(path) as environment:
        assert environment.commit([answer]).record is None
        assert environment.answer(answer.key, answer.checksum) == answer
        assert environment.records() == environment.sessions() == []


def test_a_record_without_a_session_is_refused(path: Path) -> None:
    answer = sample_answer()
    with Environment(path) as environment, pytest.raises(StoreError, match="no session in this process"):
        environment.commit([answer], (), sample_record(answer))


@pytest.mark.spec("R19")
def test_a_record_of_an_answer_that_storage_refused_says_so_and_waits_for_the_next_change(path: Path) -> None:
    store = CountingStore(SqliteStorage(path))
    refused, taken = sample_answer(sample_key(8)), sample_answer(sample_key(16))
    with Environment(store) as environment:
        environment.begin(sample_session())
        store.failure = "cannot grow, the disk is full"
        committed = environment.commit([refused], (), sample_record(refused))
        assert committed.record is not None
        assert not committed.record.stored
        assert "disk is full" in committed.record.reason
        store.failure = None
        environment.commit([taken], (), sample_record(taken))
        assert [(each.effect, each.body.stored) for each in environment.records()] == [
            ("Observed", False),
            ("Changed", True),
        ]


def test_the_record_s_fields_are_those_of_the_chapter() -> None:
    chapter = {"table", "entry", "winner", "trials", "short_circuit", "wall", "dry_run", "stored"}
    assert chapter <= set(TuneRecord.__struct_fields__)
    assert sample_record(sample_answer()).kind == "autotune"
