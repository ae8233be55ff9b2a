"""What entrants are judged against: references of every kind of result, and calls without one."""

import itertools
from typing import cast

import numpy as np
import pytest
from gate_examined import (
    BIAS,
    FILL,
    GEMM,
    MAX,
    RELU_,
    SIGN,
    SUM_INT,
    Array,
    probes_of,
    product,
    product_of_one,
    refused,
    row_max,
    runner,
    vendor,
    vendor_max,
    verdict,
)
from numpy.lib.stride_tricks import as_strided

from assay.gate import (
    Admitted,
    Gate,
    Oracle,
    Recipe,
    Refused,
    examine,
    make_probes,
)
from assay.signature import check, describe, parse
from assay.testing import wrong


def test_a_reference_that_writes_its_inputs_leaves_the_probes_as_they_were() -> None:
    def body(x: Array) -> Array:
        x *= 2
        return x

    def doubled(x: Array, *, y: Array) -> None:
        np.add(x, x, out=y)

    for dtype in ("int64", "float64"):
        parsed = parse(f"forall N: Dim. (x: {dtype}[N]) -> (y: {dtype}[N])")
        probes = make_probes(parsed, "op", describe(parsed, "op", {"N": 50}), seed=7)
        oracle = Oracle(body, work=lambda call: 1 << 40)
        for _ in range(2):
            assert isinstance(examine(probes, oracle, runner(doubled), Gate(), label="k"), Admitted)


def test_nans_of_another_sign_are_the_same_result() -> None:
    signs = itertools.cycle((1.0, -1.0))

    def kernel(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)
        c[np.isnan(c)] = np.copysign(np.float32(np.nan), next(signs))

    assert isinstance(verdict(kernel), Admitted)


@pytest.mark.spec("A6", "A7")
def test_integers_are_compared_exactly_with_a_reference_that_does_not_overflow() -> None:
    def body(x: Array) -> Array:
        return cast("Array", np.sum(x, axis=1, dtype=x.dtype))

    def right(x: Array, *, y: Array) -> None:
        y[...] = np.sum(x, axis=1, dtype=np.int32)

    def narrow(x: Array, *, y: Array) -> None:
        y[...] = np.sum(x, axis=1, dtype=np.int8)

    def hundreds(rng: np.random.Generator, M: int, N: int) -> dict[str, object]:
        return {"x": np.full((M, N), 100, np.int8)}

    recipe = Recipe(maker=hundreds)
    shape = {"M": 4, "N": 9}
    found = verdict(right, body, SUM_INT, shape, recipe=recipe)
    assert isinstance(found, Admitted)
    assert found.precision == "int64"
    # 9 * 100 = 900 = 3 * 256 + 132, and 132 - 256 = -124 in eight bits.
    assert "y[0] is -124, reference 900, exact" in refused(verdict(narrow, body, SUM_INT, shape, recipe=recipe)).reason


def test_the_verdict_says_what_the_reference_was_computed_in() -> None:
    honest = wrong.honest(vendor)
    for dtype, precision in (("float32", "float64"), ("float64", "longdouble")):
        found = verdict(honest, shape={"M": 8, "N": 8, "K": 8, "T": dtype})
        assert isinstance(found, Admitted)
        assert found.precision == precision
    work = Oracle(product, work=lambda call: 1 << 40)
    probes = probes_of(GEMM, {"M": 8, "N": 8, "K": 8, "T": "float64"})
    costly = examine(probes, work, runner(honest), Gate(), label="k")
    assert isinstance(costly, Admitted)
    assert costly.precision == "float64"


def test_a_reference_that_knows_no_longdouble_is_asked_in_float64() -> None:
    def body(a: Array, b: Array) -> Array:
        if a.dtype == np.longdouble:
            raise TypeError("no longdouble")
        return a @ b

    found = verdict(wrong.honest(vendor), body, shape={"M": 8, "N": 8, "K": 8, "T": "float64"})
    assert isinstance(found, Admitted)
    assert found.precision == "float64"


def test_references_are_computed_once_and_shared_by_entrants_and_layouts() -> None:
    asked: list[tuple[int, ...]] = []

    def body(a: Array, b: Array) -> Array:
        asked.append(a.shape)
        return a @ b

    probes, oracle = probes_of(GEMM, {"M": 32, "N": 16, "K": 8}), Oracle(body)
    verdicts = [examine(probes, oracle, runner(wrong.honest(vendor)), Gate(), label="k") for _ in range(3)]
    assert all(isinstance(found, Admitted) for found in verdicts)
    layouts = {probe.name for probe in probes.probes if probe.layout}
    names = {probe.name for probe in probes.probes}
    assert {"padded", "transposed", "strided", "reversed", "offset", "offset a"} <= layouts
    # The value and the magnitude, for every probe that has values of its own.
    assert len(asked) == 2 * len(names - layouts)


def test_a_probe_without_a_reference_is_noted_and_the_own_shape_without_one_is_refused() -> None:
    def no_odd(a: Array, b: Array) -> Array:
        if a.shape[0] % 2:
            raise ValueError("odd")
        return a @ b

    found = verdict(wrong.honest(vendor), no_odd)
    assert isinstance(found, Admitted)
    assert "ragged 1: the reference raised ValueError: odd" in found.notes
    assert (
        "nothing says what is right"
        in refused(verdict(wrong.honest(vendor), no_odd, shape={"M": 3, "N": 4, "K": 5})).reason
    )


