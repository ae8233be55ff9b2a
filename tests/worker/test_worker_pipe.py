"""What crosses the pipe, without a process at the other end."""

import sys
import types
from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.worker.pipe import Frames, Message, Raised, Ready, Value, frame, pack, send_by_value, unpack


@given(st.lists(st.binary(max_size=50), max_size=6), st.integers(1, 40))
def test_messages_come_out_whole_and_in_order_however_the_bytes_are_cut(bodies: list[bytes], cut: int) -> None:
    stream = b"".join(frame(Message(body)) for body in bodies)
    frames, seen = Frames(), list[object]()
    for start in range(0, len(stream), cut):
        frames.feed(stream[start : start + cut])
        while (message := frames.next()) is not None:
            seen.append(message)
    assert seen == [Message(body) for body in bodies]


def test_nothing_comes_out_before_the_last_byte() -> None:
    stream = frame(Raised("raised ValueError", "trace", out_of_memory=False))
    frames = Frames()
    frames.feed(stream[:-1])
    assert frames.next() is None
    frames.feed(stream[-1:])
    assert frames.next() == Raised("raised ValueError", "trace", out_of_memory=False)
    assert frames.next() is None


def test_two_messages_in_one_piece_come_one_by_one() -> None:
    frames = Frames()
    frames.feed(frame(Ready()) + frame(Value(b"v")))
    assert [frames.next(), frames.next(), frames.next()] == [Ready(), Value(b"v"), None]


def test_a_closure_crosses() -> None:
    step = 3

    def add(number: int) -> int:
        return number + step

    assert cast("Callable[[int], int]", unpack(pack(add)))(4) == 7


def test_what_a_module_defines_crosses_by_value_once_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("loaded_from_a_path")
    exec("def answer():\n    return 42", module.__dict__)  # noqa: S102  a module without a file
    monkeypatch.setitem(sys.modules, module.__name__, module)
    by_name = pack(module.__dict__["answer"])
    send_by_value(module)
    by_value = pack(module.__dict__["answer"])
    monkeypatch.delitem(sys.modules, module.__name__)
    with pytest.raises(ModuleNotFoundError):
        unpack(by_name)
    assert cast("Callable[[], int]", unpack(by_value))() == 42
