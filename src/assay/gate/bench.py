"""One probe, set up for one entrant: working copies in guarded memory, run after run from the same start.

Every run begins with the probe's own values in the inputs and a poison in the outputs. The two poisons differ (all
ones, a NaN in every float; then ``0x3F``, about one), so an element that holds each run's poison was not written, and a
kernel that adds to what was there gives a NaN.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import msgspec
import numpy as np
import numpy.typing as npt

from assay.array import ArrayView, view
from assay.gate.guard import Guarded, words
from assay.gate.judge import index_at
from assay.gate.probes import Probe
from assay.signature import Call

Array = npt.NDArray[Any]
Run = Callable[[Call, tuple[object, ...], tuple[object, ...]], object]

POISONS = (0xFF, 0x3F)
_BOOL_POISONS = (1, 0)
_INPUT_FILL = 0xFF
"""Reading past an input's end reads NaN, so that it shows in the result."""

_WRITE_ONLY = (0, 1)


class Trespass(msgspec.Struct, frozen=True):
    """What a kernel did that it should not have done.

    Attributes:
        name: the input or output concerned.
        reason: a sentence.
        index: the first element concerned; None where there is none.
    """

    name: str
    reason: str
    index: tuple[int, ...] | None = None


class Bench:
    """Working copies of one probe's arrays.

    Args:
        probe: what to set up.

    Attributes:
        call: the probe's call, with the views of the working copies.
        results: names of what is judged: the outputs, and the inputs the call writes that are no output's memory.
    """

    def __init__(self, probe: Probe) -> None:
        call = probe.call
        self._probe = probe
        self._inputs = {name: Guarded(call.views[name], _INPUT_FILL) for name in call.inputs if name in call.views}
        self._outputs: dict[str, Guarded] = {}
        for name in call.outputs:
            alias = call.aliases.get(name)
            self._outputs[name] = Guarded(call.views[name]) if alias is None else self._inputs[alias]
        arrays = {**self._inputs, **self._outputs}
        views = {name: cast("ArrayView", view(held.array)) for name, held in arrays.items()}
        self.call = replace(call, views={**call.views, **views})
        own = (name for name in call.record.written if name not in call.aliases.values())
        self.results = (*call.outputs, *own)
        self._poisoned = {
            name
            for name in self.results
            if name not in call.aliases and (name in call.outputs or call.record.traffic.get(name) == _WRITE_ONLY)
        }

    def run(self, run: Run, turn: int) -> object:
        """What one run returns; what it raises is not caught.

        Args:
            run: runs the entrant.
            turn: 0 for the first run; 1 for the second, which takes inputs that may not change to be what they were
                (`trespass` has looked).
        """
        written = {*self.results, *self.call.aliases.values()}
        for name, held in self._inputs.items():
            if name not in self._poisoned and (turn == 0 or name in written):
                held.write(cast("Array", self._probe.inputs[name]))
        for name in self._poisoned:
            self._held(name).poison(self._poison(name, turn))
        inputs = tuple(
            self._inputs[name].array if name in self._inputs else self._probe.inputs.get(name)
            for name in self.call.inputs
        )
        with np.errstate(all="ignore"):
            return run(self.call, inputs, tuple(self._outputs[name].array for name in self.call.outputs))

    def taken(self) -> Mapping[str, Array]:
        """Copies of what the last run left in the results, by name."""
        return {name: np.array(self._held(name).array, order="C") for name in self.results}

    def trespass(self) -> Trespass | None:
        """What the last run did that it should not have done: a write outside an array, an input changed."""
        for name, held in {**self._inputs, **self._outputs}.items():
            if held.touched_outside():
                return Trespass(name, f"wrote outside {name}, {_extent(held.array)}")
        for name, held in self._inputs.items():
            if name not in self.results and name not in self.call.aliases.values():
                changed = _first_difference(held.array, cast("Array", self._probe.inputs[name]))
                if changed is not None:
                    return Trespass(name, f"changed input {name}, which is not declared mutated", changed)
        return None

    def unwritten(self, first: Mapping[str, Array], second: Mapping[str, Array]) -> Trespass | None:
        """The first output that was not written in full, by what two runs left in it."""
        for name in self.results:
            if name not in self._poisoned:
                continue
            left = _holds(first[name], self._poison(name, 0))
            if left.any():
                left &= _holds(second[name], self._poison(name, 1))
            if left.any():
                index = index_at(int(np.argmax(left)), first[name].shape)
                count = int(np.count_nonzero(left))
                return Trespass(name, f"did not write {count} of {left.size} elements of {name}", index)
        return None

    def _held(self, name: str) -> Guarded:
        return self._outputs[name] if name in self._outputs else self._inputs[name]

    def _poison(self, name: str, turn: int) -> int:
        return (_BOOL_POISONS if self._held(name).array.dtype.kind == "b" else POISONS)[turn]


def unsteady(first: Mapping[str, Array], second: Mapping[str, Array]) -> tuple[str, tuple[int, ...]] | None:
    """The first result, and its first element, whose bits differ between two runs; NaNs count as one."""
    for name, array in first.items():
        index = _first_difference(array, second[name])
        if index is not None:
            return name, index
    return None


def _first_difference(one: Array, other: Array) -> tuple[int, ...] | None:
    differs = np.any(words(one) != words(other), axis=1)
    if not differs.any():
        return None
    # A NaN's sign and payload follow the order of the operands, which no kernel promises.
    flat, other_flat = one.reshape(-1), other.reshape(-1)
    differs &= ~((flat != flat) & (other_flat != other_flat))  # noqa: PLR0124 (true of NaN in every dtype)
    return index_at(int(np.argmax(differs)), one.shape) if differs.any() else None


def _holds(array: Array, fill: int) -> npt.NDArray[np.bool_]:
    """Which elements, in C order, have only bytes of this value."""
    seen = words(array)
    return np.all(seen == np.frombuffer(bytes([fill]) * seen.itemsize, seen.dtype)[0], axis=1)


def _extent(array: Array) -> str:
    return f"{array.dtype.name} of shape {array.shape}"
