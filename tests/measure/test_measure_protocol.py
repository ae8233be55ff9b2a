import math

import msgspec
import pytest

from assay.errors import MeasureError
from assay.measure import Protocol


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("margin", -0.01),
        ("margin", 1.0),
        ("margin", math.nan),
        ("alpha", 0.0),
        ("max_pairs", 0),
        ("max_pairs", 97),
        ("futility", 1.0),
        ("target_block_ns", 0),
        ("min_calls", 0),
        ("max_calls", 2),
        ("placements", 0),
        ("cutoff", 1.0),
        ("settle", 0),
        ("far", math.inf),
        ("seed", -1),
    ],
)
def test_a_number_no_race_can_follow_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(MeasureError, match=f"^{name}={value}: expected"):
        Protocol(**{name: value})  # pyright: ignore[reportArgumentType] - one wrong number at a time


def test_no_futility_and_no_cutoff_are_protocols() -> None:
    assert Protocol(futility=None, cutoff=math.inf).futility is None


def test_a_protocol_survives_being_kept() -> None:
    protocol = Protocol(margin=0.02, seed=7)
    assert msgspec.json.decode(msgspec.json.encode(protocol), type=Protocol) == protocol


@pytest.mark.spec("X8")
def test_blocks_are_three_to_five_calls_or_fifty_microseconds_by_default() -> None:
    protocol = Protocol()
    assert (protocol.min_calls, protocol.max_calls, protocol.target_block_ns) == (3, 5, 50_000)
