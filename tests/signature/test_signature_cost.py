"""What a call costs: bytes from its traffic, operations from its formula."""

from dataclasses import replace

import pytest

from assay.array import ArrayView
from assay.errors import DeclarationError
from assay.signature import (
    Call,
    describe,
    flops,
    formula,
    parse,
    parse_expr,
    tensor_bytes,
    traffic_bytes,
    written_bytes,
)

GEMM = parse("forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])")


def gemm(**sizes: object) -> Call:
    return describe(GEMM, "gemm", {"M": 4, "N": 5, "K": 6, "T": "float32", **sizes})


@pytest.mark.spec("C46")
def test_flops_and_bytes_equal_hand_arithmetic() -> None:
    assert flops(parse_expr("2*M*N*K", "gemm flops"), gemm(), "gemm") == 240  # 2 * 4 * 5 * 6
    assert traffic_bytes(gemm()) == 4 * (4 * 6 + 6 * 5 + 4 * 5)
    assert written_bytes(gemm()) == 4 * (4 * 5)
    assert traffic_bytes(gemm(T="float64")) == 2 * traffic_bytes(gemm())


@pytest.mark.spec("C46")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("M*N*K / 2", "flops = M * N * K / 2 is 60.0, of type float"),
        ("2.0*M", "flops = 2.0 * M is 8.0, of type float"),
        ("M > 3", "flops = M > 3 is true, of type bool"),
        ("M - N", "flops = M - N is -1"),
        ("M // (N - 5)", "division by zero"),
        ("2*Q", "nothing is called 'Q'"),
        ("T", "flops = T is float32, of type str"),
    ],
)
def test_a_formula_that_is_no_whole_number_is_refused_by_the_name_of_its_entry(text: str, said: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        flops(parse_expr(text, "gemm flops"), gemm(), "gemm")
    assert str(refused.value).startswith("gemm: flops = ")
    assert said in str(refused.value)


@pytest.mark.spec("C46")
def test_another_entry_is_named_as_it_is_called() -> None:
    with pytest.raises(DeclarationError, match="gemm: bytes = M - N is -1"):
        formula(parse_expr("M - N", "gemm bytes"), gemm(), "gemm", "bytes")


@pytest.mark.spec("C46")
def test_a_formula_may_read_scalars_lets_and_presence() -> None:
    banded = parse("forall N: Dim. (x: float32[N], k: Int, w?: float32[N]) -> (y: float32[N]) let P = N * 2")
    call = describe(banded, "op", {"N": 8, "k": 3})
    assert (
        flops(parse_expr("P * k + (N if present(w) else 1) + N * ceil(log2(N))", "op"), call, "op") == 73
    )  # 48 + 1 + 24


@pytest.mark.spec("C46")
def test_packed_dtypes_count_their_bits() -> None:
    packed = ArrayView((3, 5), (5, 1), "int4", 1, "cpu", 0)
    assert tensor_bytes(packed) == 8  # 15 * 4 bits = 60 bits
    assert tensor_bytes(replace_dtype(packed, "int8")) == 15
    call = gemm()
    halved = replace(call, views={**call.views, "b": packed})
    assert traffic_bytes(halved) == 4 * (4 * 6) + 8 + 4 * (4 * 5)


def replace_dtype(view: ArrayView, dtype: str) -> ArrayView:
    return ArrayView(view.shape, view.strides, dtype, view.itemsize, view.device, view.pointer)
