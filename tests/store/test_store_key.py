import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import CallError, DeclarationError, StoreError
from assay.store import LEVELS, AnswerKey, Level, anchor, anchored, checksum, digest, plain, row_id, settled
from assay.testing.store import sample_key

levels = st.sampled_from(LEVELS)
sizes = st.integers(0, 2**40)
names = st.text("abMNK_", min_size=1, max_size=4)
values = st.one_of(st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.booleans(), st.text(max_size=6))


@st.composite
def keys(draw: st.DrawFn) -> AnswerKey:
    level = draw(levels)
    shape = st.one_of(sizes, st.lists(sizes, max_size=3).map(tuple))
    return AnswerKey(
        device=draw(st.text(max_size=6)),
        mode=draw(st.text(max_size=6)),
        target="cpu",
        op=draw(names),
        sizes=anchored(draw(st.dictionaries(names, shape, max_size=3)), level),
        dtypes=tuple(sorted(draw(st.dictionaries(names, st.text(max_size=4), max_size=2)).items())),
        branch=settled(draw(st.dictionaries(names, values, max_size=2))),
        scalars=settled(draw(st.dictionaries(names, values, max_size=2))),
        layout=settled(draw(st.dictionaries(names, values, max_size=2))),
        level=level,
    )


@pytest.mark.spec("R1")
@given(keys())
def test_a_key_is_the_same_in_memory_and_in_storage_field_for_field(key: AnswerKey) -> None:
    back = AnswerKey.parse(str(key))
    assert back == key
    assert hash(back) == hash(key)
    assert [type(value) for _, value in back.scalars] == [type(value) for _, value in key.scalars]
    assert "\n" not in str(key)


@pytest.mark.spec("R1")
@given(sizes, levels)
def test_rounding_a_size_up_is_idempotent_at_every_level(size: int, level: Level) -> None:
    assert anchor(size, level) >= size
    assert anchor(anchor(size, level), level) == anchor(size, level)


@pytest.mark.spec("R1")
@given(sizes, sizes, levels)
def test_a_larger_size_never_has_a_smaller_bucket(one: int, other: int, level: Level) -> None:
    low, high = sorted((one, other))
    assert anchor(low, level) <= anchor(high, level)


@pytest.mark.spec("R1")
@pytest.mark.parametrize("power", range(41))
def test_every_power_of_two_is_its_own_bucket_and_the_next_size_is_not(power: int) -> None:
    size = 1 << power
    assert anchor(size, "balanced") == anchor(size, "extensive") == anchor(size, "full") == size
    assert anchor(size, "minimal") == (size if power % 2 == 0 else 2 * size)
    if power > 0:
        assert anchor(size + 1, "balanced") == 2 * size


@pytest.mark.spec("A13")
def test_the_default_level_rounds_up_to_powers_of_two() -> None:
    assert [anchor(size) for size in (0, 1, 2, 3, 16, 17)] == [0, 1, 2, 4, 16, 32]


@pytest.mark.spec("R2")
def test_the_level_only_sets_how_coarse_the_buckets_are() -> None:
    # Steps between 16 and 64: 16, 64; 16, 32, 64; 16, 23, 32, 46, 64 (22.6 and 45.3 rounded up); every size.
    between = range(16, 65)
    steps = {level: sorted({anchor(size, level) for size in between}) for level in LEVELS}
    assert steps == {
        "minimal": [16, 64],
        "balanced": [16, 32, 64],
        "extensive": [16, 23, 32, 46, 64],
        "full": list(between),
    }


@pytest.mark.spec("R2")
def test_the_same_size_at_another_level_is_another_row() -> None:
    coarse, exact = (
        AnswerKey(device="d", mode="m", target="cpu", op="o", sizes=(("M", 64),), level=level)
        for level in ("balanced", "full")
    )
    assert coarse.sizes == exact.sizes
    assert coarse != exact
    assert row_id(coarse, "list") != row_id(exact, "list")


@pytest.mark.spec("A13")
@pytest.mark.parametrize("size", [-1, 2.0, True, "8", None])
def test_a_size_that_is_negative_or_no_integer_raises(size: object) -> None:
    with pytest.raises(CallError, match="expected an integer, 0 or more"):
        anchor(size)  # type: ignore[arg-type]


