"""The guard of a plan whose kernels read alignment.

Pointers are not in a plan's key; taking two of them costs as much as all the rest of it. So where, and only where, a
kernel's `serves` reads ``x.align``, the plan is a switch: it takes the pointers, and has a plan for each combination of
alignments it meets.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec
import numpy as np

from assay.array import MAX_ALIGN
from assay.ops.plan import Plan
from assay.signature import Call
from assay.tuning import Declaration


class InnerFailure(Exception):  # noqa: N818 - a carrier, unwrapped where plans are made again
    """The plan behind a switch raised (the cause), or declined (no cause)."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("a plan behind an alignment switch failed")
        self.plan = plan


class AlignmentSwitch:
    """A launch that goes on to the plan for the alignments it is given.

    Args:
        call: the call of the switch's own plan.
        plan_at: plans a call whose views have the pointers that were met, made with these inputs.
    """

    def __init__(self, call: Call, plan_at: Callable[[Call, Mapping[str, object]], Plan]) -> None:
        self._call = call
        self._plan_at = plan_at
        names = (*call.inputs, *call.outputs)
        self._places = [(place, name) for place, name in enumerate(names) if name in call.views]
        self._plans: dict[tuple[int, ...], Plan] = {}

    def __call__(self, *arrays: object) -> None:
        """Runs the plan for these arrays.

        Raises:
            InnerFailure: it raised, or declined.
        """
        pointers = [_pointer(arrays[place]) for place, _ in self._places]
        aligns = tuple(min(pointer & -pointer, MAX_ALIGN) for pointer in pointers)
        plan = self._plans.get(aligns)
        if plan is None:
            plan = self._plans[aligns] = self._planned(pointers, arrays)
        try:
            status = plan.launch(*arrays)
        except Exception as error:
            raise InnerFailure(plan) from error
        if status is not None:
            raise InnerFailure(plan)
        next(plan.step)

    def _planned(self, pointers: list[int], arrays: tuple[object, ...]) -> Plan:
        views = dict(self._call.views)
        for (_, name), pointer in zip(self._places, pointers, strict=True):
            views[name] = msgspec.structs.replace(views[name], pointer=pointer)
        inputs = dict(zip(self._call.inputs, arrays, strict=False))
        return self._plan_at(replace(self._call, views=views), inputs)


def reads_alignment(declaration: Declaration) -> bool:
    """Whether any kernel's choice depends on where an array lies."""
    return any(feature.endswith(".align") for found in declaration.candidates for feature in found.kernel.features)


def _pointer(array: object) -> int:
    return int(np.asarray(array).__array_interface__["data"][0])
