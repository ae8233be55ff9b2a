"""Dispatch counts: the compiled kernel won, degraded, or there was nothing to run."""

from assay.report import dispatch_document, dispatch_table
from assay.store import CountKey

COUNTS: dict[CountKey, int] = {
    ("cpu", "softmax", "no_candidate"): 2,
    ("cpu", "gemm", "won"): 40,
    ("cpu", "gemm", "degraded"): 1,
}


def test_a_row_has_every_outcome_of_an_op() -> None:
    assert dispatch_table(COUNTS).rows == (("cpu", "gemm", "40", "1", "0", "0"), ("cpu", "softmax", "0", "0", "2", "0"))


def test_without_calls_the_table_is_a_sentence() -> None:
    table = dispatch_table({})
    assert table.rows == ()
    assert table.when_empty == "no calls were counted in this environment yet"


def test_the_document_names_every_outcome() -> None:
    assert dispatch_document(COUNTS) == {
        "counts": [
            {"target": "cpu", "op": "gemm", "won": 40, "degraded": 1, "no_candidate": 0, "error": 0},
            {"target": "cpu", "op": "softmax", "won": 0, "degraded": 0, "no_candidate": 2, "error": 0},
        ]
    }
