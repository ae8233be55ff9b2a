"""A call from sizes alone: as a program gives them, and as they are typed on a command line."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.array import planned_view
from assay.errors import CallError
from assay.signature import Signature, check, describe, parse

GEMM = parse("forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])")
RMSNORM = parse(
    "forall B: Shape; N: Dim; T: DType[float32]. (mutated x: T[*B, N], w: T[N], eps: Float, k: Int = 1) -> (inv: T[*B])"
)


def refusal(signature: Signature, given: Mapping[str, object], **more: Any) -> str:  # noqa: ANN401 - describe's own options
    with pytest.raises(CallError) as refused:
        describe(signature, "op", given, **more)
    return str(refused.value)


def test_a_described_call_has_the_tensors_that_would_be_allocated() -> None:
    call = describe(GEMM, "gemm", {"M": 4, "N": 5, "K": 6, "T": "float64"})
    assert dict(call.views) == {
        "a": planned_view((4, 6), "float64"),
        "b": planned_view((6, 5), "float64"),
        "c": planned_view((4, 5), "float64"),
    }
    assert dict(call.record.indices) == {"M": 4, "N": 5, "K": 6, "T": "float64"}


@pytest.mark.parametrize(
    "given",
    [
        {"B": (2, 3), "N": 8, "T": "float32", "eps": 1e-5},
        {"B": [2, 3], "N": np.int64(8), "eps": np.float64(1e-5)},
        {"B": "2x3", "N": "8", "T": "float32", "eps": "1e-5", "k": "1"},
        {"B": "(2, 3)", "N": " 8 ", "T": np.float32, "eps": "1e-5"},
    ],
)
def test_the_same_shape_may_be_given_as_values_or_as_text(given: dict[str, object]) -> None:
    call = describe(RMSNORM, "rmsnorm", given)
    assert dict(call.record.indices) == {"B": (2, 3), "N": 8, "T": "float32"}
    assert dict(call.scalars) == {"eps": 1e-5, "k": 1}


def test_a_shape_of_no_sizes_can_be_given() -> None:
    written: list[object] = ["", "()", (), []]
    for none in written:
        assert describe(RMSNORM, "op", {"B": none, "N": 8, "eps": 1}).views["x"].shape == (8,)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"M": 4, "N": 5, "T": "float32"}, "op: shape lacks K (needs M, N, K, T)"),
        ({}, "op: shape lacks M, N, K, T (needs M, N, K, T)"),
        ({"M": 4, "N": 5, "K": 6, "T": "float32", "MM": 3}, "shape has MM, which the signature does not bind; did you"),
        ({"M": 4, "N": 5, "K": -6, "T": "float32"}, "K: expected a size (256), found -6"),
        ({"M": 4, "N": 5, "K": "six", "T": "float32"}, "K: expected a size (256), found 'six'"),
        ({"M": 4, "N": 5, "K": str(1 << 63), "T": "float32"}, f"K: expected a size (256), found '{1 << 63}'"),
        ({"M": 4, "N": 5, "K": "9" * 5000, "T": "float32"}, "K: expected a size (256), found '9999"),
        ({"M": 4, "N": 5, "K": 6.0, "T": "float32"}, "K: expected a size (256), found 6.0"),
        ({"M": 4, "N": 5, "K": True, "T": "float32"}, "K: expected a size (256), found true"),
        ({"M": 4, "N": 5, "K": 6, "T": "int8"}, "T: expected float32 | float64, found 'int8'"),
        ({"M": 4, "N": 5, "K": (6,), "T": "float32"}, "K: expected a size (256), found (6,)"),
    ],
)
@pytest.mark.spec("C2")
def test_a_shape_that_lacks_or_misnames_something_says_what(given: dict[str, object], said: str) -> None:
    assert said in refusal(GEMM, given)


def test_a_scalar_without_a_default_is_part_of_a_shape() -> None:
    assert refusal(RMSNORM, {"B": "2", "N": 8}) == "op: shape lacks eps (needs B, N, T, eps)"
    assert "eps: expected Float, found 'tiny'" in refusal(RMSNORM, {"B": "2", "N": 8, "eps": "tiny"})
    assert "B: expected sizes (2x3), found '2xN'" in refusal(RMSNORM, {"B": "2xN", "N": 8, "eps": 1})


OPTIONAL = parse(
    "forall N, G: Dim; params k: Int. (x: float32[N], w?: float32[G], flag: Bool = false) -> (y: float32[P]) "
    "let P = N + k where not present(w) or G == N"
)


def test_an_optional_input_is_left_out_unless_the_shape_includes_it() -> None:
    assert "w" not in describe(OPTIONAL, "op", {"N": 4}, params={"k": 2}).views
    assert describe(OPTIONAL, "op", {"N": 4, "w": "true", "G": 4}, params={"k": 2}).views["w"].shape == (4,)
    assert refusal(OPTIONAL, {"N": 4, "w": True}, params={"k": 2}) == "op: shape lacks G (needs N, G)"
    assert "true includes this optional input" in refusal(OPTIONAL, {"N": 4, "w": "x"}, params={"k": 2})


@pytest.mark.spec("C5")
def test_a_shape_no_call_may_have_is_refused() -> None:
    assert "expected not present(w) or G == N" in refusal(OPTIONAL, {"N": 4, "w": True, "G": 5}, params={"k": 2})


@pytest.mark.spec("A18")
def test_what_a_record_says_describes_the_same_call_and_a_contradiction_is_refused() -> None:
    call = check(OPTIONAL, "op", {"x": np.zeros(4, "float32")}, params={"k": 2})
    assert dict(call.record.indices) == {"N": 4, "P": 6}
    assert describe(OPTIONAL, "op", call.record.indices, params={"k": 2}).record.tensors == call.record.tensors
    assert "P is given as 6, and is 7 in this call" in refusal(OPTIONAL, call.record.indices, params={"k": 3})
    assert describe(OPTIONAL, "op", {"N": 4, "k": "2"}, params={"k": 2}).params["k"] == 2
    assert "k is given as 3, and is 2" in refusal(OPTIONAL, {"N": 4, "k": 3}, params={"k": 2})


def test_a_let_behind_an_axis_asks_for_what_it_reads() -> None:
    padded = parse("forall M, K: Dim. (x: float32[P], k: float32[K]) -> (y: float32[M]) let P = M + K")
    assert refusal(padded, {"K": 3}) == "op: shape lacks M (needs M, K)"
    assert describe(padded, "op", {"K": 3, "M": 4}).views["x"].shape == (7,)


def test_a_sequence_is_given_by_a_shape_and_is_in_no_record() -> None:
    ragged = parse(
        "forall lens: Seq[Int]; n, total: Dim. (x: float32[total], metadata at: int32[n]) -> (y: float32[n])"
    )
    call = describe(ragged, "op", {"lens": "3x4", "n": 2, "total": 7})
    assert dict(call.sequences) == {"lens": (3, 4)}
    assert "lens" not in call.record.indices
    assert "shape lacks lens" in refusal(ragged, {"n": 2, "total": 7})


def test_construction_time_tensors_are_planned_unless_they_are_given() -> None:
    lookup = parse("forall N, K: Dim; params table: float32[K]. (i: int32[N]) -> (y: float32[N])")
    assert describe(lookup, "op", {"N": 2, "K": 3}).views["table"] == planned_view((3,), "float32")
    table = np.zeros(3, "float32")
    assert describe(lookup, "op", {"N": 2, "K": 3}, params={"table": table}).views["table"].pointer == table.ctypes.data
    assert "K is given as 4, table is (3,)" in refusal(lookup, {"N": 2, "K": 4}, params={"table": table})


SIZES = st.integers(0, 9)


@settings(max_examples=100, deadline=None)
@given(st.lists(SIZES, max_size=3).map(tuple), SIZES)
@pytest.mark.spec("C1")
def test_what_is_described_checks_to_the_same_record(leading: tuple[int, ...], size: int) -> None:
    odd = parse("forall B: Shape; M: Dim. (x: float32[2*M+1, *B], w: float32[*B, M]) -> (y: float32[len(B), 3*M])")
    described = describe(odd, "op", {"B": leading, "M": size})
    arrays = {name: np.zeros(described.views[name].shape, "float32") for name in ("x", "w")}
    assert dict(check(odd, "op", arrays).record.indices) == {"B": leading, "M": size}
    assert described.views["y"].shape == (len(leading), 3 * size)
