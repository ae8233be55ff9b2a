"""The record of a call: what each field says, and that nothing in it can be changed."""

import gc
import weakref
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from assay.array import planned_view
from assay.signature import SignatureCall, check, outputs_written, parse


class Untouchable:
    """An array of an address nobody may read: whoever touches its elements dies."""

    def __init__(self, *shape: int, dtype: str) -> None:
        self.__array_interface__ = {"shape": shape, "typestr": dtype, "data": (64, False), "version": 3}


def zeros(*shape: int, dtype: str = "float32") -> "np.ndarray[Any, Any]":
    return np.zeros(shape, dtype)


def record(text: str, arguments: Mapping[str, object], **more: Any) -> SignatureCall:  # noqa: ANN401 - check's own options
    return check(parse(text), "op", arguments, **more).record


PADDED = (
    "forall B: Shape; N, G: Dim; T: DType[float32 | float64]; lens: Seq[Int]; params k: Int = 2, unused: Int = 5, "
    "to: DType = int8. (x: T[*B, N], w?: T[G]) -> (y: to[*B, N + k]) let P = N // k, Q = unused * 2, R = P + 1"
)


@pytest.mark.spec("C11")
def test_indices_are_what_was_bound_the_params_in_index_positions_and_the_lets_that_were_reached() -> None:
    seen = record(PADDED, {"x": zeros(3, 4, 8)})
    assert dict(seen.indices) == {
        "B": (3, 4),
        "N": 8,
        "T": "float32",
        "k": 2,  # stands in an axis; `unused` stands in none
        "to": "int8",  # stands as a dtype
        "P": 4,
        "Q": 10,
        "R": 5,
    }
    assert record(PADDED, {"x": zeros(8), "w": zeros(3)}).indices["G"] == 3


@pytest.mark.spec("C11")
def test_a_let_that_no_branch_on_the_way_reads_is_not_reached() -> None:
    text = (
        "forall N: Dim; params grouped: Bool = false, g: Int = 0. (x: float32[N]) -> (y: float32[P] if grouped else "
        "float32[N]) let P = N // g"
    )
    assert dict(record(text, {"x": zeros(8)}).indices) == {"N": 8}  # P is N // 0, and nothing reads it
    assert record(text, {"x": zeros(8)}, params={"grouped": True, "g": 2}).indices["P"] == 4


BRANCHED = (
    "forall N: Dim; params trans: Bool = false, idle: Bool = false. "
    '(x: float32[N] if trans else float32[N, 3], causal: Bool = false, mode: Enum["a", "b"] = "a", bias?: float32[N]) '
    '-> (y: float32[N]) where mode == "a" or not causal or N > 0'
)


@pytest.mark.spec("C12")
def test_a_discriminant_changes_the_branch_key_and_a_parameter_nothing_reads_does_not() -> None:
    arguments = {"x": zeros(4, 3)}
    plain = record(BRANCHED, arguments).branch_key
    assert plain == (("trans", False), ("causal", False), ("mode", "a"), ("present(bias)", False))
    assert record(BRANCHED, arguments, params={"idle": True}).branch_key == plain
    points = {
        plain,
        record(BRANCHED, {"x": zeros(4)}, params={"trans": True}).branch_key,
        record(BRANCHED, {**arguments, "causal": True}).branch_key,
        record(BRANCHED, {**arguments, "mode": "b"}).branch_key,
        record(BRANCHED, {**arguments, "bias": zeros(4)}).branch_key,
    }
    assert len(points) == 5


@pytest.mark.spec("C12")
def test_a_branch_that_turns_on_a_size_is_in_the_branch_key() -> None:
    text = "forall N: Dim. (x: float32[N]) -> (y: float32[N] if N > 4 else float32[2*N])"
    assert record(text, {"x": zeros(8)}).branch_key == (("N > 4", True),)
    assert record(text, {"x": zeros(3)}).branch_key == (("N > 4", False),)


@pytest.mark.spec("C13")
def test_the_device_is_the_one_the_tensors_settled() -> None:
    text = "forall N: Dim. (x: float32[N]) -> (y: float32[N])"
    assert record(text, {"x": planned_view((4,), "float32", "cuda:0")}).device == "cuda:0"
    assert record(text, {"x": zeros(4)}).device == "cpu"
    assert record("(k: Int) -> (y: float32[k])", {"k": 3}).device == "cpu"


@pytest.mark.spec("C14")
def test_tensors_are_the_inputs_present_the_construction_time_ones_and_the_outputs() -> None:
    text = "forall N, K: Dim; params table: float64[K]. (x: float32[N], bias?: float32[N], k: Int) -> (y: float32[K])"
    table = zeros(5, dtype="float64")
    seen = record(text, {"x": zeros(4), "k": 1}, params={"table": table})
    assert dict(seen.tensors) == {"table": ((5,), "float64"), "x": ((4,), "float32"), "y": ((5,), "float32")}
    with_all = record(text, {"x": zeros(4), "k": 1, "bias": zeros(4), "y": zeros(5)}, params={"table": table})
    assert list(with_all.tensors) == ["table", "x", "bias", "y"]


