"""Which inputs an entrant is asked about."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import CallError
from assay.gate import Probes, Recipe, make_probes
from assay.gate.ragged import adjacent, bucket, drawn
from assay.signature import describe, parse

Array = npt.NDArray[Any]
GEMM = "forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])"
GATHER = "forall N, D: Dim. (x: float32[N, D], metadata at: int64[N]) -> (y: float32[N, D])"


def _probes(text: str, shape: dict[str, object], recipe: Recipe | None = None, seed: int = 1) -> Probes:
    signature = parse(text)
    return make_probes(signature, "op", describe(signature, "op", shape), seed=seed, recipe=recipe)


def _sizes(probes: Probes) -> dict[str, tuple[object, ...]]:
    return {
        probe.name: tuple(size for size in probe.call.record.indices.values() if isinstance(size, int | tuple))
        for probe in probes.probes
    }


@given(size=st.integers(1, 1 << 40), seed=st.integers(0, 100))
def test_neighbours_stay_in_the_bucket_and_differ_where_they_can(size: int, seed: int) -> None:
    if size > 1 << 16:
        size = 1 << (size.bit_length() % 16)
    low, top = bucket(size)
    assert low <= size <= top <= 2 * low
    for near in (adjacent(size), drawn(size, np.random.default_rng(seed))):
        assert low <= near <= top
        assert (near == size) == (low == top)
        assert near <= size + 64


@pytest.mark.spec("A6")
def test_the_probes_are_the_call_its_extremes_its_layouts_and_its_ragged_neighbours() -> None:
    found = _sizes(_probes(GEMM, {"M": 256, "N": 64, "K": 32, "T": "float32"}))
    own = (256, 64, 32)
    assert list(found)[:8] == ["shape", "nan", "infinite", "large", "padded", "padded a", "padded b", "padded c"]
    assert {"transposed", "strided", "strided c", "reversed", "reversed a", "offset", "offset b"} <= set(found)
    assert all(found[name] == own for name in found if not name.startswith("ragged"))
    assert found["ragged 1"] == (255, 63, 31)
    for size, (low, top) in zip(
        cast("tuple[int, ...]", found["ragged 2"]), ((129, 255), (33, 63), (17, 31)), strict=True
    ):
        assert low <= size <= top
        assert size % 2 == 1
    assert found["ragged K"] == (256, 64, 31)


def test_equal_seeds_give_equal_probes_and_others_differ() -> None:
    shape: dict[str, object] = {"M": 9, "N": 5, "K": 3, "T": "float32"}
    one, same, other = (_probes(GEMM, shape, seed=seed) for seed in (1, 1, 2))
    for first, second in zip(one.probes, same.probes, strict=True):
        for name in first.inputs:
            assert np.array_equal(cast("Array", first.inputs[name]), cast("Array", second.inputs[name]), equal_nan=True)
    assert not np.array_equal(cast("Array", one.probes[0].inputs["a"]), cast("Array", other.probes[0].inputs["a"]))


@pytest.mark.spec("A6")
def test_extreme_probes_hold_what_they_say() -> None:
    found = {probe.name: probe.inputs for probe in _probes(GEMM, {"M": 8, "N": 8, "K": 8, "T": "float32"}).probes}
    own = cast("Array", found["shape"]["a"])
    assert np.isfinite(own).all()
    assert np.isnan(cast("Array", found["nan"]["a"])).sum() == 1
    infinite = cast("Array", found["infinite"]["b"])
    assert (np.sum(infinite == np.inf), np.sum(infinite == -np.inf)) == (1, 1)
    assert np.array_equal(cast("Array", found["large"]["a"]), own * np.float32(1e4))


@pytest.mark.spec("C40")
def test_integer_metadata_without_a_maker_names_the_input_and_comes_from_maker_or_call() -> None:
    shape: dict[str, object] = {"N": 8, "D": 4}
    with pytest.raises(CallError, match="at"):
        _probes(GATHER, shape)

    def maker(rng: np.random.Generator, N: int, D: int) -> tuple[Array, Array]:
        return rng.standard_normal((N, D)).astype(np.float32), rng.integers(0, N, N)

    made = _probes(GATHER, shape, Recipe(maker=maker))
    ragged = next(probe for probe in made.probes if probe.name == "ragged 1")
    assert int(cast("Array", ragged.inputs["at"]).max()) < 7

    own = {"x": np.ones((8, 4), np.float32), "at": np.arange(8)[::-1]}
    given_ones = _probes(GATHER, shape, Recipe(given=own))
    assert all(np.array_equal(cast("Array", probe.inputs["at"]), own["at"]) for probe in given_ones.probes)
    assert any(note.startswith("ragged 1: ") and "at" in note for note in given_ones.notes)
    assert given_ones.probes[0].inputs["x"] is not own["x"]


@pytest.mark.spec("A6")
def test_an_op_may_add_probes() -> None:
    def all_ones(rng: np.random.Generator, M: int, N: int, K: int, T: object) -> dict[str, Array]:
        return {"a": np.ones((M, K), np.float32), "b": np.ones((K, N), np.float32)}

    found = _probes(GEMM, {"M": 4, "N": 4, "K": 4, "T": "float32"}, Recipe(extra=(all_ones,)))
    added = next(probe for probe in found.probes if probe.name == "all_ones")
    assert np.array_equal(cast("Array", added.inputs["a"]), np.ones((4, 4)))


def test_where_a_predicate_forbids_a_neighbour_the_other_dimensions_still_move() -> None:
    text = f"{GEMM} where N % 8 == 0"
    found = _probes(text, {"M": 32, "N": 64, "K": 16, "T": "float32"})
    sizes = _sizes(found)
    assert sizes["ragged 1"] == (31, 64, 15)
    assert "ragged N" not in sizes
    assert any(note.startswith("ragged N: ") for note in found.notes)


def test_costly_calls_get_fewer_ragged_probes_and_never_none() -> None:
    cheap = set(_sizes(_probes(GEMM, {"M": 64, "N": 64, "K": 64, "T": "float32"})))
    costly = set(_sizes(_probes(GEMM, {"M": 4096, "N": 1024, "K": 1024, "T": "float32"})))
    assert {"ragged 1", "ragged 2", "ragged M", "ragged N", "ragged K"} <= cheap
    assert {"ragged 1", "ragged 2"} <= costly
    assert not {"ragged M", "ragged N", "ragged K"} & costly


@pytest.mark.parametrize(
    ("dtype", "peak", "most"), [("float32", 3.0, 3e4), ("float32", 3e38, 3e38), ("float32", 1e6, 1e8)]
)
def test_values_are_enlarged_as_far_as_products_of_them_stay_finite(dtype: str, peak: float, most: float) -> None:
    x = np.array([0.0, 1.0, -peak], dtype)
    signature = parse("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    call = describe(signature, "op", {"N": 3})
    found = make_probes(signature, "op", call, seed=1, recipe=Recipe(given={"x": x}))
    large = next(probe for probe in found.probes if probe.name == "large")
    assert np.abs(cast("Array", large.inputs["x"])).max() == pytest.approx(most, rel=1e-5)


@pytest.mark.parametrize("broken", ["raises", "returns nothing"])
def test_a_probe_of_the_op_that_cannot_be_made_is_an_error_and_not_left_out(broken: str) -> None:
    def near_singular(rng: np.random.Generator, N: int) -> None:
        del rng, N
        if broken == "raises":
            raise KeyError("T")

    with pytest.raises(CallError, match="op: probe near_singular"):
        _probes("forall N: Dim. (x: float32[N]) -> (y: float32[N])", {"N": 3}, Recipe(extra=(near_singular,)))
