from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ProfileError
from assay.store import Dimension, Entry, Profile, Value

SHAPE: dict[str, Dimension] = {"M": 256, "N": 256, "K": 512, "T": "float32"}


def profile(*entries: Entry) -> Profile:
    made = Profile("sample-device")
    for entry in entries:
        made = made.with_entry(entry)
    return made


def texts(*entries: Entry) -> set[str]:
    return {str(entry) for entry in entries}


def tiled(when: dict[str, Dimension], *, op: str = "gemm", choose: bool = False, **setting: Value) -> Entry:
    return Entry(op, "tiled", when, setting, choose)


@pytest.mark.spec("M32")
def test_an_unnamed_dimension_matches_any_and_a_named_one_its_value_alone() -> None:
    made = profile(tiled({"M": 256}, MR=8))
    assert made.resolve("gemm", SHAPE).settings == {"tiled": {"MR": 8}}
    assert made.resolve("gemm", {**SHAPE, "N": 7}).settings == {"tiled": {"MR": 8}}
    assert made.resolve("gemm", {**SHAPE, "M": 255}).settings == {}
    assert made.resolve("softmax", SHAPE).settings == {}


@pytest.mark.spec("M32")
def test_the_entry_that_names_most_wins_tunable_by_tunable() -> None:
    made = profile(
        tiled({}, MR=1, NR=1, KU=1),
        tiled({"M": 256, "N": 256, "T": "float32"}, MR=4),
        tiled({"M": 256}, MR=2, NR=2),
    )
    found = made.resolve("gemm", SHAPE)
    assert found.settings == {"tiled": {"MR": 4, "NR": 2, "KU": 1}}
    assert [len(entry.when) for entry in found.entries] == [3, 1, 0]
    assert made.resolve("gemm", {**SHAPE, "T": "float64"}).settings == {"tiled": {"MR": 2, "NR": 2, "KU": 1}}


@pytest.mark.spec("M32")
def test_the_kernel_to_run_is_the_one_the_most_specific_choosing_entry_names() -> None:
    made = profile(
        Entry("gemm", "numpy", {}, {}, choose=True),
        tiled({"M": 256}, MR=8, choose=True),
        Entry("gemm", "numba", {"M": 256, "N": 256}, {"tile": 32}),
    )
    assert made.resolve("gemm", SHAPE).choose == "tiled"
    assert made.resolve("gemm", {**SHAPE, "M": 8}).choose == "numpy"
    assert made.resolve("gemm", SHAPE).settings == {"tiled": {"MR": 8}, "numba": {"tile": 32}, "numpy": {}}
    assert profile(tiled({}, MR=8)).resolve("gemm", SHAPE).choose is None


@pytest.mark.spec("M32")
def test_equal_rank_with_different_values_raises_and_names_both() -> None:
    one, other = tiled({"M": 256}, MR=4), tiled({"N": 256}, MR=8)
    with pytest.raises(ProfileError) as caught:
        profile(one, other)
    assert "two entries of equal rank set tiled.MR to 4 and 8" in str(caught.value)
    assert str(one) in str(caught.value)
    assert str(other) in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.spec("M32")
def test_equal_rank_choosing_different_kernels_raises_and_names_both() -> None:
    with pytest.raises(ProfileError, match=r"two entries of equal rank choose (tiled and numpy|numpy and tiled)"):
        profile(tiled({"M": 256}, MR=4, choose=True), Entry("gemm", "numpy", {"K": 512}, {}, choose=True))


@pytest.mark.parametrize(
    "others",
    [
        (tiled({"M": 256}, MR=4), tiled({"N": 256}, MR=4)),
        (tiled({"M": 256}, MR=4), tiled({"N": 256}, NR=8)),
        (tiled({"M": 256}, MR=4), tiled({"M": 128}, MR=8)),
        (tiled({"M": 256, "N": 1}, MR=4), tiled({"M": 128, "K": 1}, MR=8)),
        (tiled({"M": 256}, MR=4), tiled({"M": 256, "N": 256}, MR=8)),
        (tiled({"M": 256}, MR=4), Entry("gemm", "numba", {"N": 256}, {"MR": 8})),
        (tiled({"M": 256}, MR=4), tiled({"N": 256}, op="other", MR=8)),
        (tiled({"causal": True}, MR=4), tiled({"causal": 1}, MR=8)),
    ],
)
def test_entries_that_agree_never_meet_or_differ_in_rank_do_not_contradict(others: tuple[Entry, Entry]) -> None:
    assert len(profile(*others).entries) == 2


