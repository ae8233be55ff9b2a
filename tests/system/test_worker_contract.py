"""What every runner promises, asked of each."""

import threading
from collections.abc import Iterator

import pytest

from assay.testing import wrong
from assay.worker import Channel, Done, Fault, Inline, Runner, Worker

RUNNERS = {"Inline": Inline, "Worker": Worker}


@pytest.fixture(params=sorted(RUNNERS))
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    made: Runner = RUNNERS[request.param]()
    yield made
    made.close()


def test_no_runner_is_left_out() -> None:
    import assay.worker

    exported = [getattr(assay.worker, name) for name in assay.worker.__all__]
    runners = {each.__name__ for each in exported if isinstance(each, type) and "run" in vars(each)} - {"Runner"}
    assert runners == set(RUNNERS)


def test_a_task_gives_its_value(runner: Runner) -> None:
    assert runner.run(lambda channel: [1, "two"]) == Done([1, "two"])


def test_messages_arrive_in_order_and_before_the_value(runner: Runner) -> None:
    def task(channel: Channel) -> str:
        for number in range(200):
            channel.send({"number": number})
        return "end"

    seen: list[object] = []
    assert runner.run(task, seen.append) == Done("end")
    assert seen == [{"number": number} for number in range(200)]


def test_messages_nobody_listens_to_are_dropped(runner: Runner) -> None:
    def task(channel: Channel) -> int:
        channel.send("unheard")
        return 1

    assert runner.run(task) == Done(1)


def test_what_a_task_raises_is_a_fault_with_step_reason_and_trace(runner: Runner) -> None:
    def task(channel: Channel) -> None:
        channel.step("build tiled", 60.0)
        channel.step("call tiled[MR=8]", 10.0)
        raise ValueError("MR is 8")

    outcome = runner.run(task)
    assert isinstance(outcome, Fault)
    assert str(outcome) == "call tiled[MR=8]: raised ValueError: MR is 8"
    assert ", in task" in outcome.trace
    assert outcome.trace.endswith("ValueError: MR is 8\n")


def test_an_exception_without_a_message_to_print_is_a_fault_all_the_same(runner: Runner) -> None:
    def task(channel: Channel) -> None:
        raise wrong.UnprintableError

    outcome = runner.run(task)
    assert isinstance(outcome, Fault)
    assert outcome.reason == "raised UnprintableError, whose message raised RuntimeError"


def test_the_task_after_a_fault_runs(runner: Runner) -> None:
    def raising(channel: Channel) -> None:
        raise ValueError

    assert isinstance(runner.run(raising), Fault)
    assert runner.run(lambda channel: "fresh") == Done("fresh")


def test_a_listener_that_raises_ends_the_run_with_what_it_raised(runner: Runner) -> None:
    def task(channel: Channel) -> None:
        channel.send("news")

    def listen(message: object) -> None:
        raise LookupError(message)

    with pytest.raises(LookupError, match="news"):
        runner.run(task, listen)
    assert runner.run(lambda channel: "after") == Done("after")


def test_large_things_cross_both_ways(runner: Runner) -> None:
    block = bytes(range(256)) * (20 << 12)  # 20 MiB
    outcome = runner.run(lambda channel: block + b"!")
    assert isinstance(outcome, Done)
    assert outcome.value == block + b"!"


def test_tasks_of_two_threads_each_get_their_own_value(runner: Runner) -> None:
    outcomes: dict[int, object] = {}

    def ask(number: int) -> None:
        outcomes[number] = runner.run(lambda channel: number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {number: Done(number) for number in range(6)}


def test_closing_twice_is_closing_once(runner: Runner) -> None:
    runner.run(lambda channel: 1)
    runner.close()
    runner.close()
