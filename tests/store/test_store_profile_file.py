import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ProfileError
from assay.store import Dimension, Entry, Profile

FILE = b"""\
{"assay": 1, "device": "amd-epyc-2c", "entries": [
  {"op": "gemm", "kernel": "numpy", "when": {"M": 8, "T": "float32"}, "set": {}, "choose": true},
  {"op": "gemm", "kernel": "tiled", "when": {"M": 256, "T": "float32"}, "set": {"MR": 8, "NR": 16}, "choose": true},
  {"op": "gemm", "kernel": "numba", "when": {"M": 1024}, "set": {"tile": 32}},
  {"op": "rmsnorm", "kernel": "rows", "when": {"B": [2, 3], "eps": 1e-05, "causal": false}, "set": {"wide": true}}
]}
"""

names = st.text(min_size=1, max_size=5)
values = st.one_of(
    st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.text(max_size=4)
)
dimensions: st.SearchStrategy[Dimension] = st.one_of(values, st.lists(st.integers(0, 99), max_size=3).map(tuple))
entries = st.builds(
    Entry,
    names,
    names,
    st.dictionaries(names, dimensions, max_size=3),
    st.dictionaries(names, values, max_size=3),
    st.booleans(),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "amd-epyc-2c.json"


@pytest.mark.spec("M31")
def test_a_profile_has_one_sorted_entry_per_line_and_these_bytes(path: Path) -> None:
    made = Profile("amd-epyc-2c")
    for entry in (
        Entry("rmsnorm", "rows", {"B": (2, 3), "eps": 1e-5, "causal": False}, {"wide": True}),
        Entry("gemm", "numba", {"M": 1024}, {"tile": 32}),
        Entry("gemm", "tiled", {"M": 256, "T": "float32"}, {"MR": 8, "NR": 16}, choose=True),
        Entry("gemm", "numpy", {"M": 8, "T": "float32"}, {}, choose=True),
    ):
        made = made.with_entry(entry)
    assert made.save(path)
    assert path.read_bytes() == FILE
    assert Profile.load(path).entries == made.entries


@pytest.mark.spec("M31")
@given(st.lists(entries, max_size=5), names)
def test_load_and_save_gives_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, given_entries: list[Entry], device: str
) -> None:
    made = Profile(device)
    for entry in given_entries:
        try:
            made = made.with_entry(entry)
        except ProfileError:
            continue
    path = tmp_path_factory.getbasetemp() / "any.json"
    made.save(path)
    written = path.read_bytes()
    loaded = Profile.load(path)
    assert loaded.entries == made.entries
    assert loaded.text() == written
    assert not loaded.save(path)
    assert written.count(b"\n") == 2 + len(made.entries)
    assert all(line.isprintable() for line in written.decode().split("\n"))


@pytest.mark.spec("M31", "M34")
def test_lines_written_by_hand_stay_byte_for_byte_when_another_entry_is_tuned(path: Path) -> None:
    by_hand = FILE.replace(b'"kernel": "numba", "when": {"M": 1024}', b'"when":{"M":1024},  "kernel":"numba"')
    by_hand = by_hand.replace(b"1e-05", b"0.00001")
    assert by_hand != FILE
    path.write_bytes(by_hand)
    assert Profile.load(path).text() == by_hand
    tuned = Profile.load(path).with_tuned("gemm", "tiled", {"M": 256, "T": "float32"}, {"MR": 4}, choose=True)
    tuned.save(path)
    before, after = by_hand.split(b"\n"), path.read_bytes().split(b"\n")
    assert [number for number, lines in enumerate(zip(before, after, strict=True)) if lines[0] != lines[1]] == [2]
    assert b'"set": {"MR": 4, "NR": 16}' in after[2]


@pytest.mark.spec("M35")
def test_a_second_run_on_kept_figures_does_not_touch_the_file(path: Path) -> None:
    path.write_bytes(FILE)
    os.utime(path, ns=(1, 1))
    again = Profile.load(path).with_tuned("gemm", "tiled", {"M": 256, "T": "float32"}, {"MR": 8, "NR": 16}, choose=True)
    assert not again.save(path)
    assert path.stat().st_mtime_ns == 1


@pytest.mark.spec("M35")
def test_a_write_that_fails_leaves_the_old_profile_whole_and_nothing_beside_it(path: Path) -> None:
    path.write_bytes(FILE)
    blocked = path.parent / "folder"
    blocked.mkdir()
    made = Profile.load(path).with_entry(Entry("softmax", "rows", {}, {"unroll": 2}))
    with pytest.raises(ProfileError, match="cannot be written"):
        made.save(blocked)
    with pytest.raises(ProfileError, match="cannot be written"):
        made.save(path / "below-a-file.json")
    assert path.read_bytes() == FILE
    assert sorted(each.name for each in path.parent.iterdir()) == ["amd-epyc-2c.json", "folder"]