def test_an_entry_that_outranks_both_wherever_they_meet_settles_it() -> None:
    both = tiled({"M": 256, "N": 256}, MR=16)
    made = profile(both, tiled({"M": 256}, MR=4), tiled({"N": 256}, MR=8))
    assert made.resolve("gemm", SHAPE).settings == {"tiled": {"MR": 16}}
    with pytest.raises(ProfileError, match="equal rank"):
        profile(tiled({"M": 256, "N": 256}, NR=16), tiled({"M": 256}, MR=4), tiled({"N": 256}, MR=8))
    with pytest.raises(ProfileError, match="equal rank"):
        profile(tiled({"M": 256, "K": 1}, MR=16), tiled({"M": 256}, MR=4), tiled({"N": 256}, MR=8))


@pytest.mark.spec("M32")
def test_a_base_op_s_entry_covers_its_subclasses_and_yields_to_their_own() -> None:
    made = profile(
        Entry("norm", "rows", {"N": 64}, {"unroll": 2, "width": 4}), Entry("rmsnorm", "rows", {"N": 64}, {"unroll": 8})
    )
    assert made.resolve(("rmsnorm", "norm"), {"N": 64}).settings == {"rows": {"unroll": 8, "width": 4}}
    assert made.resolve("norm", {"N": 64}).settings == {"rows": {"unroll": 2, "width": 4}}
    assert made.resolve(("layernorm", "norm"), {"N": 64}).settings == {"rows": {"unroll": 2, "width": 4}}


def test_every_kind_of_dimension_can_be_named() -> None:
    when: dict[str, Dimension] = {"M": 8, "T": "float32", "B": (2, 3), "causal": True, "eps": 1e-5}
    made = profile(tiled(when, MR=8))
    assert made.resolve("gemm", when).settings == {"tiled": {"MR": 8}}
    for name, other in {"M": 9, "T": "float64", "B": (3, 2), "causal": 1, "eps": 1e-6}.items():
        assert made.resolve("gemm", {**when, name: other}).settings == {}


@pytest.mark.spec("M34")
def test_tuning_names_every_dimension_that_is_off_or_without_a_default() -> None:
    dims: dict[str, Dimension] = {**SHAPE, "trans_b": False, "alpha": 2.0}
    made = profile().with_tuned(
        "gemm", "tiled", dims, {"MR": 8}, choose=True, defaults={"trans_b": False, "alpha": 1.0}
    )
    assert made.entries == (tiled({**SHAPE, "alpha": 2.0}, MR=8, choose=True),)


@pytest.mark.spec("M34")
def test_tuning_names_what_a_covering_entry_names_so_that_it_outranks_it() -> None:
    broad = Entry("gemm", "numpy", {"trans_b": False, "M": 256, "N": 256, "K": 512, "T": "float32"}, {}, choose=True)
    made = profile(broad).with_tuned(
        "gemm", "tiled", {**SHAPE, "trans_b": False}, {"MR": 8}, choose=True, defaults={"trans_b": False}
    )
    assert made.resolve("gemm", {**SHAPE, "trans_b": False}).choose == "tiled"


@pytest.mark.spec("M34")
def test_tuning_keeps_what_covering_entries_set_that_the_search_did_not_move_the_most_specific_first() -> None:
    broad, near = tiled({}, MR=1, NR=1, KU=1), tiled({"M": 256}, MR=2, NR=2)
    made = profile(broad, near).with_tuned("gemm", "tiled", SHAPE, {"MR": 8}, choose=False)
    assert tiled(SHAPE, MR=8, NR=2, KU=1) in made.entries
    assert texts(broad, near) <= texts(*made.entries), "broader ones stay for the shapes that were not tuned"


