"""Signature text: all of the grammar is read, prints, and reads again equal; what is wrong says where."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import SignatureError
from assay.signature import (
    Expr,
    Index,
    Out,
    Param,
    ScalarArg,
    ScalarType,
    Signature,
    TensorArg,
    TensorType,
    parse,
)
from assay.signature.nodes import Binary, Comparison, Constant, Dtype, Function, Length, Name, Node, Present, Unary
from assay.signature.terms import Case, Let, Rest, Size

GEMM = "forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])"


def test_the_parts_of_a_signature_are_told_apart() -> None:
    gemm = parse(GEMM)
    assert gemm.dim_names == ("M", "N", "K")
    assert gemm.dtype_names == ("T",)
    assert gemm.index("T").dtypes == ("float32", "float64")
    assert gemm.input_names == ("a", "b")
    assert gemm.output_names == ("c",)
    assert gemm.tensor_names == ("a", "b", "c")
    assert str(gemm) == GEMM


EVERYTHING = """
forall B : Shape ; M,N: Dim; T, U: DType[float32|bfloat16]; lens: Seq[Int];
       params trans : Bool = false, eps: Float = 1e-5, k: Int = -4, mode: Enum["causal", 'full'] = "full",
              acc: DType = float32, table: T[M], scale: Float.
