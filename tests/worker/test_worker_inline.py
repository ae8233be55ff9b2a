"""Running a task here."""

import pytest

from assay.worker import Channel, Done, Fault, Inline, Limits


def test_a_listener_that_refuses_a_message_is_heard_and_not_taken_for_the_task() -> None:
    def task(channel: Channel) -> None:
        channel.send("news")

    def listen(message: object) -> None:
        raise LookupError(message)

    with pytest.raises(LookupError, match="news"):
        Inline().run(task, listen)


def test_the_task_may_raise_what_its_listener_does() -> None:
    def task(channel: Channel) -> None:
        channel.step("call naive", 1.0)
        raise LookupError("its own")

    assert str(Inline().run(task)) == "call naive: raised LookupError: its own"


def test_an_exit_asked_for_by_the_task_is_a_fault() -> None:
    def task(channel: Channel) -> None:
        raise SystemExit(3)

    outcome = Inline().run(task)
    assert isinstance(outcome, Fault)
    assert outcome.reason == "raised SystemExit: 3"


def test_an_interrupt_goes_through() -> None:
    def task(channel: Channel) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Inline().run(task)


def test_the_value_is_the_object_itself() -> None:
    value = object()
    outcome = Inline().run(lambda channel: value)
    assert isinstance(outcome, Done)
    assert outcome.value is value


@pytest.mark.parametrize("name", ["build_s", "call_s", "start_s", "memory_bytes"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_that_leaves_nothing_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name}={value}: a limit must be above 0"):
        Limits(**{name: value})  # pyright: ignore[reportArgumentType]


def test_the_limits_unless_given_otherwise() -> None:
    assert (Limits().build_s, Limits().call_s, Limits().memory_bytes) == (60.0, 10.0, 4 * 1024**3)
