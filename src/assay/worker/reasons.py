"""The words for what ended a task."""

import signal
import traceback

from assay import units


def exit_reason(status: int) -> str:
    """How a process ended, from what `subprocess` calls its return code.

    >>> exit_reason(3)
    'exited with 3'
    >>> exit_reason(-11)
    'killed by signal 11 (segmentation fault)'
    """
    if status >= 0:
        return f"exited with {status}"
    name = signal.strsignal(-status) or "unknown"
    return f"killed by signal {-status} ({name.lower()})"


def late_reason(limit_s: float) -> str:
    """That a step outlasted its limit: ``'no answer within 10 s'``."""
    return f"no answer within {units.format_seconds(limit_s)}"


def memory_reason(limit_bytes: int, said: str = "") -> str:
    """That a task wanted more memory than it may have: ``'over its memory limit of 4 GiB'``."""
    reason = f"over its memory limit of {units.format_bytes(limit_bytes)}"
    return f"{reason}: {said}" if said else reason


def trace_of(error: BaseException) -> str:
    """Where an exception was raised, as Python prints it."""
    return "".join(traceback.format_exception(error))
