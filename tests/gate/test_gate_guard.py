"""Guarded arrays and layouts: where a probe's arrays lie, and what is seen of writes around them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from assay.array import ArrayView, planned_view, view
from assay.gate.guard import Guarded
from assay.gate.layout import padded, strided, strides_like, transposed


def _aligned(shape: tuple[int, ...], strides: tuple[int, ...], align: int) -> ArrayView:
    return ArrayView(shape, strides, "float32", 4, "cpu", align)


@given(
    shape=st.lists(st.integers(0, 5), max_size=3).map(tuple),
    align=st.sampled_from([4, 8, 16, 64, 256]),
    signs=st.lists(st.sampled_from([1, -1, 2]), min_size=3, max_size=3),
)
def test_an_array_lies_exactly_as_asked_and_no_better_aligned(
    shape: tuple[int, ...], align: int, signs: list[int]
) -> None:
    packed = planned_view(shape, "float32").strides
    wanted = _aligned(shape, tuple(step * sign for step, sign in zip(packed, signs, strict=False)), align)
    found = view(Guarded(wanted).array)
    assert found is not None
    assert (found.shape, found.dtype, found.align) == (wanted.shape, "float32", align)
    assert found.size == 0 or found.strides == wanted.strides


@pytest.mark.spec("A11")
@pytest.mark.parametrize(("step", "place"), [(4, 6), (-4, 1)])
def test_a_write_one_element_past_the_end_or_before_the_start_is_seen(step: int, place: int) -> None:
    held = Guarded(_aligned((2, 3), (3, 1), 16))
    held.write(np.ones((2, 3)))
    assert not held.touched_outside()
    as_strided(held.array, (place + 1,), (step,))[place] = 0.0
    assert np.array_equal(held.array, np.ones((2, 3)))
    assert held.touched_outside()


@pytest.mark.spec("A11")
def test_a_write_into_the_gap_between_rows_is_seen() -> None:
    held = Guarded(_aligned((2, 3), (5, 1), 16))
    held.write(np.ones((2, 3)))
    assert not held.touched_outside()
    as_strided(held.array, (8,), (4,))[3] = 0.0
    assert held.touched_outside()


def test_layouts_keep_the_shape_and_say_what_they_are() -> None:
    plain = planned_view((4, 6), "float32")
    assert padded(plain).strides == (14, 1)
    assert strided(plain).strides == (12, 2)
    assert transposed(plain).strides == (1, 4)
    assert strides_like(transposed(plain), (3, 5)) == (1, 3)
    assert strides_like(padded(plain), (3, 5)) == (13, 1)
    assert strides_like(strided(plain), (3, 5)) == (10, 2)
    assert strides_like(_aligned((4, 6), (-6, 1), 16), (3, 5)) == (-5, 1)
    assert strides_like(_aligned((4, 6), (0, 1), 16), (3, 5)) == (0, 1)
