"""Calling an op: what comes back, what is recorded, and what a bad call leaves behind."""

import copy
import gc
import weakref

import numpy as np
import pytest
from ops_declared import Array, bare_gemm, matrices, two_kernel_gemm

import assay
from assay.errors import CallError, NoCallError
from assay.ops import dispatch


@pytest.mark.spec("C7")
def test_an_op_answers_with_numpy_arrays_for_numpy_arrays() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(32, 8, 5)
    assert type(gemm(a, b)) is np.ndarray
    np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)


@pytest.mark.spec("C7")
def test_strided_and_reversed_inputs_are_taken_as_they_are() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(64, 16, 6)
    for left, right in ((a[::2], b), (a[:, ::-1], b[::-1]), (np.asfortranarray(a), b)):
        np.testing.assert_allclose(gemm(left, right), left @ right, rtol=2e-5, atol=1e-5)


@pytest.mark.spec("C9")
def test_before_any_call_there_is_no_record() -> None:
    gemm = bare_gemm()
    with pytest.raises(RuntimeError, match="gemm: no call has completed yet"):
        _ = gemm.last_call
    with pytest.raises(NoCallError):
        gemm.eval_roofline()


@pytest.mark.spec("C3", "C10", "A21")
@pytest.mark.parametrize("forced", [None, "general", "blocked"])
def test_a_shared_size_that_differs_is_named_and_the_record_stays(forced: str | None) -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(96, 256, 64)
    gemm(a, b)
    before = gemm.last_call
    counted = dispatch.histogram(op="gemm")
    with assay.force(**({"gemm": forced} if forced else {})), pytest.raises(ValueError) as raised:  # noqa: PT011 - the type is the promise
        gemm(a, np.ones((128, 64), np.float32))
    assert str(raised.value) == "gemm: a is (96, 256), b is (128, 64): K is 256 in a and 128 in b"
    assert gemm.last_call is before
    assert dispatch.histogram(op="gemm") == counted


@pytest.mark.spec("C10")
def test_a_call_that_fails_in_its_reference_leaves_the_same_record() -> None:
    @assay.op("forall N: Dim. (x: float64[N]) -> (y: float64[N])")
    def root(x: Array) -> Array:
        if (x < 0).any():
            raise ArithmeticError("a negative number has no root here")
        return np.sqrt(x)

    root(np.ones(3))
    before = root.last_call
    with pytest.raises(ArithmeticError):
        root(-np.ones(3))
    assert root.last_call is before
    assert (root(np.full(3, 4.0)) == 2).all()


@pytest.mark.spec("C24")
def test_after_an_interrupt_in_a_kernel_the_next_call_works() -> None:
    gemm = bare_gemm()
    interrupt = [False]

    @gemm.kernel
    def sometimes(a: Array, b: Array, *, c: Array) -> None:
        if interrupt[0]:
            raise KeyboardInterrupt
        np.matmul(a, b, out=c)

    a, b = matrices(8, 8, 8)
    gemm(a, b)
    before = gemm.last_call
    interrupt[0] = True
    with pytest.raises(KeyboardInterrupt):
        gemm(a, b)
    assert gemm.last_call is before
    interrupt[0] = False
    np.testing.assert_allclose(gemm(a, b), a @ b, rtol=1e-5)


@pytest.mark.spec("C8")
def test_an_out_that_overlaps_an_input_is_refused_with_a_plan_and_without() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(16, 16, 16)
    for _ in range(2):
        with pytest.raises(CallError, match="overlap"):
            gemm(a, b, out=a)
        with pytest.raises(CallError, match="overlap"):
            gemm(a, b, out=b[::-1])
        gemm(a, b, out=np.empty((16, 16), np.float32))  # now there is a plan for this layout
    np.testing.assert_array_equal(a, matrices(16, 16, 16)[0])


@pytest.mark.spec("C14", "C16")
def test_an_out_is_filled_returned_and_recorded() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(32, 8, 5)
    out = np.empty((32, 5), np.float32)
    assert gemm(a, b, out=out) is out
    np.testing.assert_allclose(out, a @ b, rtol=1e-5)
    assert gemm.last_call.has_out
    assert set(gemm.last_call.tensors) == {"a", "b", "c"}
    gemm(a, b)
    assert not gemm.last_call.has_out


@pytest.mark.spec("C11", "C13", "C14", "C15")
def test_a_record_says_indices_device_tensors_and_traffic() -> None:
    gemm = two_kernel_gemm()
    gemm(*matrices(32, 8, 5))
    record = gemm.last_call
    assert dict(record.indices) == {"M": 32, "N": 5, "K": 8, "T": "float32"}
    assert record.device == "cpu"
    assert dict(record.tensors) == {
        "a": ((32, 8), "float32"),
        "b": ((8, 5), "float32"),
        "c": ((32, 5), "float32"),
    }
    assert dict(record.traffic) == {"a": (1, 0), "b": (1, 0), "c": (0, 1)}
    assert record.written == ()