def test_a_reference_of_the_wrong_shape_is_said_so() -> None:
    def body(a: Array, b: Array) -> Array:
        return (a @ b).T

    assert "returned (16, 32) for c, the signature says (32, 16)" in refused(verdict(wrong.honest(vendor), body)).reason


def test_empty_sizes_are_judged_without_a_crash() -> None:
    found = verdict(wrong.honest(vendor), shape={"M": 4, "N": 3, "K": 0})
    assert isinstance(found, Admitted), found
    assert isinstance(verdict(wrong.honest(vendor), shape={"M": 0, "N": 3, "K": 2}), Admitted)
    zeros = {"M": 2, "N": 0}
    assert "nothing says" in refused(verdict(wrong.honest(vendor_max), row_max, MAX, zeros)).reason


@pytest.mark.spec("M21")
def test_an_output_in_an_inputs_memory_is_judged_there() -> None:
    def body(x: Array) -> Array:
        return np.maximum(x, 0)

    def right(x: Array, *, y: Array) -> None:
        assert np.shares_memory(x, y)
        np.maximum(x, 0, out=y)

    def idle(x: Array, *, y: Array) -> None:
        pass

    assert isinstance(verdict(right, body, RELU_, {"N": 50}), Admitted)
    assert refused(verdict(idle, body, RELU_, {"N": 50})).output == "y"


@pytest.mark.spec("A11")
def test_what_is_left_unwritten_is_seen_in_booleans_integers_and_write_only_inputs() -> None:
    def sign(x: Array) -> Array:
        return x > 0

    def sign_half(x: Array, *, y: Array) -> None:
        y[: x.size // 2] = x[: x.size // 2] > 0

    def total(x: Array) -> Array:
        return cast("Array", np.sum(x, axis=1))

    def total_but_last(x: Array, *, y: Array) -> None:
        y[:-1] = np.sum(x, axis=1)[:-1]

    def fill(x: Array, y: Array) -> Array:
        y[...] = 2 * x
        return cast("Array", np.sum(x))

    def fill_but_last(x: Array, y: Array, *, s: Array) -> None:
        y[:-1] = 2 * x[:-1]
        s[...] = np.sum(x)

    assert "did not write 25 of 50 elements of y" in refused(verdict(sign_half, sign, SIGN, {"N": 50})).reason
    assert refused(verdict(total_but_last, total, SUM_INT, {"M": 4, "N": 3})).index == (3,)
    found = refused(verdict(fill_but_last, fill, FILL, {"N": 50}))
    assert (found.output, found.index) == ("y", (49,))
    assert "did not write 1 of 50 elements of y" in found.reason


def test_an_optional_input_is_absent_or_present_in_every_probe_as_in_the_call() -> None:
    def body(x: Array, b: Array | None, by: float) -> Array:
        return x * by if b is None else x * by + b

    present: set[bool] = set()

    def kernel(x: Array, b: Array | None, by: float, *, y: Array) -> None:
        present.add(b is not None)
        np.multiply(x, np.float32(by), out=y)
        if b is not None:
            y += b

    def forgets(x: Array, b: Array | None, by: float, *, y: Array) -> None:
        np.multiply(x, np.float32(by), out=y)

    without: dict[str, int | str | float] = {"N": 50, "by": 2.0}
    for shape in (without, {**without, "b": True}):
        present.clear()
        found = verdict(kernel, body, BIAS, shape)
        assert isinstance(found, Admitted)
        assert "ragged 1" in found.probes
        assert present == {"b" in shape}
    assert isinstance(verdict(forgets, body, BIAS, without), Admitted)
    assert isinstance(verdict(forgets, body, BIAS, {**without, "b": True}), Refused)


def test_an_out_with_gaps_is_written_where_it_lies_and_nowhere_else() -> None:
    parsed = parse(GEMM)
    out = np.zeros((4, 10), np.float32)[:, ::2]
    given = {"a": np.ones((4, 3), np.float32), "b": np.ones((3, 5), np.float32), "c": out}
    probes = make_probes(parsed, "gemm", check(parsed, "gemm", given), seed=1)

    def into_gaps(a: Array, b: Array, *, c: Array) -> None:
        c[...] = a @ b
        as_strided(c, (4, 9), (c.strides[0], c.itemsize))[0, 1] = 0.0

    honest = examine(probes, Oracle(product), runner(wrong.honest(vendor)), Gate(), label="k")
    assert isinstance(honest, Admitted), honest
    assert "wrote outside c" in refused(examine(probes, Oracle(product), runner(into_gaps), Gate(), label="k")).reason


def test_several_results_are_each_judged() -> None:
    text = "forall N: Dim. (x: float32[N]) -> (y: float32[N], z: float32[N])"

    def body(x: Array) -> tuple[Array, Array]:
        return x + x, -x

    def swapped(x: Array, *, y: Array, z: Array) -> None:
        y[...], z[...] = x + x, x

    def right(x: Array, *, y: Array, z: Array) -> None:
        y[...], z[...] = x + x, -x

    assert isinstance(verdict(right, body, text, {"N": 9}), Admitted)
    assert refused(verdict(swapped, body, text, {"N": 9})).output == "z"
    said = refused(verdict(right, product_of_one, text, {"N": 9})).reason
    assert "the reference returned 1 results, the signature has 2" in said
