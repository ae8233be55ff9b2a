import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.device import Fingerprint, cpu_fingerprint, make_slug

EPYC = {
    "vendor": "AuthenticAMD",
    "family": "25",
    "model": "17",
    "stepping": "1",
    "name": "AMD EPYC",
    "l2_bytes": "1048576",
}


def test_two_machines_of_one_kind_have_one_key_in_whatever_order_their_facts_were_read() -> None:
    other = dict(reversed(EPYC.items()))
    assert list(other) != list(EPYC)
    assert cpu_fingerprint(EPYC, 2).key == cpu_fingerprint(other, 2).key


@pytest.mark.parametrize(
    ("part", "value"), [("model", "18"), ("stepping", "2"), ("l2_bytes", "524288"), ("name", "AMD EPYC 9")]
)
def test_a_fact_that_times_follow_splits_keys(part: str, value: str) -> None:
    assert cpu_fingerprint({**EPYC, part: value}, 2).key != cpu_fingerprint(EPYC, 2).key


def test_the_number_of_usable_cores_splits_keys() -> None:
    assert cpu_fingerprint(EPYC, 2).key != cpu_fingerprint(EPYC, 4).key


@pytest.mark.parametrize("missing", ["vendor", "model"])
@pytest.mark.spec("A20")
def test_a_device_whose_maker_or_model_is_not_known_is_unidentified_and_has_no_key(missing: str) -> None:
    assert cpu_fingerprint(EPYC, 2).key is not None
    unidentified = cpu_fingerprint({part: value for part, value in EPYC.items() if part != missing}, 2)
    assert not unidentified.identified
    assert unidentified.key is None


def test_an_unidentified_device_still_has_a_name_and_a_slug() -> None:
    nothing = cpu_fingerprint({}, 4)
    assert (nothing.name, nothing.slug) == ("unidentified processor", "unidentified-4c")


def test_a_key_does_not_confuse_where_a_name_ends_and_its_value_begins() -> None:
    one = Fingerprint("cpu", "x", "x", identified=True, details={"a": "bc"})
    other = Fingerprint("cpu", "x", "x", identified=True, details={"ab": "c"})
    assert one.key != other.key


@given(st.text(max_size=200), st.lists(st.from_regex(r"[a-z][0-9]{1,3}", fullmatch=True), max_size=3))
def test_a_slug_is_safe_as_a_file_name_and_keeps_its_marks_whole(name: str, marks: list[str]) -> None:
    slug = make_slug(name, *marks)
    assert re.fullmatch(r"[a-z0-9]*(-[a-z0-9]+)*", slug)
    assert slug.endswith("-".join(marks))
    assert len(slug) <= 60