@pytest.mark.spec("C19")
def test_a_record_refuses_assignment_all_the_way_down() -> None:
    gemm = bare_gemm()
    gemm(*matrices(3, 4, 5))
    record = gemm.last_call
    with pytest.raises(AttributeError):
        record.device = "gpu"  # type: ignore[misc]
    for mapping in (record.indices, record.tensors, record.traffic, record.stages, record.metadata):
        with pytest.raises(TypeError):
            mapping["M"] = 1  # type: ignore[index]


@pytest.mark.spec("C20")
def test_a_record_is_one_object_and_keeps_no_data_alive() -> None:
    gemm = two_kernel_gemm()
    a, b = matrices(32, 8, 5)
    c = gemm(a, b)
    assert gemm.last_call is gemm.last_call
    watched = [weakref.ref(array) for array in (a, b, c)]
    del a, b, c
    gc.collect()
    assert [watch() for watch in watched] == [None, None, None]
    assert gemm.last_call.indices["M"] == 32


@pytest.mark.spec("C21")
def test_a_call_that_writes_nothing_is_recorded_and_builds_nothing() -> None:
    gemm = two_kernel_gemm()
    a, b = np.ones((0, 4), np.float32), np.ones((4, 5), np.float32)
    assert gemm(a, b).shape == (0, 5)
    assert gemm.last_call.indices["M"] == 0
    assert not gemm.built_entries("gemm")


@pytest.mark.spec("C21")
def test_an_empty_input_with_a_result_runs() -> None:
    gemm = two_kernel_gemm()
    result = gemm(np.ones((3, 0), np.float32), np.ones((0, 2), np.float32))
    np.testing.assert_array_equal(result, np.zeros((3, 2)))


@pytest.mark.spec("C46")
def test_a_roofline_is_the_declared_work_and_the_traffic_of_the_last_call() -> None:
    gemm = two_kernel_gemm()
    gemm(*matrices(32, 8, 5))
    # 2*32*5*8 = 2560 flops; (32*8 + 8*5 + 32*5) * 4 bytes = 456 * 4 = 1824
    assert gemm.eval_roofline() == (2560, 1824)
    assert gemm.eval_roofline_read_bytes() == (32 * 8 + 8 * 5) * 4
    gemm(*matrices(3, 8, 5))
    assert gemm.eval_roofline()[0] == 240


@pytest.mark.spec("C47", "C49")
def test_the_roof_is_that_of_the_device_and_dtype() -> None:
    gemm = bare_gemm()
    gemm(*matrices(3, 8, 5))
    assert gemm.roof_key() == "cpu.fp32"
    gemm(*matrices(3, 8, 5, "float64"))
    assert gemm.roof_key() == "cpu.fp64"
    assert gemm.roofline_data_terms() == {}


def test_a_mistake_in_the_arguments_is_named() -> None:
    gemm = bare_gemm()
    a, b = matrices(3, 8, 5)
    for call in (
        lambda: gemm(a),
        lambda: gemm(a, b, b),
        lambda: gemm(a, b, alpha=1),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(CallError, match=r"b is a builtins.list|b: expected|b is"):
        gemm(a, [[1.0]])
    with pytest.raises(CallError, match="float16"):
        gemm(a.astype("float16"), b.astype("float16"))
    with pytest.raises(CallError, match=">f4"):
        gemm(a.astype(">f4"), b)


def test_check_runs_nothing_and_raises_what_a_call_would() -> None:
    gemm = bare_gemm()
    a, b = matrices(3, 8, 5)
    assert gemm.check(a, b).indices["K"] == 8
    assert gemm.check(a, b=b).tensors["c"] == ((3, 5), "float32")
    with pytest.raises(CallError):
        gemm.check(a, a)
    with pytest.raises(NoCallError):
        _ = gemm.last_call


def test_a_copy_of_an_op_whose_kernel_calls_it_is_an_op_like_any_other() -> None:
    @assay.op("forall N: Dim. (x: float64[N]) -> (y: float64[N])")
    def double(x: Array) -> Array:
        return 2 * x

    @double.kernel
    def halving(x: Array, *, y: Array) -> None:
        if x.size > 2:
            half = x.size // 2
            y[:half], y[half:] = double(x[:half]), double(x[half:])
        else:
            np.multiply(x, 2, out=y)

    x = np.arange(9.0)
    double(x)
    arrived = copy.deepcopy(double)
    assert arrived is not double
    np.testing.assert_array_equal(arrived(x), 2 * x)
    assert arrived.name == "double"
    assert [found.name for found in arrived.declaration.candidates] == ["halving"]
    assert arrived.last_call.indices["N"] == 9
