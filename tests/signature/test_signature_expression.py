"""The expression language: what it reads, what it is worth, what it refuses, and that it prints and reads back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.array import ArrayView
from assay.errors import DeclarationError
from assay.signature import Expr, Facts, feature_value, parse_expr
from assay.signature.nodes import (
    ATTRIBUTES,
    Attribute,
    Binary,
    Comparison,
    Conditional,
    Constant,
    Dtype,
    Function,
    Length,
    Member,
    Name,
    Node,
    Present,
    Unary,
)

TRANSPOSED = ArrayView((3, 5), (1, 3), "float32", 4, "cpu", 0x1000 + 32)
FACTS = Facts(
    values={"M": 24, "N": 7, "T": "float32", "B": (2, 3), "fast": True, "mode": "causal", "tile": 16},
    tensors={"a": TRANSPOSED},
    device={"cores": 8},
)


def value(text: str) -> object:
    return parse_expr(text, "test").evaluate(FACTS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*M*N", 336),
        ("M + N * 2", 38),
        ("(M + N) * 2", 62),
        ("M / 16", 1.5),
        ("M // 16", 1),
        ("-M // 16", -2),
        ("-7 % 4", 1),
        ("2 ** 3 ** 2", 512),
        ("-2 ** 2", -4),
        ("2 ** -1", 0.5),
        ("M - N - 1", 16),
        ("min(M, N, 9) + max(M, N) + abs(-3)", 34),
        ("ceil(M / 16) + floor(M / 16)", 3),
        ("log2(1024)", 10.0),
        ("len(B)", 2),
        ("8 if M >= 64 else 4", 4),
        ("1 if M == 0 else 2 if M == 24 else 3", 2),
        ("0 < N <= 7 < M", True),
        ("0 < N < 7", False),
        ("M in (8, 24) and N not in (8, 24)", True),
        ("N in (8,)", False),
        ("T == float32", True),
        ("T in (float64, bfloat16)", False),
        ("mode == 'causal'", True),
        ("not fast or M % tile == 8", True),
        ("not (fast and true)", False),
        ("a.contiguous", False),
        ("a.stride[0] == 1 and a.stride[-1] == 3", True),
        ("a.shape[1] * a.ndim", 10),
        ("a.align", 32),
        ("device.cores // 2", 4),
        ("present(a) and not present(b)", True),
    ],
)
def test_an_expression_is_worth_what_hand_arithmetic_says(text: str, expected: object) -> None:
    seen = value(text)
    assert seen == expected
    assert type(seen) is type(expected)


def test_only_the_branch_that_is_taken_is_computed() -> None:
    with pytest.raises(DeclarationError, match="division by zero"):
        value("M // (N - 7)")
    assert value("0 if N == 7 else M // (N - 7)") == 0
    assert value("N == 7 or M // (N - 7) > 3") is True


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("K + 1", "nothing is called 'K'"),
        ("M // (N - 7)", "division by zero with M is 24, N is 7"),
        ("log2(N - 7)", "log2"),
        ("T + 1", "'float32' is not a number"),
        ("T < 3", "'float32' is not a number"),
        ("mode and fast", "'causal' is not a number"),
        ("9 ** 9 ** 9", "longer than 4096 bits"),
        ("(0 - N) ** 0.5", "not a real number"),
        ("2.0 ** 5000", "Numerical result out of range"),
        ("a + 1", "a is a tensor"),
        ("b.contiguous", "no tensor 'b' in this call"),
        ("a.stride[2]", "a has 2 axes"),
        ("device.l1_bytes", "the device has no fact 'l1_bytes'; it has cores"),
        ("len(M)", "M is 24, and has no length"),
    ],
)
def test_an_expression_without_a_value_says_why(text: str, said: str) -> None:
    expression = parse_expr(text, "test")
    with pytest.raises(DeclarationError) as refused:
        expression.evaluate(FACTS)
    assert said in str(refused.value)
    assert str(expression) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1, column 1: expected an expression"),
        ("M +", "column 4"),
        ("M N", "column 3: expected an operator"),
        ("M\n  $ 2", "line 2, column 3"),
        ("M and and N", "column 7: expected an expression"),
        ("foo(3)", "no function is called 'foo'"),
        ("celi(3)", "did you mean 'ceil'"),
        ("min(3)", "expected two or more arguments, found 1"),
        ("abs(3, 4)", "expected one argument, found 2"),
        ("present(3)", "expected one name"),
        ("a.stride", "expected an axis: a.stride[0]"),
        ("a.contiguous[0]", "expected no position"),
        ("a.contigous", "did you mean 'contiguous'"),
        ("1e999", "expected a float of 64 bits"),
        ("99999999999999999999", "at most 64 bits"),
        ("__import__('os')", "no function is called '__import__'"),
        ("-" * 200 + "1", "nested at most 100 deep"),
    ],
)
def test_a_text_that_is_no_expression_says_where_and_what_was_expected(text: str, said: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        parse_expr(text, "gemm flops")
    assert said in str(refused.value)
    assert str(refused.value).startswith("gemm flops: ")


@pytest.mark.spec("C27")
def test_an_expression_says_all_it_reads_before_it_is_evaluated() -> None:
    serves = parse_expr(
        "M % tile == 0 and T == float32 and a.contiguous and a.stride[-1] == 1 and present(b) "
        "and device.cores > len(B)",
        "test",
    )
    assert serves.names == {"M", "tile", "T", "B"}
    assert serves.features == {"a.contiguous", "a.stride[-1]", "device.cores"}
    assert serves.tensors == {"a"}
    assert serves.presences == {"b"}


@pytest.mark.parametrize(
    ("feature", "expected"),
    [("a.contiguous", False), ("a.stride[0]", 1), ("a.stride[-1]", 3), ("a.align", 32), ("device.cores", 8)],
)
def test_a_feature_is_worth_what_its_expression_is(feature: str, expected: object) -> None:
    assert feature_value(feature, FACTS) == expected == value(feature)


def test_a_text_that_is_no_feature_is_refused() -> None:
    with pytest.raises(DeclarationError, match="expected a feature"):
        feature_value("a.stride[M]", FACTS)


def test_a_condition_that_is_a_number_is_refused_rather_than_taken_for_true() -> None:
    forgotten = parse_expr("M % 16", "test")
    assert forgotten.evaluate(FACTS) == 8
    with pytest.raises(DeclarationError, match=r"M % 16: expected true or false, it is 8"):
        forgotten.holds(FACTS)


def test_a_reading_names_each_value_once() -> None:
    serves = parse_expr("M % 16 == 0 and M > 2 and a.contiguous and b.contiguous and K", "test")
    assert serves.reading(FACTS) == "M is 24, a.contiguous is false, b.contiguous is unknown"


def test_constants_of_different_types_are_different_expressions() -> None:
    assert len({parse_expr(text, "test") for text in ("1", "1.0", "true", "True", '"1"', "'1'")}) == 4


NAMES = st.sampled_from(["M", "N", "tile", "forall", "let", "mutated", "Dim", "letter", "android", "not_one"])
LEAVES = st.one_of(
    st.builds(Constant, st.integers(0, 1 << 62)),
    st.builds(Constant, st.floats(0, allow_infinity=False)),
    st.builds(Constant, st.booleans()),
    st.builds(Constant, st.sampled_from(["", "causal", "it's", 'say "so"', "a b"])),
    st.builds(Name, NAMES),
    st.builds(Dtype, st.sampled_from(["float32", "bool", "float8_e5m2", "int4"])),
    st.builds(Present, NAMES),
    st.builds(Length, NAMES),
    st.builds(Attribute, st.just("device"), NAMES),
    st.builds(Attribute, NAMES, st.sampled_from([name for name, takes in ATTRIBUTES.items() if not takes])),
    st.builds(Attribute, NAMES, st.sampled_from(["stride", "shape"]), st.integers(-3, 3)),
)


def branches(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    signs = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Unary, st.sampled_from(["-", "not"]), parts),
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "and", "or"]), parts, parts),
        st.builds(Comparison, parts, st.lists(st.tuples(signs, parts), min_size=1, max_size=2).map(tuple)),
        st.builds(Member, parts, several, st.booleans()),
        st.builds(Conditional, parts, parts, parts),
        st.builds(Function, st.sampled_from(["abs", "ceil", "floor", "log2"]), st.tuples(parts)),
        st.builds(Function, st.sampled_from(["min", "max"]), st.tuples(parts, parts)),
    )


EXPRESSIONS = st.recursive(LEAVES, branches, max_leaves=12).map(Expr)


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS)
def test_any_expression_prints_and_parses_again_equal(expression: Expr) -> None:
    assert parse_expr(str(expression), "test") == expression


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="MN12.()[],+-*/%<>=! \"'andorifelse$\n", max_size=25))
def test_any_text_is_an_expression_or_one_kind_of_error(text: str) -> None:
    try:
        expression = parse_expr(text, "test")
    except DeclarationError:
        return
    assert parse_expr(str(expression), "test") == expression
