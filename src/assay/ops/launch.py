"""Launches that are no kernel's: the reference's, one that refuses, and one that has nothing to do."""

from collections.abc import Callable
from itertools import count
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from assay.errors import CallError, DispatchError
from assay.ops.arbiter import Choice
from assay.signature import Call
from assay.tuning import Declaration

Launch = Callable[..., object]
Array = npt.NDArray[Any]


def nothing(*arrays: object) -> None:
    """Runs nothing: there is nothing to write, or the run is dry."""
    del arrays


def reference_launch(declaration: Declaration, reference: Callable[..., object], call: Call) -> Launch:
    """A launch that runs the reference and writes what it returns into the outputs.

    Its results are checked: a reference that returns another shape or another number of results than it declares
    raises `CallError` when it runs, and nothing is written.
    """
    count = len(call.inputs)
    name = declaration.name

    def launch(*arrays: object) -> None:
        returned = reference(*arrays[:count])
        results = as_tuple(returned)
        outputs = arrays[count:]
        if len(results) != len(outputs):
            raise CallError(f"{name} reference", f"returned {len(results)} results, {len(outputs)} are declared")
        for label, result, output in zip(call.outputs, results, outputs, strict=True):
            if result is not output:
                _write(f"{name} reference", label, np.asarray(result), np.asarray(output))

    return launch


def as_tuple(value: object) -> tuple[object, ...]:
    """What an op takes or gives as one array or a tuple of them, as a tuple."""
    return cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)


def strict_refusal(op: str, choice: Choice, step: "count[int]") -> Launch:
    """A launch that counts the call and raises what strict mode raises: the call degrades, or was refused."""

    def launch(*arrays: object) -> None:
        del arrays
        next(step)
        said = f"{choice.selected} was selected and does not answer ({choice.outcome}): {choice.reason}"
        raise DispatchError(op, said, "this raises because strict mode is on")

    return launch


def _write(subject: str, label: str, result: Array, target: Array) -> None:
    if result.shape != target.shape:
        raise CallError(subject, f"{label} is {result.shape}, the signature says {target.shape}")
    np.copyto(target, result, casting="same_kind")