@pytest.mark.spec("M34")
def test_an_entry_with_the_same_dimensions_is_replaced_also_when_another_kernel_wins() -> None:
    elsewhere = tiled({**SHAPE, "M": 8}, MR=2, choose=True)
    first = profile(elsewhere).with_tuned("gemm", "tiled", SHAPE, {"MR": 4}, choose=True)
    again = first.with_tuned("gemm", "tiled", SHAPE, {"MR": 8}, choose=True)
    assert texts(*again.entries) == texts(elsewhere, tiled(SHAPE, MR=8, choose=True))
    moved = again.with_tuned("gemm", "numba", SHAPE, {"tile": 32}, choose=True)
    assert texts(*moved.entries) == texts(elsewhere, Entry("gemm", "numba", SHAPE, {"tile": 32}, choose=True))


def test_tuning_one_kernel_alone_leaves_the_choice_as_it_was() -> None:
    chosen = profile(tiled(SHAPE, MR=4, choose=True))
    assert chosen.with_tuned("gemm", "tiled", SHAPE, {"MR": 8}, choose=False).entries == (
        tiled(SHAPE, MR=8, choose=True),
    )
    beside = chosen.with_tuned("gemm", "numba", SHAPE, {"tile": 8}, choose=False)
    assert beside.resolve("gemm", SHAPE).choose == "tiled"


@pytest.mark.spec("M35")
def test_the_same_tune_again_is_the_same_profile() -> None:
    once = profile(tiled({}, MR=1, KU=2)).with_tuned("gemm", "tiled", SHAPE, {"MR": 8}, choose=True)
    assert once.with_tuned("gemm", "tiled", SHAPE, {"MR": 8}, choose=True) is once


def test_infinity_among_the_dimensions_is_written_and_matched_by_its_name() -> None:
    made = profile().with_tuned("mask", "rows", {"fill": float("-inf")}, {"unroll": 2}, choose=True)
    assert made.entries[0].when == {"fill": "-inf"}
    assert made.resolve("mask", {"fill": float("-inf")}).choose == "rows"


dims = st.fixed_dictionaries(
    {"M": st.sampled_from([1, 2]), "N": st.sampled_from([1, 2]), "T": st.sampled_from(["float32", "float64"])}
)
broader = st.lists(
    st.tuples(st.sets(st.sampled_from(["M", "N", "T"])), dims, st.sampled_from([4, 8]), st.booleans()), max_size=3
)
tunes = st.lists(st.tuples(dims, st.sampled_from(["tiled", "numba"]), st.sampled_from([1, 2, 3])), max_size=5)


@pytest.mark.spec("M36", "M34")
@given(broader, tunes)
def test_a_reloaded_profile_resolves_each_tuned_shape_to_its_winner(
    tmp_path_factory: pytest.TempPathFactory,
    entries: list[tuple[set[str], dict[str, Dimension], int, bool]],
    tuned: list[tuple[dict[str, Dimension], str, int]],
) -> None:
    made = profile()
    for names, values, value, choose in entries:
        try:
            made = made.with_entry(tiled({name: values[name] for name in sorted(names)}, MR=value, choose=choose))
        except ProfileError:
            continue
    winners: dict[tuple[tuple[str, Dimension], ...], tuple[dict[str, Dimension], str, int]] = {}
    for shape, kernel, value in tuned:
        made = made.with_tuned("gemm", kernel, shape, {"MR": value}, choose=True)
        winners[tuple(sorted(shape.items()))] = (shape, kernel, value)
    path = tmp_path_factory.getbasetemp() / "reloaded.json"
    made.save(path)
    made = Profile.load(path)
    for shape, kernel, value in winners.values():
        found = made.resolve("gemm", shape)
        assert found.choose == kernel
        assert found.settings[kernel]["MR"] == value


@pytest.mark.parametrize("name", ["../evil", "a/b", ""])
@pytest.mark.spec("X31")
def test_a_device_s_name_never_leaves_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="a name is made of"):
        Profile.for_device(tmp_path, name)
