"""Softmax as it is declared: its reference, also where values are not finite, and its gate. Nothing is compiled."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.gate import Admitted, Refused
from assay.kernel import Entrant, Place
from assay.kernel.setting import Setting
from assay.ops import Op
from assay.tuning import Shop
from assay.zoo import softmax

Array = np.ndarray[Any, np.dtype[Any]]

INF, NAN = float("inf"), float("nan")


def reference(x: Array) -> Array:
    body = softmax.declaration.reference
    assert body is not None
    return np.asarray(body(x))


def verdict(op: Op, entrant: str, shape: dict[str, object], folder: Path) -> object:
    shop = Shop(op.declaration, op.describe(shape), device={}, place=Place(folder))
    return shop.judge(Entrant(entrant, Setting.of(())))


def test_a_row_whose_elements_are_logarithms_comes_out_in_their_proportion() -> None:
    # e^0 : e^ln2 : e^ln5 = 1 : 2 : 5, which sum to 8
    row = np.log(np.array([[1.0, 2.0, 5.0]]))
    assert reference(row) == pytest.approx(np.array([[1 / 8, 2 / 8, 5 / 8]]), rel=1e-15)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0.0, -INF, 0.0], [0.5, 0.0, 0.5]),
        ([-INF, -INF, -INF], [NAN, NAN, NAN]),
        ([0.0, INF, 0.0], [NAN, NAN, NAN]),
        ([0.0, NAN, 0.0], [NAN, NAN, NAN]),
        ([1e30, 1e30, -1e30], [0.5, 0.5, 0.0]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_not_finite_or_far_apart_is_as_the_formula_has_it(
    row: list[float], expected: list[float], dtype: str
) -> None:
    x = np.array([[0.0, 0.0, 0.0], row], dtype)
    answer = np.empty_like(x)
    softmax.at("numpy")(x, out=answer)
    for seen in (reference(x), answer):
        assert np.array_equal(seen[1], np.array(expected, dtype), equal_nan=True)
        assert np.allclose(seen[0], 1 / 3)


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=20), st.floats(-300, 300))
@settings(max_examples=50, deadline=None)
def test_a_row_sums_to_one_and_a_shift_changes_nothing(row: list[float], by: float) -> None:
    x = np.array([row])
    assert reference(x).sum() == pytest.approx(1, rel=1e-14)
    assert reference(x + by) == pytest.approx(reference(x), rel=1e-12, abs=1e-300)


@pytest.mark.spec("A7")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numpys_passes_pass_the_shipped_gate(dtype: str, tmp_path: Path) -> None:
    assert isinstance(verdict(softmax, "numpy", {"B": (3, 5), "N": 130, "T": dtype}, tmp_path), Admitted)


@pytest.mark.spec("A6")
def test_a_softmax_that_does_not_take_the_greatest_away_is_refused_on_large_values(tmp_path: Path) -> None:
    def overflowing(x: Array, *, y: Array) -> None:
        with np.errstate(all="ignore"):
            np.exp(x, out=y)
            np.divide(y, y.sum(axis=-1, keepdims=True), out=y)

    x = np.random.default_rng(0).standard_normal((4, 9))
    y = np.empty_like(x)
    overflowing(x, y=y)
    assert np.allclose(y, reference(x), rtol=1e-14)  # the trap: right on ordinary values

    op = Op(softmax.declaration)
    op.kernel(name="overflowing")(overflowing)
    refused = verdict(op, "overflowing", {"B": (4,), "N": 9, "T": "float64"}, tmp_path)
    assert isinstance(refused, Refused)
    assert refused.probe in {"infinite", "large"}


def test_a_short_exponential_does_not_pass_the_shipped_gate(tmp_path: Path) -> None:
    def short(x: Array, *, y: Array) -> None:
        distance = x - x.max(axis=-1, keepdims=True, initial=-np.inf)
        with np.errstate(all="ignore"):
            # Four terms of the series after halving eight times: off by (d/256)**4 / 24 * 256, 1e-5 at d = 4.6.
            part = distance / np.float32(256)
            y[:] = (1 + part * (1 + part * (np.float32(0.5) + part / 6))) ** 256
            y /= y.sum(axis=-1, keepdims=True)

    op = Op(softmax.declaration)
    op.kernel(name="short")(short)
    assert isinstance(verdict(op, "short", {"B": (40,), "N": 64, "T": "float32"}, tmp_path), Refused)


def test_the_space_of_the_kernel_in_c_is_tried_exhaustively() -> None:
    candidate = softmax.declaration.candidate("rows")
    assert candidate is not None
    space = candidate.kernel.space(softmax.describe(softmax.shapes[0]).facts({}))
    # ROWS and UNROLL in 1, 2, 4 make 9 pairs, less the one of 16 vectors in flight; each in 3 widths.
    assert len(list(space)) == 8 * 3
    assert candidate.kernel.default in space


def test_each_of_the_shapes_to_tune_is_a_call_of_the_op() -> None:
    sizes = [softmax.describe(shape).views["x"].shape for shape in softmax.shapes]
    assert sizes == [(12, 128, 128), (1, 49152), (6, 1, 1500)]