@pytest.mark.spec("X31")
def test_a_new_file_is_its_owner_s_and_an_old_one_keeps_its_mode(path: Path) -> None:
    made = Profile("amd-epyc-2c").with_entry(Entry("gemm", "tiled", {}, {"MR": 8}))
    made.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    made.with_entry(Entry("gemm", "tiled", {}, {"MR": 4})).save(path)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_profile_behind_a_link_is_written_where_it_lies(path: Path) -> None:
    real = path.with_name("real.json")
    real.write_bytes(FILE)
    path.symlink_to(real)
    Profile.load(path).with_entry(Entry("softmax", "rows", {}, {"unroll": 2})).save(path)
    assert path.is_symlink()
    assert b"softmax" in real.read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"MR": 8, "NR"', b'"MR": 8 "NR"', "line 3: is damaged (Expecting ',' delimiter, column"),
        (b'{"tile": 32}},', b'{"tile": 32}}', "line 5: is damaged (expected ',' or ']', found '{')"),
        (b'"set": {"tile": 32}', b'"sets": {"tile": 32}', "line 4: is no entry: Object contains unknown field `sets`"),
        (b'"tile": 32', b'"tile": [32]', "line 4: is no entry: Expected `bool | int | float | str`, got `array`"),
        (b'"tile": 32', b'"tile": NaN', "line 4: is damaged (NaN is no JSON number)"),
        (b'"tile": 32', b'"tile": 1e999', "line 4: is no entry: profile entry: tile is inf"),
        (b'"tile": 32', b'"tile": 32, "tile": 64', "line 4: is damaged ('tile' is there twice)"),
        (b'"M": 1024', b'"M": null', "line 4: is no entry: Expected"),
        (b'"kernel": "numba", ', b"", "line 4: is no entry: Object missing required field `kernel`"),
        (b'"kernel": "numba"', b'"kernel": ""', "line 4: is no entry: profile entry: op and kernel must not be empty"),
        (b'"kernel": "numba"', b'"kernel": "\xff"', "line 4: is not UTF-8 text"),
        (b'"assay": 1', b'"assay": 2', "is of version 2, this assay reads version 1"),
        (b'"assay": 1', b'"assay": true', "is of version True"),
        (b'"assay": 1, ', b"", "is of version None"),
        (b'"device": "amd-epyc-2c"', b'"device": 7', "expected the device's name, not 7"),
        (b'"device"', b'"devices"', "line 1: expected assay, device and entries, each once, not 'devices'"),
        (b'"device"', b'"assay": 1, "device"', "line 1: expected assay, device and entries, each once, not 'assay'"),
        (b"]}\n", b"]", "line 6: is damaged (expected ',' or '}', found the end of the file)"),
        (b"]}\n", b"]}\n[]", "line 7: there is text after the profile's end"),
        (b'"entries": [', b'"entries": {', "line 1: is damaged (expected '[', found '{')"),
    ],
)
def test_a_damaged_profile_is_an_error_with_line_and_reason_and_is_left_alone(
    path: Path, old: bytes, new: bytes, said: str
) -> None:
    assert old in FILE
    damaged = FILE.replace(old, new)
    path.write_bytes(damaged)
    with pytest.raises(ProfileError, match=re.escape(said)) as caught:
        Profile.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"{}", b'{"assay": 1}', b"[" * 100_000, b"\x00" * 64])
def test_a_file_that_is_no_profile_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ProfileError, match="line 1: "):
        Profile.load(path)


@given(st.integers(0, len(FILE) - 3))
def test_a_profile_cut_short_anywhere_is_refused(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    path = tmp_path_factory.getbasetemp() / "short.json"
    path.write_bytes(FILE[:length])
    with pytest.raises(ProfileError, match=r"line \d: "):
        Profile.load(path)


@pytest.mark.spec("M32")
def test_equal_rank_that_disagrees_raises_when_the_profile_is_loaded_and_names_both_lines(path: Path) -> None:
    path.write_bytes(
        FILE.replace(
            b'"numba", "when": {"M": 1024}, "set": {"tile": 32}',
            b'"tiled", "when": {"M": 256, "K": 9}, "set": {"MR": 4}',
        )
    )
    with pytest.raises(ProfileError) as caught:
        Profile.load(path)
    assert str(caught.value).startswith(f"{path}: two entries of equal rank set tiled.MR to ")
    assert "line 3 (" in str(caught.value)
    assert "line 4 (" in str(caught.value)
    assert str(caught.value).endswith("name more dimensions in one of them")


def test_the_profile_of_a_device_without_a_file_is_empty(tmp_path: Path) -> None:
    assert Profile.for_device(tmp_path / "profiles", "amd-epyc-2c") == Profile("amd-epyc-2c")


def test_a_profile_of_another_device_is_refused(path: Path) -> None:
    path.write_bytes(FILE.replace(b"amd-epyc-2c", b"intel-xeon-8c"))
    with pytest.raises(ProfileError, match="is for the device 'intel-xeon-8c', this is 'amd-epyc-2c'"):
        Profile.for_device(path.parent, "amd-epyc-2c")


def test_a_missing_file_that_is_named_is_an_error(path: Path) -> None:
    with pytest.raises(ProfileError, match=r"amd-epyc-2c\.json: cannot be read \(No such file"):
        Profile.load(path)


def test_an_entry_over_several_lines_is_read_and_written_as_one(path: Path) -> None:
    path.write_bytes(FILE.replace(b'"numba", "when"', b'"numba",\n    "when"'))
    assert Profile.load(path).text() == FILE
