"""A plan: everything that is the same for every call with one key.

The key is what a call's time and legality follow (array class, shape, strides, dtype, presence, scalars, `out` layout
and the regime); the plan is what it leads to: the outputs to allocate, the launch, the counter to step, and the record
that `last_call` shows. The table of plans is bounded; the oldest go first.
"""

from collections.abc import Hashable, Sequence
from itertools import count
from typing import Any, Protocol

import numpy as np

from assay.kernel import Entrant
from assay.ops.arbiter import Exclusion
from assay.ops.launch import Launch
from assay.signature import Call, SignatureCall

MAX_PLANS = 16384
"""At some 1.5 KiB a plan this bounds an op's plans to about 24 MiB."""


class Plan:
    """What one key runs.

    Attributes:
        launch: called with the inputs in signature order, then the outputs; None, or `NotImplemented` when declined.
        shape: shape of the first output.
        dtype: dtype of the first output.
        outputs: (shape, dtype) of every output to allocate.
        step: the counter to step after a call.
        answers: the entrant that answers; None for the reference.
        excluded: kernels that failed or declined under this key.
    """

    __slots__ = ("_call", "answers", "dtype", "excluded", "launch", "outputs", "shape", "step")

    def __init__(
        self,
        launch: Launch,
        outputs: Sequence[tuple[tuple[int, ...], "np.dtype[Any]"]],
        step: "count[int]",
        call: Call,
        answers: Entrant | None,
        excluded: dict[str, Exclusion],
    ) -> None:
        """Creates a plan; see the attributes."""
        self.launch = launch
        self.outputs = tuple(outputs)
        self.shape, self.dtype = self.outputs[0] if self.outputs else ((), np.dtype(np.void))
        self.step = step
        self._call = call
        self.answers = answers
        self.excluded = excluded

    @property
    def call(self) -> Call:
        """The checked call the plan was made from."""
        return self._call

    @property
    def record(self) -> SignatureCall:
        """The record of every call that hit this plan."""
        return self._call.record


class LastPlan(Protocol):
    """What the call path leaves behind: a plan, or a plan with the call's metadata tensors."""

    @property
    def record(self) -> SignatureCall:
        """The record of the call."""
        ...

    @property
    def call(self) -> Call:
        """The checked call."""
        ...


class LastCall:
    """The last call of an op with metadata tensors: its plan, and the tensors its record refers to."""

    __slots__ = ("_record", "metadata", "plan")

    def __init__(self, plan: Plan, metadata: tuple[object, ...]) -> None:
        """Creates the cell; the record is assembled when first asked for."""
        self.plan = plan
        self.metadata = metadata
        self._record: SignatureCall | None = None

    @property
    def call(self) -> Call:
        """The checked call the plan was made from."""
        return self.plan.call

    @property
    def record(self) -> SignatureCall:
        """The record, the same object ever after."""
        if self._record is None:
            self._record = self.plan.record.with_metadata(self.metadata)
        return self._record


class PlanTable(dict[Hashable, Plan]):
    """The plans of an op by key; a full table drops its oldest eighth."""

    def keep(self, key: Hashable, plan: Plan) -> None:
        """Adds a plan, first making room."""
        if len(self) >= MAX_PLANS and key not in self:
            for old in list(self)[: MAX_PLANS // 8]:
                self.pop(old, None)
        self[key] = plan
