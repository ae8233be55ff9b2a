"""How far from right is still right: gates, their defaults, and the cap on a candidate's own."""

import pytest

from assay.errors import DeclarationError
from assay.gate import Gate, Tolerance, candidate_gate, refuse_wider
from assay.signature import parse

GEMM = "forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])"
ARGMAX = "forall N: Dim. (a: float32[N]) -> (i: int32[])"
IN_PLACE = "forall N: Dim. (mutated x: float32[N]) -> (s: float32[])"
EPS32 = 2.0**-23
EPS64 = 2.0**-52


@pytest.mark.spec("A7")
@pytest.mark.parametrize(
    ("dtype", "rtol"),
    [
        ("float32", 16 * EPS32),
        ("float64", 16 * EPS64),
        ("complex64", 16 * EPS32),
        ("float16", 4 * 2.0**-10),
        ("bfloat16", 4 * 2.0**-7),
        ("float8_e4m3fn", 4 * 2.0**-3),
        ("int32", 0.0),
        ("bool", 0.0),
    ],
)
def test_the_default_is_sixteen_eps_four_below_four_bytes_and_exact_for_integers(dtype: str, rtol: float) -> None:
    found = Gate().tolerance("c", dtype)
    assert found.rtol == rtol
    assert found.scale == "magnitude"
    assert found.exact == (rtol == 0)


@pytest.mark.spec("A7")
def test_a_tolerance_is_given_by_output_before_dtype_before_default() -> None:
    gate = Gate(rtol={"c": 1e-3, "float32": 1e-4}, atol=1e-9, scale="reference")
    assert gate.tolerance("c", "float32") == Tolerance(1e-3, 1e-9, "reference")
    assert gate.tolerance("d", "float32") == Tolerance(1e-4, 1e-9, "reference")
    assert gate.tolerance("d", "float64") == Tolerance(16 * EPS64, 1e-9, "reference")


def test_a_number_leaves_integers_exact_and_a_name_loosens_them() -> None:
    assert Gate(rtol=1e-2, atol=1.0).tolerance("c", "int32").exact
    assert Gate(atol={"int32": 1}).tolerance("c", "int32") == Tolerance(0.0, 1, "magnitude")


def test_what_a_candidates_gate_leaves_open_is_the_ops() -> None:
    op = Gate(rtol={"c": 1e-3}, atol=1e-6, scale="reference")
    found = candidate_gate(op, Gate(rtol=1e-4))
    assert found.tolerance("c", "float32") == Tolerance(1e-4, 1e-6, "reference")
    assert candidate_gate(op, None) is op


def _refused(op: Gate, own: Gate, signature: str = GEMM) -> str:
    with pytest.raises(DeclarationError) as caught:
        refuse_wider(op, own, "gemm.tiled", parse(signature))
    return str(caught.value)


@pytest.mark.spec("A7")
def test_a_candidates_gate_is_taken_at_the_cap_and_refused_just_past_it() -> None:
    op = Gate(rtol={"float32": 2e-6})
    refuse_wider(op, Gate(rtol={"float32": 8e-6}), "gemm.tiled", parse(GEMM))
    wide = Gate(rtol={"float32": 8.1e-6})
    said = "gemm.tiled: gate rtol 8.1e-06 for c (float32) is wider than the op's cap 8e-06, its rtol 2e-06"
    assert said in _refused(op, wide)


@pytest.mark.spec("A7")
def test_a_huge_tolerance_for_one_dtype_or_output_does_not_hide_behind_the_others() -> None:
    assert "rtol 1 for c (float64)" in _refused(Gate(), Gate(rtol={"float32": 1e-7, "float64": 1.0}))
    assert "rtol 1 for c (float32)" in _refused(Gate(), Gate(rtol={"c": 1.0}))
    assert "atol 1e+03 for c" in _refused(Gate(), Gate(atol=1e3))
    assert "atol 1 for i (int32)" in _refused(Gate(), Gate(atol={"int32": 1}), ARGMAX)
    assert "rtol 1 for x (float32)" in _refused(Gate(), Gate(rtol={"x": 1.0}), IN_PLACE)


def test_only_the_dtypes_an_op_can_have_count() -> None:
    op = Gate(rtol={"c": 1e-3})
    refuse_wider(op, Gate(rtol=4e-3), "gemm.tiled", parse(GEMM))


def test_a_gate_that_names_neither_output_nor_dtype_is_refused() -> None:
    assert "gate names 'flaot32', expected a dtype or one of c" in _refused(Gate(), Gate(rtol={"flaot32": 1e-7}))


def test_the_ops_cap_replaces_four_times_its_tolerance() -> None:
    refuse_wider(Gate(rtol=1e-6, cap=1e-3), Gate(rtol=1e-3), "gemm.tiled", parse(GEMM))
    assert "the op's cap 1e-06" in _refused(Gate(rtol=1e-6, cap=1e-6), Gate(rtol=2e-6))


def test_magnitude_is_wider_than_reference() -> None:
    refuse_wider(Gate(scale="magnitude"), Gate(scale="reference"), "gemm.tiled", parse(GEMM))
    assert "magnitude" in _refused(Gate(scale="reference"), Gate(scale="magnitude"))


@pytest.mark.parametrize("bad", [-1e-6, float("nan"), float("inf"), True, {"float32": -1.0}])
def test_a_tolerance_that_is_no_finite_number_from_zero_up_is_refused(bad: float | dict[str, float]) -> None:
    with pytest.raises(DeclarationError, match="rtol"):
        Gate(rtol=bad)


def test_an_unknown_scale_is_refused_with_those_there_are() -> None:
    with pytest.raises(DeclarationError, match="magnitude, reference"):
        Gate(scale="absolute")  # pyright: ignore[reportArgumentType] (the mistake under test)