( x: T[*B, M] , mutated state: U[2*M + 1] if trans else U[M, min(M, N)//2 % 3] if mode == "causal" and M > 3 else U[]
, metadata host offsets? : int32[len(B)+1], write_only log: float8_e4m3fn[k + 5], w: acc[N], flag?: Bool, p: Float = 2 )
 -> ( y: T[*B, P] if not present(offsets) else T[P], z: acc[M] alias log )
 let P = M * N, Q = P / 2 if trans else 0.5
where N % 8 == 0, T == float32 or T in (bfloat16,), not (present(offsets) and trans)
"""


@pytest.mark.spec("C6")
def test_every_form_of_the_grammar_prints_and_parses_again_equal() -> None:
    signature = parse(EVERYTHING)
    assert parse(str(signature)) == signature
    assert str(parse(str(signature))) == str(signature)
    state = signature.tensor_args[1]
    assert [str(case.tensor) for case in state.form] == ["U[2*M+1]", "U[M, min(M,N)//2%3]", "U[]"]
    assert (state.mutated, state.optional) == (True, False)
    offsets = signature.tensor_args[2]
    assert (offsets.metadata, offsets.host, offsets.optional) == (True, True, True)
    assert signature.outs[1].alias == "log"
    assert [param.default for param in signature.params] == [False, 1e-5, -4, "full", "float32", None, None]
    assert [arg.name for arg in signature.scalar_args] == ["flag", "p"]
    assert repr(signature.scalar_args[1].default) == "2.0"
    assert signature.sequence_names == ("lens",)
    assert signature.shape_names == ("B",)


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("", 1, 1, "expected '(' or 'forall', found the end"),
        ("forall M: Dim (a: int8[M]) -> (b: int8[M])", 1, 15, "expected '.' or ';', found '('"),
        ("forall M: Dimm. (a: int8[M]) -> (b: int8[M])", 1, 11, "expected 'DType' or 'Dim' or 'Seq' or 'Shape'"),
        ("forall M: Dim.\n (a: int8[M) -> (b: int8[M])", 2, 12, "expected ',' or ']', found ')'"),
        ("forall M: Dim.\n (a: int8[M,) -> (b: int8[M])", 2, 13, "an expression"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M", 1, 42, "found the end"),
        ("forall M: Dim. (a int8[M]) -> (b: int8[M])", 1, 19, "expected ':' or '?', found 'int8'"),
        ("forall M: Dim. (a: int8[M]) -> ()", 1, 33, "expected a name, found ')'"),
        ("forall M: Dim. (a: int8[M]) (b: int8[M])", 1, 29, "expected '->'"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M]) where M $ 3", 1, 53, "found '$'"),
        ("forall M: Dim. (if: int8[M]) -> (b: int8[M])", 1, 17, "a name, found 'if'"),
        ("forall M: Dim. (mutated mutated a: int8[M]) -> (b: int8[M])", 1, 25, "a: mutated is said twice"),
        ("forall M: Dim. (a: int8[M], host e: Int) -> (b: int8[M])", 1, 29, "e is a scalar"),
        ("forall M: Dim. (a: int8[M], e: Int = 2.5) -> (b: int8[M])", 1, 38, "expected a default of type Int"),
        ("forall M: Dim. (a: int8[M], e: Bool = 1) -> (b: int8[M])", 1, 39, "expected a default of type Bool"),
        ('forall M: Dim. (a: int8[M], e: Enum["x"] = "y") -> (b: int8[M])', 1, 44, 'of type Enum["x"]'),
        ('forall M: Dim. (a: int8[M], e: Enum["x", "x"]) -> (b: int8[M])', 1, 42, "'x' is listed twice"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M]) where fit(M) == 3", 1, 51, "no function is called 'fit'"),
    ],
)
@pytest.mark.spec("C6")
def test_a_text_that_cannot_be_parsed_says_line_column_and_what_was_expected(
    text: str, line: int, column: int, expected: str
) -> None:
    with pytest.raises(SignatureError) as refused:
        parse(text)
    assert f"line {line}, column {column}: " in str(refused.value)
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("forall M, M: Dim. (a: int8[M]) -> (b: int8[M])", "M is declared twice"),
        ("forall M: Dim. (a: int8[M], M: Int) -> (b: int8[M])", "M is declared twice"),
        ("forall M: Dim. (a: int8[M]) -> (a: int8[M])", "a is declared twice"),
        ("forall float32: Dim. (a: int8[3]) -> (b: int8[3])", "float32 is a dtype"),
        ("forall M: Dim. (out: int8[M]) -> (b: int8[M])", "out cannot be declared"),
        ("forall M: Dim. (lambda: int8[M]) -> (b: int8[M])", "lambda is a word of Python"),
        ("forall M: Dim; T: DType[float31]. (a: T[M]) -> (b: T[M])", "did you mean 'float32'"),
        ("forall M: Dim; T: DType[int8 | int8]. (a: T[M]) -> (b: T[M])", "int8 is listed twice"),
        ("forall M: Dim. (a: T[M]) -> (b: int8[M])", "no dtype or dtype index is called 'T'"),
        ("forall M: Dim. (a: int8[Q]) -> (b: int8[M])", "no Dim, let or Int is called 'Q'"),
        ("forall M: Dim. (a: int8[M / 2]) -> (b: int8[M])", "M / 2 cannot stand in an axis"),
        ("forall B: Shape. (a: int8[*B, B]) -> (b: int8[*B])", "its sizes are written *B"),
        ("forall M: Dim. (a: int8[*M]) -> (b: int8[M])", "*M expects a Shape"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[len(M)])", "no Shape is called 'M'"),
        ("forall M: Dim. (a: int8[3]) -> (b: int8[M])", "M is settled by no call: no input has it"),
        ("forall M: Dim. (a: int8[M // 2]) -> (b: int8[M])", "it cannot be solved for in int8[M//2]"),
        ("forall M: Dim. (a: int8[M * M]) -> (b: int8[M])", "it cannot be solved for in int8[M*M]"),
        ("forall M, K: Dim. (a: int8[M + K]) -> (b: int8[M])", "it cannot be solved for in int8[M+K]"),
        ("forall A, B: Shape. (a: int8[*A, *B]) -> (b: int8[*A])", "A is settled by no call"),
        ("forall T: DType[int8 | int16]. (a: int8[3]) -> (b: T[3])", "T is settled by no call"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[-1])", "axis -1 is -1: expected 0 or more"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M]) where 1 == 2", "no call satisfies where 1 == 2"),
        ("forall M: Dim; T: DType[int8]. (a: T[M]) -> (b: T[M]) where T == int16", "no call satisfies"),
        ("forall M: Dim; params f: Bool. (a: int8[M]) -> (b: int8[M]) where f, not f", "no call satisfies"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M]) where M % 16", "expected a predicate"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M]) where K > 3", "no index, scalar or let is called 'K'"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M]) where present(c)", "no argument is called 'c'"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M]) where a.contiguous", "cannot read a layout"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M]) let Q = P, P = M", "reads 'P', which is computed later"),
        ("forall M: Dim; L: Seq[Int]. (a: int8[M]) -> (b: int8[M]) where L == 3", "only a tune shape has"),
        ("forall M: Dim. (mutated write_only a: int8[M]) -> (b: int8[M])", "both mutated"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M] alias c)", "expected a tensor argument"),
        ("forall M: Dim. (a: int8[M], x?: int8[M]) -> (b: int8[M] alias x)", "x is optional"),
        ("forall M: Dim. (a: int8[M]) -> (b: int8[M] alias a, c: int8[M] alias a)", "alias of two results"),
    ],
)
@pytest.mark.spec("C6")
def test_a_signature_no_call_could_satisfy_is_refused_when_it_is_declared(text: str, said: str) -> None:
    with pytest.raises(SignatureError) as refused:
        parse(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "forall M, K: Dim. (a: int8[M * K], b: int8[K]) -> (c: int8[M])",
        "forall M, K: Dim. (a: int8[M + K], b: int8[M // 2], c: int8[2 * M]) -> (d: int8[K])",
        "forall A, B: Shape. (a: int8[*A, *B], b: int8[*B]) -> (c: int8[*A])",
        "forall M: Dim. (a: int8[2 * P]) -> (b: int8[M]) let P = M + 1",
        "forall T: DType[int8]. (a: float32[3]) -> (b: T[3])",
        "forall M: Dim; params f: Bool. (a: int8[M]) -> (b: int8[M]) where f or M > 3, not f",
    ],
)
def test_a_signature_that_some_call_satisfies_is_not_refused(text: str) -> None:
    assert str(parse(text)) == str(parse(str(parse(text))))


DIMS, SHAPES, DTYPE_INDICES = ("M", "N", "letter"), ("B", "C"), ("T", "U")
ROWS = st.lists(st.sampled_from(["float32", "float64", "bfloat16", "int4"]), min_size=1, max_size=3, unique=True)
SCALARS: dict[str, tuple[ScalarType, st.SearchStrategy[Any]]] = {
    "Int": (ScalarType("Int"), st.integers(-(1 << 62), 1 << 62)),
    "Float": (ScalarType("Float"), st.floats(allow_nan=False, allow_infinity=False)),
    "Bool": (ScalarType("Bool"), st.booleans()),
    "DType": (ScalarType("DType"), st.sampled_from(["float32", "int4"])),
    "Enum": (ScalarType("Enum", ("causal", "it's", "")), st.sampled_from(["causal", "it's", ""])),
}
SCALAR_KINDS = st.sampled_from(list(SCALARS))


def arithmetic(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.one_of(
        st.builds(Binary, st.sampled_from(["+", "-", "*", "//", "%"]), parts, parts),
        st.builds(Unary, st.just("-"), parts),
        st.builds(Function, st.sampled_from(["min", "max"]), st.tuples(parts, parts)),
    )


SIZES = st.recursive(
    st.one_of(st.builds(Name, st.sampled_from(DIMS)), st.builds(Length, st.sampled_from(SHAPES))),
    arithmetic,
    max_leaves=4,
)
COMPARED = st.one_of(
    st.builds(
        Comparison,
        SIZES,
        st.tuples(st.tuples(st.sampled_from(["<", ">=", "=="]), st.builds(Constant, st.integers(0, 9)))),
    ),
    st.builds(Comparison, st.builds(Name, st.sampled_from(DTYPE_INDICES)), st.just((("!=", Dtype("int8")),))),
    st.builds(Present, st.just("anchor")),
)
PREDICATES = st.recursive(
    COMPARED, lambda parts: st.builds(Binary, st.sampled_from(["and", "or"]), parts, parts), max_leaves=3
).map(Expr)
AXES = st.one_of(SIZES.map(Expr).map(Size), st.builds(Rest, st.sampled_from(SHAPES)))
TYPES = st.builds(TensorType, st.sampled_from([*DTYPE_INDICES, "float8_e5m2"]), st.lists(AXES, max_size=3).map(tuple))


def form(cases: list[Case], last: TensorType) -> tuple[Case, ...]:
    return (*cases, Case(last))


FORMS = st.builds(form, st.lists(st.builds(Case, TYPES, PREDICATES), max_size=2), TYPES)


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    """Any signature whose indices are all settled by one tensor each."""
    indices = [
        *(Index(name, "Dim") for name in DIMS),
        *(Index(name, "Shape") for name in SHAPES),
        *(Index(name, "DType", tuple(draw(ROWS))) for name in DTYPE_INDICES),
        Index("lens", "Seq[Int]"),
    ]
    anchors = [TensorArg("anchor", (Case(TensorType("T", tuple(Size(Expr(Name(name))) for name in DIMS))),))]
    anchors += [TensorArg(f"x{name}", (Case(TensorType("U", (Rest(name),))),)) for name in SHAPES]
    kinds = draw(st.lists(SCALAR_KINDS, max_size=3))
    params = [Param(f"p{i}", SCALARS[kind][0], draw(st.none() | SCALARS[kind][1])) for i, kind in enumerate(kinds)]
    kinds = draw(st.lists(SCALAR_KINDS, max_size=3))
    scalars = [
        ScalarArg(f"s{i}", SCALARS[kind][0], draw(st.none() | SCALARS[kind][1]), draw(st.booleans()))
        for i, kind in enumerate(kinds)
    ]
    flags = st.booleans()
    tensors = [
        TensorArg(f"t{i}", cases, draw(flags), mutated=draw(flags), metadata=draw(flags), host=draw(flags))
        for i, cases in enumerate(draw(st.lists(FORMS, max_size=2)))
    ]
    outs = [Out(f"o{i}", cases) for i, cases in enumerate(draw(st.lists(FORMS, min_size=1, max_size=2)))]
    outs.append(Out("aliased", anchors[0].form, draw(st.sampled_from([None, "anchor"]))))
    return Signature(
        indices=tuple(draw(st.permutations(indices))),
        params=(*params, *([Param("table", draw(TYPES))] if draw(flags) else [])),
        args=tuple(draw(st.permutations([*anchors, *scalars, *tensors]))),
        outs=tuple(outs),
        lets=tuple(Let(f"l{i}", Expr(node)) for i, node in enumerate(draw(st.lists(SIZES, max_size=2)))),
        wheres=tuple(draw(st.lists(PREDICATES, max_size=2))),
    )


@settings(max_examples=60, deadline=None)
@given(signatures())
@pytest.mark.spec("C6")
def test_any_signature_prints_and_parses_again_equal(signature: Signature) -> None:
    assert parse(str(signature)) == signature


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(EVERYTHING) - 1), st.sampled_from(["", "(", "]", ",", ".", "$", " if ", "0", "M", "'"]))
def test_a_damaged_signature_is_a_signature_or_one_kind_of_error(place: int, put: str) -> None:
    damaged = EVERYTHING[:place] + put + EVERYTHING[place + 1 :]
    try:
        signature = parse(damaged)
    except SignatureError:
        return
    assert parse(str(signature)) == signature