EFFECTS = "forall N: Dim. (r: float32[N], mutated m: float32[N], write_only w: float32[N]) -> (y: float32[N])"


@pytest.mark.spec("C15", "C16")
def test_traffic_follows_the_effects() -> None:
    seen = record(EFFECTS, {"r": zeros(4), "m": zeros(4), "w": zeros(4)})
    assert dict(seen.traffic) == {"r": (1, 0), "m": (1, 1), "w": (0, 1), "y": (0, 1)}
    assert seen.written == ("m", "w")


@pytest.mark.spec("C15", "C16")
def test_an_alias_that_is_written_is_charged_once_and_as_a_fresh_output_when_not_in_place() -> None:
    text = "forall N: Dim. (mutated x: float32[N], w: float32[N]) -> (y: float32[N] alias x)"
    arguments = {"x": zeros(4), "w": zeros(4)}
    call = check(parse(text), "op", arguments)
    assert dict(call.record.traffic) == {"x": (1, 1), "w": (1, 0), "y": (0, 0)}
    assert call.record.written == ("x",)
    assert dict(call.aliases) == {"y": "x"}
    assert call.views["y"] == call.views["x"]
    apart = check(parse(text), "op", arguments, in_place=False)
    assert dict(apart.record.traffic) == {"x": (1, 0), "w": (1, 0), "y": (0, 1)}
    assert apart.record.written == ()
    assert apart.views["y"].pointer == 0


@pytest.mark.spec("C15", "C16")
def test_an_alias_of_an_input_that_is_only_read_has_memory_of_its_own_unless_it_is_passed_as_out() -> None:
    text = "forall N: Dim. (x: float32[N]) -> (y: float32[N] alias x)"
    x = zeros(4)
    fresh, own = record(text, {"x": x}), record(text, {"x": x, "y": x})
    assert dict(fresh.traffic) == dict(own.traffic) == {"x": (1, 0), "y": (0, 1)}
    assert (fresh.written, own.written) == ((), ("x",))


@pytest.mark.spec("C16")
def test_has_out_says_whether_the_caller_passed_out() -> None:
    text = "forall N: Dim. (x: float32[N]) -> (y: float32[N])"
    assert not record(text, {"x": zeros(4)}).has_out
    assert not record(text, {"x": zeros(4), "y": None}).has_out
    assert record(text, {"x": zeros(4), "y": zeros(4)}).has_out


OFFSETS = "forall N: Dim. (x: float32[N], metadata offsets: int32[N + 1]) -> (y: float32[N])"


@pytest.mark.spec("C17")
def test_metadata_is_held_by_reference_and_read_when_it_is_asked_for() -> None:
    offsets = np.arange(5, dtype="int32")
    seen = record(OFFSETS, {"x": zeros(4), "offsets": offsets})
    assert seen.metadata["offsets"] is offsets
    offsets[0] = 7
    assert list(np.asarray(seen.metadata_values("offsets"))) == [7, 1, 2, 3, 4]
    with pytest.raises(KeyError, match="no metadata tensor 'x' in this call; it has offsets"):
        seen.metadata_values("x")


@pytest.mark.spec("C17")
def test_a_record_reads_nothing_of_its_metadata() -> None:
    offsets = Untouchable(5, dtype="<i4")
    assert record(OFFSETS, {"x": zeros(4), "offsets": offsets}).metadata["offsets"] is offsets


@pytest.mark.spec("C19")
def test_a_record_refuses_every_change() -> None:
    seen = record(OFFSETS, {"x": zeros(4), "offsets": np.arange(5, dtype="int32")})
    for field in SignatureCall.__dataclass_fields__:
        with pytest.raises(FrozenInstanceError):
            setattr(seen, field, None)
    for mapping in (seen.indices, seen.tensors, seen.traffic, seen.metadata, seen.stages):
        assert not hasattr(mapping, "__setitem__")
        assert not hasattr(mapping, "update")
    assert all(isinstance(value, tuple) for value in (seen.branch_key, seen.written, *seen.tensors.values()))


def test_a_call_keeps_no_data_tensor_alive() -> None:
    x, offsets = zeros(4), np.arange(5, dtype="int32")
    call = check(parse(OFFSETS), "op", {"x": x, "offsets": offsets})
    data, metadata = weakref.ref(x), weakref.ref(offsets)
    del x, offsets
    gc.collect()
    assert data() is None
    assert metadata() is call.record.metadata["offsets"]


def test_a_call_that_writes_nothing_says_so() -> None:
    summed = parse("forall M, N: Dim. (x: float32[M, N]) -> (y: float32[M])")
    assert outputs_written(check(summed, "op", {"x": zeros(0, 4)})) == ()
    assert outputs_written(check(summed, "op", {"x": zeros(4, 0)})) == ("y",)
    updating = parse(EFFECTS)
    assert outputs_written(check(updating, "op", {"r": zeros(4), "m": zeros(4), "w": zeros(4)})) == ("m", "w", "y")
