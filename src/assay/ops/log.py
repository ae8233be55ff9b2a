"""The dispatch log: every call is counted, every selection written down once.

A hit counts with one step of an `itertools.count`, which no thread can lose and which costs some thirty nanoseconds;
one counter serves all plans of an op with the same outcome. The newest selections are kept; counts survive them.
"""

import atexit
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache

import msgspec

from assay.errors import StoreError
from assay.ops.regime import environment_in_force
from assay.ops.regime import strict as strict_regime
from assay.store import DISPATCH_OUTCOMES, CountKey, DispatchOutcome

TAGS = ("kernel", "reference", "nothing")
"""What answered: the selected kernel, the op's reference, or nothing because there was nothing to write."""

KEPT_ENTRIES = 4096


class DispatchEntry(msgspec.Struct, frozen=True):
    """One selection.

    Attributes:
        target: the backend (``cpu``).
        op: the op's name.
        selected: the entrant that was selected; None when there was no candidate.
        tag: what answered (`TAGS`).
        outcome: ``won``, ``degraded``, ``no_candidate`` or ``error``.
        reason: why, in a sentence.
        key: the shape and dtypes, as text.
    """

    target: str
    op: str
    selected: str | None
    tag: str
    outcome: DispatchOutcome
    reason: str
    key: str


class DispatchLog:
    """A log of selections and a histogram of calls, safe for many threads."""

    def __init__(self, kept: int = KEPT_ENTRIES) -> None:
        """Creates an empty log that keeps the newest `kept` entries."""
        self._lock = threading.Lock()
        self._entries: deque[DispatchEntry] = deque(maxlen=kept)
        self._counters: dict[CountKey, itertools.count[int]] = {}
        self._before_reset: dict[CountKey, int] = {}
        self._saved: dict[CountKey, int] = {}

    def note(self, entry: DispatchEntry) -> "itertools.count[int]":
        """Writes a selection down and returns the counter its calls step.

        Raises:
            ValueError: the entry's tag or outcome was never declared.
        """
        if entry.tag not in TAGS or entry.outcome not in DISPATCH_OUTCOMES:
            raise ValueError(f"dispatch entry: tag {entry.tag!r} with outcome {entry.outcome!r} is not declared")
        slot = (entry.target, entry.op, entry.outcome)
        with self._lock:
            self._entries.append(entry)
            return self._counters.setdefault(slot, itertools.count())

    def histogram(self, target: str | None = None, op: str | None = None) -> dict[tuple[str, str], dict[str, int]]:
        """Calls by outcome for each (target, op), hits included.

        Args:
            target: only this target; None means every one.
            op: only this op; None means every one.
        """
        found: dict[tuple[str, str], dict[str, int]] = {}
        for (its_target, its_op, outcome), count in self._counts(self._before_reset).items():
            if (target is None or its_target == target) and (op is None or its_op == op) and count:
                found.setdefault((its_target, its_op), dict.fromkeys(DISPATCH_OUTCOMES, 0))[outcome] = count
        return found

    def entries(self) -> list[DispatchEntry]:
        """The newest selections, oldest first."""
        with self._lock:
            return list(self._entries)

    def reset(self) -> None:
        """Empties the log and sets the histogram back to nothing."""
        with self._lock:
            self._entries.clear()
            self._before_reset = {slot: _value(counter) for slot, counter in self._counters.items()}

    def strict(self) -> AbstractContextManager[None]:
        """A context in which a degrade or an error raises `DispatchError`, after it is logged."""
        return strict_regime()

    def hand_over(self, keep: Callable[[Mapping[CountKey, int]], None]) -> None:
        """Gives `keep` the calls counted since the last hand-over, and remembers that it has them."""
        now = self._counts({})
        new = {slot: count - self._saved.get(slot, 0) for slot, count in now.items()}
        new = {slot: count for slot, count in new.items() if count > 0}
        if new:
            keep(new)
            self._saved = now

    def _counts(self, less: Mapping[CountKey, int]) -> dict[CountKey, int]:
        with self._lock:
            return {slot: _value(counter) - less.get(slot, 0) for slot, counter in self._counters.items()}

    def __iter__(self) -> Iterator[DispatchEntry]:
        return iter(self.entries())


def _value(counter: "itertools.count[int]") -> int:
    """How often a counter was stepped, without stepping it."""
    return int(repr(counter)[len("count(") : -1])


dispatch = DispatchLog()
"""The process's log: `assay.dispatch`."""


@cache
def save_at_exit() -> None:
    """Has the counts saved when the process ends, from the first plan on.

    Not from the import on: what is registered last runs first, and the store a plan opened is closed at exit as well.
    """
    atexit.register(save_counts)


def save_counts() -> None:
    """Adds the calls counted since the last time to the environment in force, which sums them over processes.

    Nothing is written where nothing may be: under ``frozen``, or to a read-only store.
    """
    dispatch.hand_over(_add_counts)


def _add_counts(counts: Mapping[CountKey, int]) -> None:
    try:
        environment = environment_in_force()
    except StoreError:
        return  # said when the store was first needed; at the end of a process there is nobody to tell
    if environment.writable:
        environment.add_counts(counts)
