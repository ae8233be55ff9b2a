"""The words for what ended a task."""

import signal

from assay.errors import reason_of
from assay.worker.reasons import exit_reason, late_reason, memory_reason


def test_each_end_has_its_words() -> None:
    assert exit_reason(0) == "exited with 0"
    assert exit_reason(-signal.SIGSEGV) == "killed by signal 11 (segmentation fault)"
    assert exit_reason(-signal.SIGABRT) == "killed by signal 6 (aborted)"
    assert late_reason(10.0) == "no answer within 10 s"
    assert late_reason(0.3) == "no answer within 0.3 s"
    assert memory_reason(4 << 30) == "over its memory limit of 4 GiB"
    assert memory_reason(1 << 30, "8 TiB asked for") == "over its memory limit of 1 GiB: 8 TiB asked for"
    assert reason_of(ValueError("no such tile")) == "raised ValueError: no such tile"
    assert reason_of(KeyboardInterrupt()) == "raised KeyboardInterrupt"
