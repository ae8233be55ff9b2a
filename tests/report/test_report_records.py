"""Records as a table and as a document that names their kind."""

import msgspec

from assay.report import records_document, records_table
from assay.store import Answer, AnswerKey, Chosen, KeptRecord, Ranked, Session, TableEntry, Trial, TuneRecord, Winner

KEY = AnswerKey(device="d", mode="performance", target="cpu", op="gemm", sizes=(("M", 256),), level="full")
RECORD = TuneRecord(
    entry=TableEntry(KEY, "sum"),
    winner=1,
    trials=(Trial("numpy", 0.5), Trial("tiled[MR=8]", 1.0)),
    wall=2.5,
    stored=True,
)
KEPT = KeptRecord("s1", 0, 3.0, "Changed", RECORD)
ANSWER = Answer(
    key=KEY,
    checksum="sum",
    winner=Winner("tiled", 1, {"MR": 8}),
    default=Chosen("numpy"),
    outcome="gain",
    ratio=0.5504,
    indices={"M": 250, "B": (2, 3), "T": "float32"},
    entrants=(Ranked("tiled", {"MR": 8}, "ranked", median_ns=1.0),),
)
SESSION = Session(id="s1", process=1, operating_system="Linux", architecture="x86_64", started="2026-01-01T00:00:00Z")


def test_a_row_says_the_shape_that_was_measured_its_outcome_and_the_winner_as_its_answer_does() -> None:
    (row,) = records_table([KEPT], [ANSWER], [SESSION]).rows
    assert row == (
        "2026-01-01 00:00",
        "gemm",
        "M=250, B=2x3, T=float32",
        "gain 0.550: tiled[MR=8]",
        "2",
        "2.5 s",
        "yes",
    )


def test_without_a_race_an_outcome_has_no_ratio() -> None:
    none = msgspec.structs.replace(ANSWER, outcome="no gain", ratio=None, winner=Winner("numpy", 0))
    (row,) = records_table([KEPT], [none], [SESSION]).rows
    assert row[3] == "no gain: numpy stays"


def test_a_record_whose_answer_is_gone_says_what_its_key_says_and_names_the_winner_by_its_place() -> None:
    other = msgspec.structs.replace(ANSWER, checksum="another list of kernels")
    for answers in ([], [other]):
        (row,) = records_table([KEPT], answers, []).rows
        assert row[:4] == ("s1", "gemm", "M=256 (performance)", "kernel 1")


def test_a_record_that_was_not_stored_says_why() -> None:
    lost = msgspec.structs.replace(RECORD, stored=False, reason="another writer was first", dry_run=True)
    (row,) = records_table([msgspec.structs.replace(KEPT, body=lost)], [ANSWER], [SESSION]).rows
    assert row[6] == "no: another writer was first, dry run"


def test_the_document_has_the_fields_of_a_record_beside_its_place() -> None:
    (record,) = msgspec.json.decode(msgspec.json.encode(records_document([KEPT])))["records"]
    assert (record["kind"], record["session"], record["sequence"], record["offset_s"]) == ("autotune", "s1", 0, 3.0)
    assert record["entry"]["checksum"] == "sum"
    assert record["entry"]["key"]["op"] == "gemm"
    assert [trial["name"] for trial in record["trials"]] == ["numpy", "tiled[MR=8]"]
    assert (record["winner"], record["short_circuit"], record["stored"]) == (1, None, True)
