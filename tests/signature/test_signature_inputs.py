"""Inputs made for a call: shapes, dtypes and layouts as the call has them, values from a seed or the user's maker."""

from typing import Any

import numpy as np
import pytest

from assay.array import ArrayView, view
from assay.errors import CallError
from assay.signature import Call, allocate_outputs, array_like, check, describe, make_inputs, parse

MIXED = parse(
    "forall B: Shape; N: Dim; T: DType[float32 | float16]. (x: T[*B, N], i: int32[N], u: uint8[N], p: bool[N], "
    "z: complex64[N], eps: Float = 0.5, w?: T[N]) -> (y: T[*B, N], n: int64[N])"
)
SHAPE = {"B": (2, 3), "N": 64, "T": "float16"}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def made(call: Call, seed: int = 0) -> "dict[str, Any]":
    return dict(make_inputs(MIXED, call, rng(seed)))


def test_inputs_have_the_shapes_dtypes_and_values_of_the_call() -> None:
    inputs = made(describe(MIXED, "op", SHAPE))
    assert list(inputs) == ["x", "i", "u", "p", "z", "eps", "w"]
    assert (inputs["x"].shape, inputs["x"].dtype) == ((2, 3, 64), "float16")
    assert (inputs["eps"], inputs["w"]) == (0.5, None)
    assert 0.7 < inputs["x"].astype("float64").std() < 1.3  # 384 standard normals
    assert abs(inputs["i"]).max() <= 8
    assert inputs["i"].min() < 0 < inputs["i"].max()
    assert inputs["u"].max() <= 16
    assert set(inputs["p"].tolist()) == {False, True}
    assert inputs["z"].imag.std() > 0


def test_the_seed_alone_decides_the_values() -> None:
    call = describe(MIXED, "op", SHAPE)
    one, same, other = made(call), made(call), made(call, 1)
    assert one["x"].tobytes() == same["x"].tobytes() != other["x"].tobytes()


@pytest.mark.parametrize(
    "layout",
    [
        np.zeros((5, 3)).T,
        np.zeros((3, 10))[:, ::2],
        np.zeros((3, 5))[::-1, ::-1],
        np.broadcast_to(np.zeros(5), (3, 5)),
        np.zeros((0, 5)).T,
    ],
)
def test_an_array_is_laid_out_as_the_view_it_stands_for(layout: "np.ndarray[Any, Any]") -> None:
    wanted = view(layout)
    assert wanted is not None
    seen = view(array_like(wanted))
    assert isinstance(seen, ArrayView)
    assert (seen.shape, seen.dtype) == (wanted.shape, wanted.dtype)
    assert seen.strides == wanted.strides or wanted.size == 0


def test_inputs_of_a_real_call_have_its_layout() -> None:
    scale = parse("forall M, N: Dim. (x: float32[M, N]) -> (y: float32[M, N])")
    transposed = np.zeros((5, 3), "float32").T
    call = check(scale, "op", {"x": transposed})

    def full(rng: np.random.Generator, M: int, N: int) -> object:
        return rng.random((M, N), "float32")

    for maker in (None, full):
        array: Any = make_inputs(scale, call, rng(), maker)["x"]
        assert array.strides == transposed.strides
        assert len(set(array.ravel().tolist())) == 15


def test_outputs_are_allocated_but_for_those_that_are_an_input() -> None:
    call = describe(MIXED, "op", SHAPE)
    outputs = allocate_outputs(call)
    assert {name: (array.shape, str(array.dtype)) for name, array in outputs.items()} == {
        "y": ((2, 3, 64), "float16"),
        "n": ((64,), "int64"),
    }
    update = parse("forall N: Dim. (mutated x: float32[N]) -> (y: float32[N] alias x, z: float32[N])")
    assert list(allocate_outputs(describe(update, "op", {"N": 4}))) == ["z"]


SPMV = parse(
    "forall n, nnz: Dim; T: DType[float32]; lens: Seq[Int]. "
    "(metadata at: int32[n + 1], v: T[nnz], eps: Float = 0.5) -> (y: T[n])"
)
RAGGED = {"n": 2, "nnz": 7, "lens": (3, 4)}


@pytest.mark.spec("C40")
def test_a_metadata_input_is_not_filled_at_random_and_is_named() -> None:
    with pytest.raises(CallError) as refused:
        make_inputs(SPMV, describe(SPMV, "spmv", RAGGED), rng(), subject="spmv")
    assert str(refused.value) == "spmv: at: its values matter, so random ones would mislead; give a maker: @op.inputs"


def offsets(rng: np.random.Generator, **indices: Any) -> tuple[object, ...]:  # noqa: ANN401 - sizes, dtypes, lengths
    assert indices == {"n": 2, "nnz": 7, "T": np.dtype("float32"), "lens": (3, 4)}
    values = rng.random(7, "float32")
    return np.cumsum((0, *indices["lens"]), dtype="int32"), values, 0.5


@pytest.mark.spec("C40")
def test_a_maker_is_given_every_index_and_returns_a_tuple_or_a_dict() -> None:
    call = describe(SPMV, "spmv", RAGGED)
    inputs: Any = make_inputs(SPMV, call, rng(), offsets)
    assert inputs["at"].tolist() == [0, 3, 7]
    assert inputs["eps"] == 0.5

    def named(rng: np.random.Generator, **indices: Any) -> dict[str, object]:  # noqa: ANN401 - as offsets
        at, v, _ = offsets(rng, **indices)
        return {"v": v, "at": at}

    again: Any = make_inputs(SPMV, call, rng(), named)
    assert list(again) == ["at", "v", "eps"]
    assert again["v"].tobytes() == inputs["v"].tobytes()


AT, V = np.zeros(3, "int32"), np.zeros(7, "float32")


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ((AT, V), "returned 2 values, expected 3 (at, v, eps)"),
        (AT, "returned 1 values, expected 3"),
        ({"at": AT, "v": V, "w": V}, "returned 'w', which is no input"),
        ({"at": AT}, "v is of type NoneType, expected an array"),
        ((AT, V[:6], 0.5), "v is (6,) float32, expected (7,) float32"),
        ((AT.astype("int64"), V, 0.5), "at is (3,) int64, expected (3,) int32"),
        ((AT, [0.0] * 7, 0.5), "v is of type list"),
        ((AT, V, 0.25), "eps is 0.25, the call's is 0.5; give eps in the shape"),
        ((AT, V, "x"), "eps: expected Float, found 'x'"),
    ],
)
def test_what_a_maker_returns_must_be_what_the_call_declares(returned: object, said: str) -> None:
    def maker(_: np.random.Generator, **indices: object) -> object:
        return returned

    with pytest.raises(CallError) as refused:
        make_inputs(SPMV, describe(SPMV, "spmv", RAGGED), rng(), maker)
    assert said in str(refused.value)


def test_a_maker_that_raises_is_named_with_its_reason() -> None:
    def maker(_: np.random.Generator, **indices: object) -> object:
        return 1 // (len(indices) - 4)

    with pytest.raises(CallError, match="the input maker raised ZeroDivisionError") as refused:
        make_inputs(SPMV, describe(SPMV, "spmv", RAGGED), rng(), maker)
    assert isinstance(refused.value.__cause__, ZeroDivisionError)


def test_a_maker_that_needs_a_sequence_cannot_serve_a_call_of_a_user() -> None:
    call = check(SPMV, "spmv", {"at": AT, "v": V})
    with pytest.raises(CallError, match="lens is known only from a tune shape"):
        make_inputs(SPMV, call, rng(), offsets)
