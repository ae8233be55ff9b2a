import sqlite3
import stat
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import DeclarationError
from assay.store import Environment, KeptFigure, KeptVerdict, SqliteStorage, Winner, row_id
from assay.testing.store import CountingStore, sample_answer, sample_key, sample_record, sample_session


class Figure(msgspec.Struct, frozen=True):
    t_ns: float
    rounds_ns: tuple[float, ...] = ()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "lab.db"


def counting(path: Path) -> tuple[CountingStore, Environment]:
    store = CountingStore(SqliteStorage(path))
    return store, Environment(store)


@pytest.mark.spec("R1")
def test_an_answer_reads_back_in_another_process_s_memory_field_for_field(path: Path) -> None:
    answer = sample_answer()
    with Environment(path) as writer:
        assert writer.commit([answer]).stored
    with Environment(path) as reader:
        assert reader.answer(answer.key, answer.checksum) == answer
        assert reader.answers() == [answer]


@pytest.mark.spec("R11")
def test_warm_hits_and_a_thousand_warm_misses_read_storage_zero_times(path: Path) -> None:
    answer = sample_answer()
    with Environment(path) as writer:
        writer.commit([answer])
    store, environment = counting(path)
    assert environment.answer(answer.key, answer.checksum) == answer
    assert environment.answer(answer.key, "another list") is None
    assert store.touched > 0, "the first questions do read"
    before = store.touched
    for size in range(1000):
        assert environment.answer(answer.key, answer.checksum) == answer
        assert environment.answer(sample_key(2**20 + size, op="other"), answer.checksum) is None
    assert store.touched == before
    environment.close()


@pytest.mark.spec("R6")
@given(st.permutations(["list-1", "list-2", "list-3"]))
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_row_of_the_matching_checksum_is_found_in_whatever_order_they_lie(
    tmp_path_factory: pytest.TempPathFactory, order: list[str]
) -> None:
    path = tmp_path_factory.mktemp("lists") / "lab.db"
    tiles = {"list-1": 16, "list-2": 64, "list-3": 128}
    with Environment(path) as writer:
        for checksum in order:
            writer.commit([sample_answer(tile=tiles[checksum], checksum=checksum)])
    with Environment(path) as reader:
        assert [each.checksum for each in reader.answers()] == order
        for checksum, tile in tiles.items():
            found = reader.answer(sample_key(), checksum)
            assert found is not None
            assert found.winner.setting == {"tile": tile}


@pytest.mark.spec("R6", "R5")
def test_a_changed_candidate_list_is_a_miss_and_leaves_the_old_row_readable(path: Path) -> None:
    with Environment(path) as environment:
        old, new = sample_answer(checksum="old"), sample_answer(tile=16, checksum="new")
        environment.commit([old])
        assert environment.answer(new.key, "new") is None
        environment.commit([new])
        assert environment.answer(old.key, "old") == old
        assert environment.answers() == [old, new]


@pytest.mark.spec("R2")
def test_a_row_written_at_one_level_is_not_read_at_another(path: Path) -> None:
    answer = sample_answer(sample_key(256))
    with Environment(path) as environment:
        environment.commit([answer])
        exact = msgspec.structs.replace(answer.key, level="full")
        assert exact.sizes == answer.key.sizes
        assert environment.answer(exact, answer.checksum) is None


@pytest.mark.spec("R9")
def test_a_row_lacking_the_optional_fields_still_reads(path: Path) -> None:
    answer = sample_answer()
    with Environment(path) as environment:
        environment.commit([answer])
    old = (
        f'{{"key":{answer.key},"checksum":"list-1","winner":{{"kernel":"blocked","index":1,"setting":{{"tile":32}}}},'
        '"default":{"kernel":"blocked","setting":{"tile":32}},"outcome":"no gain"}'
    )
    edit(path, old)
    with Environment(path) as environment:
        found = environment.answer(answer.key, answer.checksum)
        assert found is not None
        assert (found.winner, found.ratio, found.session, found.entrants) == (
            Winner("blocked", 1, {"tile": 32}),
            None,
            "",
            (),
        )
        assert environment.trouble == []


@pytest.mark.spec("R9", "R10")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"outcome":"gain"', ""),
        ('"median_ns":80.0', '"median_ns":0.0'),
        ('"median_ns":80.0', '"median_ns":-80.0'),
        ('"median_ns":80.0', '"median_ns":null'),
        ('"median_ns":80.0', '"median_ns":NaN'),
        ('"index":1', '"index":"1"'),
    ],
)
def test_a_row_that_cannot_be_read_is_a_reported_miss_and_the_next_write_replaces_it(
    path: Path, old: str, new: str
) -> None:
    answer = sample_answer()
    row = row_id(answer.key, answer.checksum)
    with Environment(path) as environment:
        environment.commit([answer])
    text = msgspec.json.encode(answer).decode()
    assert old in text
    edit(path, text.replace(old, new))
    store, environment = counting(path)
    assert environment.answer(answer.key, answer.checksum) is None
    assert len(environment.trouble) == 1
    assert row in environment.trouble[0]
    before = store.touched
    assert environment.answer(answer.key, answer.checksum) is None
    assert store.touched == before
    assert environment.commit([answer]).stored
    environment.close()
    with Environment(path) as environment:
        assert environment.answer(answer.key, answer.checksum) == answer


