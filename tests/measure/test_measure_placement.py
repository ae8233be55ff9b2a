import mmap
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.array import view
from assay.measure import Placements

A = np.arange(600.0).reshape(20, 30)
B = np.arange(300, dtype=np.float32).reshape(30, 10)
C = np.zeros((20, 10))


def values(array: object) -> npt.NDArray[np.float64]:
    assert isinstance(array, np.ndarray)
    return cast("npt.NDArray[np.float64]", array)


def address(array: object) -> int:
    seen = view(array)
    assert seen is not None
    return seen.pointer


def placed(seed: int = 0, count: int = 8) -> Placements:
    return Placements({"a": A, "b": B, "eps": 0.5}, {"c": C}, seed=seed, count=count)


@pytest.mark.spec("X7")
def test_offsets_vary_within_the_page_and_within_the_cache_line() -> None:
    sets = placed().sets
    assert len(sets) == 8
    for name in ("a", "b", "c"):
        offsets = [chosen.offsets[name] for chosen in sets]
        assert len({offset // (mmap.PAGESIZE // 8) for offset in offsets}) == 8, "one in every eighth of the page"
        assert len({offset % 64 for offset in offsets}) > 1


@pytest.mark.spec("X7")
def test_offsets_of_two_arrays_relative_to_each_other_vary() -> None:
    relative = {(chosen.offsets["a"] - chosen.offsets["b"]) % mmap.PAGESIZE for chosen in placed().sets}
    assert len(relative) >= 6
    assert relative != {0}, "the trap: buffers that all start at a page"


@pytest.mark.spec("X7")
def test_arrays_lie_where_their_offsets_say() -> None:
    for chosen in placed().sets:
        for name in ("a", "b"):
            assert address(chosen.inputs[name]) % mmap.PAGESIZE == chosen.offsets[name]
        assert address(chosen.outputs["c"]) % mmap.PAGESIZE == chosen.offsets["c"]


@pytest.mark.spec("X7")
def test_offsets_are_drawn_from_the_seed() -> None:
    def offsets(seed: int) -> list[dict[str, int]]:
        return [dict(chosen.offsets) for chosen in placed(seed).sets]

    assert offsets(3) == offsets(3)
    assert offsets(3) != offsets(4)


def test_every_set_holds_the_same_values_and_passes_other_values_as_they_are() -> None:
    for chosen in placed().sets:
        assert np.array_equal(np.asarray(chosen.inputs["a"]), A)
        assert np.array_equal(np.asarray(chosen.inputs["b"]), B)
        assert chosen.inputs["eps"] == 0.5


@pytest.mark.spec("X7")
def test_what_a_call_changed_is_put_back_and_the_given_array_is_never_touched() -> None:
    x = np.array([3.0, 1.0, 2.0])
    placements = Placements({"x": x}, {}, mutated=("x",), count=2)
    chosen = placements.sets[1]
    inside = values(chosen.inputs["x"])
    inside.sort()
    assert np.array_equal(inside, [1.0, 2.0, 3.0])
    chosen.restore()
    assert np.array_equal(inside, [3.0, 1.0, 2.0])
    assert np.array_equal(x, [3.0, 1.0, 2.0])
    assert placements.mutates


def test_past_the_limit_there_are_fewer_sets_and_at_least_one() -> None:
    each = A.nbytes + B.nbytes + C.nbytes + 3 * mmap.PAGESIZE
    arrays = {"a": A, "b": B}
    assert len(Placements(arrays, {"c": C}, limit_bytes=3 * each).sets) == 3
    assert len(Placements(arrays, {"c": C}, limit_bytes=1).sets) == 1


@pytest.mark.parametrize(
    "array",
    [A.T, A[::2, 3:9], A[::-1], np.broadcast_to(A[0], (5, 30)), np.empty((0, 4)), np.array(3.0)],
    ids=["transposed", "strided", "backwards", "broadcast", "empty", "no axes"],
)
def test_layouts_are_kept(array: npt.NDArray[np.float64]) -> None:
    (chosen,) = Placements({"x": array}, {}, count=1).sets
    copy = values(chosen.inputs["x"])
    assert copy.strides == array.strides
    assert np.array_equal(copy, array)
    assert not np.shares_memory(copy, array)
    if array.size:
        assert address(copy) % mmap.PAGESIZE == chosen.offsets["x"]


@given(st.integers(0, 2**31), st.integers(1, 16))
def test_every_offset_keeps_an_allocators_promise(seed: int, count: int) -> None:
    sets = Placements({"b": B}, {"c": C}, seed=seed, count=count).sets
    assert len(sets) == count
    assert all(0 <= offset < mmap.PAGESIZE and offset % 16 == 0 for one in sets for offset in one.offsets.values())