def test_a_level_that_does_not_exist_raises_and_lists_the_levels() -> None:
    with pytest.raises(CallError, match="minimal, balanced, extensive, full"):
        anchor(8, "fine")  # type: ignore[arg-type]


@pytest.mark.spec("A13")
def test_a_key_without_a_size_is_not_the_key_with_size_zero() -> None:
    without = AnswerKey(device="d", mode="m", target="cpu", op="o")
    zero = AnswerKey(device="d", mode="m", target="cpu", op="o", sizes=anchored({"M": 0}))
    assert without != zero
    assert row_id(without, "list") != row_id(zero, "list")


@pytest.mark.spec("A13")
def test_everything_in_a_key_splits_keys() -> None:
    fields: list[dict[str, object]] = [
        {"device": "other"},
        {"mode": "powersave"},
        {"target": "opencl"},
        {"op": "other"},
        {"sizes": (("M", 2),)},
        {"dtypes": (("T", "float64"),)},
        {"branch": (("causal", True),)},
        {"scalars": (("eps", 1e-5),)},
        {"layout": (("a.contiguous", False),)},
        {"level": "full"},
        {"timing": "event"},
    ]
    plainest: dict[str, object] = {"device": "d", "mode": "m", "target": "cpu", "op": "o"}
    made = [AnswerKey(**{**plainest, **more}) for more in ({}, *fields)]  # type: ignore[arg-type]
    assert len({row_id(key, "list") for key in made}) == len(made) == 12


def test_a_flag_and_the_number_it_equals_have_different_rows() -> None:
    one, true = (AnswerKey(device="d", mode="m", target="cpu", op="o", branch=(("x", value),)) for value in (1, True))
    assert one == true, "Python holds them equal"
    assert row_id(one, "list") != row_id(true, "list")


def test_infinity_in_a_scalar_is_kept_as_its_name() -> None:
    assert settled({"mask": float("-inf")}) == (("mask", "-inf"),)
    with pytest.raises(DeclarationError, match="mask is -inf"):
        AnswerKey(device="d", mode="m", target="cpu", op="o", scalars=(("mask", float("-inf")),))


def test_a_key_is_refused_when_it_is_not_in_its_one_form() -> None:
    with pytest.raises(DeclarationError, match="not rounded to balanced"):
        AnswerKey(device="d", mode="m", target="cpu", op="o", sizes=(("M", 17),))
    with pytest.raises(DeclarationError, match="'N' stands before 'M'"):
        AnswerKey(device="d", mode="m", target="cpu", op="o", sizes=(("N", 1), ("M", 1)))


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"device": 3}', "not json"])
def test_text_that_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(StoreError, match="is not one"):
        AnswerKey.parse(text)


def test_a_key_has_a_label_for_people() -> None:
    assert sample_key(200).label == "gemm K=256 M=256 N=256 T=float32 a.contiguous=true (performance)"


@pytest.mark.spec("R5")
def test_a_digest_puts_each_part_s_length_before_it() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert digest(["ab", "c"]) == hashlib.sha256(b"s2:abs1:c").hexdigest()
    assert digest([b"ab"]) != digest(["ab"])


@pytest.mark.spec("R5")
@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_two_lists_have_one_digest_only_when_they_are_equal(one: list[str], other: list[str]) -> None:
    assert (digest(one) == digest(other)) == (one == other)


@pytest.mark.spec("R5")
def test_the_checksum_follows_each_candidate_s_parts_and_the_order() -> None:
    tiled, plain_one = ("tiled", "MR in 4, 8", "build-1"), ("plain", "", "build-2")
    given = checksum([tiled, plain_one])
    changed = [
        [plain_one, tiled],
        [("tiled2", "MR in 4, 8", "build-1"), plain_one],
        [("tiled", "MR in 4, 8, 16", "build-1"), plain_one],
        [("tiled", "MR in 4, 8", "build-1 with its body edited"), plain_one],
        [tiled],
        [(*tiled, *plain_one)],
    ]
    assert given not in {checksum(each) for each in changed}
    assert given == checksum(iter([iter(tiled), iter(plain_one)]))


def test_plain_leaves_finite_values_alone() -> None:
    assert [plain(value) for value in (1, 1.5, True, "x", (2, 3))] == [1, 1.5, True, "x", (2, 3)]
    assert plain(float("nan")) == "nan"
