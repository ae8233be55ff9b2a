"""Checking a call: each way it can break its declaration is one error that names what broke, and touches nothing."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from assay.array import ArrayView, planned_view
from assay.errors import CallError
from assay.signature import Call, Signature, check, parse

GEMM = parse("forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])")
RMSNORM = parse(
    "forall B: Shape; N: Dim; T: DType[float32]. (x: T[*B, N], w: T[N], eps: Float = 1e-5) -> (y: T[*B, N])"
)


class Untouchable:
    """An array of an address nobody may read: whoever touches its elements dies."""

    def __init__(self, *shape: int, dtype: str = "<f4", address: int = 64) -> None:
        self.__array_interface__ = {"shape": shape, "typestr": dtype, "data": (address, False), "version": 3}


class Exchanged:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array: "np.ndarray[Any, Any]") -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> object:  # noqa: ANN401 - the protocol's options are open
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def zeros(*shape: int, dtype: str = "float32") -> "np.ndarray[Any, Any]":
    return np.zeros(shape, dtype)


def view(*shape: int, device: str = "cpu") -> ArrayView:
    return planned_view(shape, "float32", device)


def refusal(signature: Signature, arguments: Mapping[str, object], **more: Any) -> str:  # noqa: ANN401 - check's own options
    with pytest.raises(CallError) as refused:
        check(signature, "op", arguments, **more)
    assert isinstance(refused.value, ValueError)
    return str(refused.value)


def made(signature: Signature, **arguments: object) -> Call:
    return check(signature, "op", arguments)


@pytest.mark.spec("C1")
def test_plain_axes_bind_their_sizes() -> None:
    call = made(GEMM, a=zeros(96, 256), b=zeros(256, 64))
    assert dict(call.record.indices) == {"M": 96, "N": 64, "K": 256, "T": "float32"}
    assert call.views["c"] == planned_view((96, 64), "float32")


@pytest.mark.spec("C1")
@pytest.mark.parametrize("leading", [(), (5,), (2, 3)])
def test_a_shape_binds_any_number_of_leading_sizes(leading: tuple[int, ...]) -> None:
    call = made(RMSNORM, x=zeros(*leading, 8), w=zeros(8))
    assert call.record.indices["B"] == leading
    assert call.record.tensors["y"] == ((*leading, 8), "float32")


ODD = parse("forall M: Dim. (x: float32[3, 2*M+1]) -> (y: float32[M])")


@pytest.mark.spec("C1")
def test_an_axis_expression_is_solved_for_its_one_unknown() -> None:
    assert made(ODD, x=zeros(3, 9)).record.indices["M"] == 4  # 2*4 + 1 = 9
    assert made(ODD, x=zeros(3, 1)).record.indices["M"] == 0  # 2*0 + 1 = 1


@pytest.mark.spec("C1", "C2")
@pytest.mark.parametrize("size", [8, 0])
def test_an_axis_no_index_can_make_names_the_tensor_the_axis_and_the_size(size: int) -> None:
    said = refusal(ODD, {"x": zeros(3, size)})
    assert said == f"op: x axis 1 is {size} (x is (3, {size})): no M makes 2*M+1 equal {size}"


@pytest.mark.spec("C1")
def test_an_axis_of_several_unknowns_is_solved_once_the_others_are() -> None:
    both = parse("forall M, K: Dim. (x: float32[M+K], y: float32[M*K], k: float32[K]) -> (z: float32[M])")
    assert dict(made(both, x=zeros(7), y=zeros(10), k=zeros(5)).record.indices) == {"M": 2, "K": 5}  # 2 + 5, 2 * 5
    said = refusal(both, {"x": zeros(7), "y": zeros(11), "k": zeros(5)})
    assert said == "op: y axis 0 is 11 (y is (11,)): expected M*K, which is 10 where K is 5 in k, M is 2 in x"


@pytest.mark.spec("C1")
def test_an_axis_that_cannot_be_solved_is_checked_after_the_others_have_bound() -> None:
    halves = parse(
        "forall M: Dim; B: Shape. (h: float32[M//2, len(B)], x: float32[M], z: float32[*B]) -> (y: float32[M])"
    )
    assert made(halves, h=zeros(3, 2), x=zeros(7), z=zeros(4, 4)).record.indices["M"] == 7  # 7 // 2 = 3
    said = refusal(halves, {"h": zeros(4, 2), "x": zeros(7), "z": zeros(4, 4)})
    assert said == "op: h axis 0 is 4 (h is (4, 2)): expected M//2, which is 3 where M is 7 in x"


@pytest.mark.spec("C1")
def test_an_axis_is_solved_through_a_let() -> None:
    padded = parse("forall M: Dim. (x: float32[P]) -> (y: float32[M]) let P = 2 * M + 6")
    assert dict(made(padded, x=zeros(10)).record.indices) == {"M": 2, "P": 10}  # 2*2 + 6 = 10


def test_an_index_that_a_zero_factor_leaves_open_is_named() -> None:
    scaled = parse("forall M, K: Dim. (x: float32[M*K], k: float32[K]) -> (y: float32[M])")
    assert (
        refusal(scaled, {"x": zeros(0), "k": zeros(0)}) == "op: y: M in float32[M] is settled by nothing in this call"
    )


@pytest.mark.spec("C3", "A21")
def test_a_shared_size_that_disagrees_names_both_tensors_and_both_shapes() -> None:
    said = refusal(GEMM, {"a": zeros(96, 256), "b": zeros(128, 64)})
    assert said == "op: a is (96, 256), b is (128, 64): K is 256 in a and 128 in b"


@pytest.mark.spec("C3", "C7", "A21")
def test_a_check_reads_no_element_of_any_tensor() -> None:
    a, b = Untouchable(96, 256), Untouchable(256, 64, address=1 << 40)
    call = made(GEMM, a=a, b=b)
    assert (call.views["a"].pointer, call.views["b"].pointer) == (64, 1 << 40)
    assert "K is 256 in a and 128 in b" in refusal(GEMM, {"a": a, "b": Untouchable(128, 64)})
    assert "rank 3" in refusal(GEMM, {"a": Untouchable(96, 256, 1), "b": b})


def test_a_shared_shape_that_disagrees_names_both_tensors_even_where_ranks_do() -> None:
    added = parse("forall B: Shape. (a: float32[*B, 2], b: float32[*B]) -> (c: float32[*B])")
    said = refusal(added, {"a": zeros(3, 4, 2), "b": zeros(3)})
    assert said == "op: a is (3, 4, 2), b is (3,): B is (3, 4) in a and (3,) in b"


def test_a_size_that_disagrees_within_one_tensor_is_named() -> None:
    square = parse("forall N: Dim. (a: float32[N, N]) -> (c: float32[N])")
    assert refusal(square, {"a": zeros(3, 4)}) == "op: a is (3, 4): N is 3 and 4 in a"


@pytest.mark.spec("A21")
@pytest.mark.parametrize("shape", [(), (4,), (4, 4, 1)])
def test_another_rank_is_refused(shape: tuple[int, ...]) -> None:
    said = refusal(GEMM, {"a": zeros(*shape), "b": zeros(4, 4)})
    assert said == f"op: a is {shape}, of rank {len(shape)}: T[M, K] expects rank 2"


def test_a_rank_too_small_for_a_shape_is_refused() -> None:
    assert "of rank 0: T[*B, N] expects rank 1 or more" in refusal(RMSNORM, {"x": zeros(), "w": zeros(8)})


TRANSPOSED = parse(
    "forall M, N, K: Dim; params trans_b: Bool = false. "
    "(a: float32[M, K], b: float32[N, K] if trans_b else float32[K, N]) -> (c: float32[M, N])"
)


@pytest.mark.spec("A21")
def test_a_transposition_is_applied_before_sizes_are_compared() -> None:
    arguments = {"a": zeros(4, 8), "b": zeros(6, 8)}
    assert "K is 8 in a and 6 in b" in refusal(TRANSPOSED, arguments)
    call = check(TRANSPOSED, "op", arguments, params={"trans_b": True})
    assert call.views["c"].shape == (4, 6)
    said = refusal(TRANSPOSED, {"a": zeros(4, 8), "b": zeros(8, 6)}, params={"trans_b": True})
    assert "K is 8 in a and 6 in b" in said


@pytest.mark.spec("C5")
@pytest.mark.parametrize("dtype", ["int32", "float16", ">f4", "object"])
def test_a_dtype_that_no_row_lists_is_refused_with_the_rows(dtype: str) -> None:
    said = refusal(GEMM, {"a": zeros(4, 4, dtype=dtype), "b": zeros(4, 4)})
    assert said == f"op: a is {dtype}: T expects float32 | float64"


@pytest.mark.spec("C2")
def test_dtypes_that_disagree_name_both_tensors() -> None:
    said = refusal(GEMM, {"a": zeros(4, 4), "b": zeros(4, 4, dtype="float64")})
    assert said == "op: a is float32, b is float64: T is float32 in a and float64 in b"


def test_a_fixed_dtype_and_one_named_by_a_param_are_checked() -> None:
    cast = parse("forall N: Dim; params to: DType = float64. (i: int32[N], x: to[N]) -> (y: to[N])")
    assert made(cast, i=zeros(3, dtype="int32"), x=zeros(3, dtype="float64")).views["y"].dtype == "float64"
    assert "i is int64: int32[N] expects int32" in refusal(cast, {"i": zeros(3, dtype="int64"), "x": zeros(3)})
    said = refusal(cast, {"i": zeros(3, dtype="int32"), "x": zeros(3)})
    assert said == "op: x is float32: to[N] expects float64, to being float64"


ALIGNED = parse(
    "forall N, G: Dim. (x: float32[N], g: float32[G]) -> (y: float32[P]) let P = N // G where P % 8 == 0, G < N"
)


@pytest.mark.spec("C5", "C2")
def test_a_predicate_that_fails_is_named_with_the_values_that_broke_it() -> None:
    assert made(ALIGNED, x=zeros(32), g=zeros(2)).record.indices["P"] == 16
    assert refusal(ALIGNED, {"x": zeros(24), "g": zeros(2)}) == "op: expected P % 8 == 0: P is 12"
    assert refusal(ALIGNED, {"x": zeros(0), "g": zeros(1)}) == "op: expected G < N: G is 1 in g, N is 0 in x"


def test_a_let_without_a_value_is_refused_by_name() -> None:
    said = refusal(ALIGNED, {"x": zeros(24), "g": zeros(0)})
    assert "let P = N // G: division by zero" in said


@pytest.mark.spec("C4")
def test_tensors_on_two_devices_are_refused() -> None:
    said = refusal(GEMM, {"a": view(4, 4), "b": view(4, 4, device="cuda:0")})
    assert said == "op: a is on cpu, b is on cuda:0: expected one device"
    on_gpu = {"a": view(4, 4, device="cuda:0"), "b": view(4, 4, device="cuda:0")}
    assert check(GEMM, "op", on_gpu).record.device == "cuda:0"
    assert "c is on cpu" in refusal(GEMM, {**on_gpu, "c": view(4, 4)})


@pytest.mark.spec("C4", "C13")
def test_a_host_tensor_takes_no_part_in_settling_the_device() -> None:
    hosted = parse("forall N: Dim. (host n: float32[N], x: float32[N]) -> (y: float32[N])")
    call = check(hosted, "op", {"n": view(4), "x": view(4, device="cuda:1")})
    assert call.record.device == call.views["y"].device == "cuda:1"
    assert "n is on cuda:1" in refusal(hosted, {"n": view(4, device="cuda:1"), "x": view(4, device="cuda:1")})


@pytest.mark.spec("C7")
def test_anything_that_speaks_dlpack_or_the_array_interface_is_looked_at_where_it_lies() -> None:
    array = zeros(4, 4)[::2]
    for given in (array, Exchanged(array)):
        seen = made(GEMM, a=given, b=zeros(4, 4)).views["a"]
        assert (seen.pointer, seen.strides) == (array.ctypes.data, (8, 1))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"a": zeros(2, 2)}, "b is missing: a tensor T[K, N] is expected"),
        ({"a": zeros(2, 2), "b": [[1.0]]}, "b is of type list: a tensor T[K, N] is expected"),
        ({"a": zeros(2, 2), "b": 3.0}, "b is of type float"),
        ({"a": zeros(2, 2), "b": zeros(2, 2), "alpha": 2}, "no argument is called 'alpha'"),
        ({"a": zeros(2, 2), "b": zeros(2, 2), "c": 3}, "c is of type int"),
    ],
)
@pytest.mark.spec("C2")
def test_what_is_missing_unknown_or_no_array_is_refused(arguments: dict[str, object], said: str) -> None:
    assert said in refusal(GEMM, arguments)


SCALARS = parse(
    'forall N: Dim. (x: float32[N], k: Int, eps: Float = 1e-5, flag: Bool = false, mode: Enum["a", "b"] = "a", '
    "to: DType = float32, w?: Float) -> (y: float32[k])"
)


def test_scalars_become_their_declared_types() -> None:
    call = made(SCALARS, x=zeros(3), k=np.int32(2), eps=1, flag=np.bool_(True), mode="b", to=np.float64)  # noqa: FBT003
    assert dict(call.scalars) == {"k": 2, "eps": 1.0, "flag": True, "mode": "b", "to": "float64"}
    assert [type(value) for value in call.scalars.values()] == [int, float, bool, str, str]
    assert made(SCALARS, x=zeros(3), k=2).scalars["eps"] == 1e-5


@pytest.mark.spec("C2")
@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("k", None, "k is missing: a scalar of type Int"),
        ("k", 2.0, "k: expected Int, found 2.0"),
        ("k", True, "k: expected Int, found true"),
        ("k", "2", "k: expected Int, found '2'"),
        ("k", 1 << 63, "k: expected Int, found 9223372036854775808"),
        ("eps", "1e-5", "eps: expected Float"),
        ("eps", False, "eps: expected Float, found false"),
        ("flag", 1, "flag: expected Bool, found 1"),
        ("mode", "c", 'mode: expected Enum["a", "b"], found \'c\''),
        ("to", "float31", "to: expected DType, found 'float31'"),
        ("k", -1, "y: k in float32[k] is -1 where k is -1, expected 0 or more"),
    ],
)
def test_a_scalar_of_another_type_is_refused(name: str, given: object, said: str) -> None:
    assert said in refusal(SCALARS, {"x": zeros(3), "k": 2, name: given})


def test_an_unknown_or_missing_param_is_refused() -> None:
    needs = parse("forall N: Dim; params k: Int. (x: float32[N]) -> (y: float32[k])")
    assert "no param is called 'kk'; did you mean 'k'?" in refusal(needs, {"x": zeros(3)}, params={"kk": 2})
    assert "k is missing" in refusal(needs, {"x": zeros(3)})


@pytest.mark.spec("A18")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"K": 128}, "K is given as 128, a is (96, 256): K is 256 in a"),
        ({"T": "float64"}, "T is given as float64, a is float32: T is float32 in a"),
        ({"M": -1}, "M: expected a size (256), found -1"),
        ({"Q": 3}, "nothing is called 'Q'"),
    ],
)
def test_sizes_or_dtypes_that_contradict_the_tensors_are_refused(given: dict[str, object], said: str) -> None:
    arguments = {"a": zeros(96, 256), "b": zeros(256, 64)}
    assert check(GEMM, "op", arguments, given={"K": 256, "T": "float32"}).record.indices["K"] == 256
    assert said in refusal(GEMM, arguments, given=given)


@pytest.mark.spec("A18")
def test_a_param_or_let_that_is_claimed_and_is_not_so_is_refused() -> None:
    padded = parse("forall M: Dim; params k: Int = 2. (x: float32[M]) -> (y: float32[P]) let P = M + k")
    assert check(padded, "op", {"x": zeros(4)}, given={"k": 2, "P": 6}).views["y"].shape == (6,)
    assert "P is given as 7, and is 6 in this call" in refusal(padded, {"x": zeros(4)}, given={"P": 7})
    assert "k is given as 3, and is 2 in this call" in refusal(padded, {"x": zeros(4)}, given={"k": 3})


@pytest.mark.parametrize(
    ("out", "said"),
    [
        (zeros(4, 5), "c is (4, 5) float32: T[M, N] is (4, 4) float32 in this call"),
        (zeros(4, 4, dtype="float64"), "c is (4, 4) float64: T[M, N] is (4, 4) float32"),
        (np.broadcast_to(zeros(1), (4, 4)), "c is read-only, and this call writes it"),
    ],
)
def test_an_out_of_another_type_or_that_cannot_be_written_is_refused(out: object, said: str) -> None:
    assert said in refusal(GEMM, {"a": zeros(4, 4), "b": zeros(4, 4), "c": out})


def test_a_written_input_that_is_read_only_is_refused() -> None:
    update = parse("forall N: Dim. (mutated x: float32[N]) -> (y: float32[N])")
    frozen = zeros(4)
    frozen.flags.writeable = False
    assert "x is read-only" in refusal(update, {"x": frozen})


@pytest.mark.spec("C8")
def test_an_out_that_overlaps_an_input_is_refused() -> None:
    memory = zeros(8, 4)
    arguments = {"a": memory[:4], "b": zeros(4, 4)}
    assert check(GEMM, "op", {**arguments, "c": memory[4:]}).record.has_out
    for overlapping in (memory[:4], memory[3:7], memory[:4].T):
        said = refusal(GEMM, {**arguments, "c": overlapping})
        assert said == "op: c overlaps a: the signature has no such alias; pass an out of its own memory"


@pytest.mark.spec("C8")
def test_interleaved_views_of_one_buffer_do_not_overlap() -> None:
    memory = zeros(4, 8)
    assert made(GEMM, a=memory[:, :4], b=zeros(4, 4), c=memory[:, 4:]).record.has_out
    assert "c overlaps a" in refusal(GEMM, {"a": memory[:, :4], "b": zeros(4, 4), "c": memory[:, 3:7]})


def test_two_outs_of_one_memory_are_refused() -> None:
    split = parse("forall N: Dim. (x: float32[N]) -> (y: float32[N], z: float32[N])")
    memory = zeros(4)
    assert "z overlaps y" in refusal(split, {"x": zeros(4), "y": memory, "z": memory})


@pytest.mark.spec("C8")
def test_the_out_of_a_result_that_is_a_written_input_must_be_that_input() -> None:
    update = parse("forall N: Dim. (mutated x: float32[N]) -> (y: float32[N] alias x)")
    memory = zeros(8)
    assert made(update, x=memory[:4], y=memory[:4]).record.has_out
    for other in (zeros(4), memory[2:6]):
        assert refusal(update, {"x": memory[:4], "y": other}) == "op: y is x itself, and its out is other memory"
    assert made(update, x=memory[:4]).views["y"].pointer == memory.ctypes.data


@pytest.mark.spec("C8")
def test_a_declared_alias_may_be_the_input_itself_and_no_shifted_part_of_it() -> None:
    relu = parse("forall N: Dim. (x: float32[N]) -> (y: float32[N] alias x)")
    memory = zeros(8)
    assert made(relu, x=memory[:4], y=memory[:4]).record.written == ("x",)
    assert "y overlaps x: is not that input itself" in refusal(relu, {"x": memory[:4], "y": memory[2:6]})
    assert "y overlaps x" in refusal(relu, {"x": memory[:4], "y": memory[:4]}, in_place=False)
