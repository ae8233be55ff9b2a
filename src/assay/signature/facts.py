"""What an expression may read: names with their values, tensors with their layouts, and the device's facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.array import ArrayView


@dataclass(frozen=True, eq=False, slots=True)
class Facts:
    """The values an expression is evaluated on.

    Attributes:
        values: dims, dtypes (as names), parameters, scalars, tunables, by name.
        tensors: the view of each tensor present, by name.
        device: the device's facts, by name.
    """

    values: Mapping[str, object]
    tensors: Mapping[str, ArrayView] = field(default_factory=dict[str, ArrayView])
    device: Mapping[str, object] = field(default_factory=dict[str, object])

    def with_values(self, more: Mapping[str, object]) -> "Facts":
        """These facts with more names; a name given again has its new value."""
        return Facts({**self.values, **more}, self.tensors, self.device)