@pytest.mark.spec("R29", "R20")
def test_the_first_writer_wins_and_the_loser_is_told_and_answers_with_its_own(path: Path) -> None:
    first, second = sample_answer(tile=64), sample_answer(tile=16)
    with Environment(path) as one, Environment(path) as other:
        other.begin(sample_session())
        assert one.commit([first]).stored
        lost = other.commit([second], (), sample_record(second))
        assert not lost.stored
        assert lost.kept == (first,)
        assert lost.record is not None
        assert (lost.record.stored, lost.record.first) == (False, first.winner)
        assert lost.record.reason == "another writer was first"
        assert other.answer(second.key, second.checksum) == second
        assert other.answer(second.key, second.checksum, fresh=True) == first
        assert other.answer(second.key, second.checksum) == second
        assert one.answers() == [first]


@pytest.mark.spec("R19")
def test_remeasuring_replaces_the_row(path: Path) -> None:
    first, again = sample_answer(tile=64), sample_answer(tile=16)
    with Environment(path) as environment:
        environment.begin(sample_session())
        environment.commit([first])
        committed = environment.commit([again], (), sample_record(again), replace=True)
        assert committed.stored
        assert [each.effect for each in environment.records()] == ["Changed"]
        assert environment.answers() == [again]


def test_a_fresh_look_sees_what_another_process_wrote_meanwhile(path: Path) -> None:
    answer = sample_answer()
    with Environment(path) as one, Environment(path) as other:
        assert one.answer(answer.key, answer.checksum) is None
        other.commit([answer])
        assert one.answer(answer.key, answer.checksum) is None
        assert one.answer(answer.key, answer.checksum, fresh=True) == answer
        assert one.answer(answer.key, answer.checksum) == answer


def test_figures_are_kept_with_the_answer_and_read_as_their_type(path: Path) -> None:
    figure = Figure(80.0, (79.0, 81.0))
    with Environment(path) as environment:
        assert environment.figure("figure-1", Figure) is None
        environment.commit([sample_answer()], [KeptFigure("figure-1", figure)])
    with Environment(path) as environment:
        assert environment.figure("figure-1", Figure) == figure
        assert environment.figure("figure-2", Figure) is None


def test_figures_can_be_kept_before_there_is_an_answer(path: Path) -> None:
    with Environment(path) as environment:
        committed = environment.commit([], [KeptFigure("figure-1", Figure(80.0))])
        assert (committed.stored, committed.kept, committed.record) == (False, (), None)
        assert environment.figure("figure-1", Figure) == Figure(80.0)


def test_what_would_not_read_back_is_refused_before_anything_is_written(path: Path) -> None:
    store, environment = counting(path)
    with pytest.raises(DeclarationError, match="cannot be kept"):
        environment.commit([sample_answer()], [KeptFigure("figure-1", Figure(float("nan")))])
    assert store.touched == 0
    assert environment.answer(sample_key(), "list-1") is None
    environment.close()


@pytest.mark.spec("A10")
def test_a_verdict_is_kept_by_build_and_region_and_read_once(path: Path) -> None:
    passed = KeptVerdict("build-1", "gemm float32", passed=True)
    refused = KeptVerdict("build-1", "gemm float64", passed=False, reason="out[0] is nan")
    with Environment(path) as environment:
        assert environment.verdict("build-1", "gemm float32") is None
        assert environment.keep_verdict(passed)
        assert environment.keep_verdict(refused)
        assert environment.verdict("build-1", "gemm float32") == passed
    store, environment = counting(path)
    assert environment.verdict("build-1", "gemm float32") == passed
    assert environment.verdict("build-1", "gemm float64") == refused
    before = store.touched
    for _ in range(100):
        assert environment.verdict("build-1", "gemm float32") == passed
        assert environment.verdict("build-2", "gemm float32") is None
    assert store.touched == before
    environment.close()


@pytest.mark.spec("A26")
def test_dispatch_counts_sum_over_processes_even_where_nothing_changed(path: Path) -> None:
    with Environment(path) as one, Environment(path) as other:
        one.add_counts({("cpu", "gemm", "won"): 3, ("cpu", "gemm", "degraded"): 1})
        other.add_counts({("cpu", "gemm", "won"): 4, ("cpu", "softmax", "error"): 2})
        assert one.counts() == other.counts()
        assert one.counts() == {
            ("cpu", "gemm", "won"): 7,
            ("cpu", "gemm", "degraded"): 1,
            ("cpu", "softmax", "error"): 2,
        }
        assert one.sessions() == []


@pytest.mark.spec("X31")
def test_the_file_and_its_folder_are_made_for_their_owner(path: Path) -> None:
    with Environment(path) as environment:
        environment.commit([sample_answer()])
        beside = sorted(path.parent.iterdir())
        assert path in beside
        assert {stat.S_IMODE(each.stat().st_mode) for each in beside} == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_asking_makes_no_file(path: Path) -> None:
    with Environment(path) as environment:
        assert environment.answer(sample_key(), "list-1") is None
        assert environment.answers() == environment.records() == environment.sessions() == []
        assert environment.counts() == {}
    assert not path.parent.exists()


def edit(path: Path, text: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute("UPDATE answers SET text = ?", (text,)).rowcount == 1
    connection.close()
