"""An expression: the one language of axes, `let`, `where`, flops, `serves`, constraints, rules and availability.

An expression is a value: it prints, parses again equal, says what it reads before it is ever evaluated, and gives the
same answer on the same facts. What it reads (names, layout features, device facts) is what keys and guards must hold.
"""

import re
from functools import cached_property
from typing import cast

import msgspec

from assay.errors import DeclarationError
from assay.signature.arithmetic import EvaluationError, Value, value_text
from assay.signature.facts import Facts
from assay.signature.nodes import Attribute, Length, Name, Node, Present, walk

_FEATURE = re.compile(r"(\w+)\.(\w+)(?:\[(-?\d+)\])?")


class Expr(msgspec.Struct, frozen=True, dict=True):
    """An expression over named values, layouts and the device.

    Attributes:
        root: its outermost part.
    """

    root: Node

    def __str__(self) -> str:
        return self.root.text()

    @cached_property
    def names(self) -> frozenset[str]:
        """The values it reads by name: dims, dtypes, parameters, scalars, tunables."""
        shapes = frozenset(node.shape for node in walk(self.root) if isinstance(node, Length))
        return shapes | {node.name for node in walk(self.root) if isinstance(node, Name)}

    @cached_property
    def features(self) -> frozenset[str]:
        """The layout and device facts it reads: ``a.contiguous``, ``a.stride[0]``, ``device.cores``."""
        return frozenset(node.text() for node in walk(self.root) if isinstance(node, Attribute))

    @cached_property
    def tensors(self) -> frozenset[str]:
        """The tensors whose layout it reads."""
        read = (node.subject for node in walk(self.root) if isinstance(node, Attribute))
        return frozenset(read) - {"device"}

    @cached_property
    def presences(self) -> frozenset[str]:
        """The arguments whose presence it asks for."""
        return frozenset(node.name for node in walk(self.root) if isinstance(node, Present))

    def evaluate(self, facts: Facts) -> Value:
        """What it is worth on these facts.

        Raises:
            DeclarationError: it reads something the facts lack, or its arithmetic has no result.
        """
        try:
            return self.root.value(facts)
        except EvaluationError as trouble:
            reading = self.reading(facts)
            raise DeclarationError(str(self), f"{trouble} with {reading}" if reading else str(trouble)) from trouble

    def holds(self, facts: Facts) -> bool:
        """Whether it is true on these facts.

        Raises:
            DeclarationError: as `evaluate`, or it is neither true nor false.
        """
        value = self.evaluate(facts)
        if isinstance(value, bool):
            return value
        raise DeclarationError(
            str(self), f"expected true or false, it is {value_text(value)}", "compare it: == 0, != 0"
        )

    def reading(self, facts: Facts) -> str:
        """The values it reads that the facts have, for a message: ``M is 24, a.contiguous is false``."""
        seen: dict[str, str] = {}
        for node in walk(self.root):
            known = isinstance(node, Attribute | Present) or (isinstance(node, Name) and node.name in facts.values)
            if known and node.text() not in seen:
                try:
                    seen[node.text()] = value_text(node.value(facts))
                except EvaluationError:
                    seen[node.text()] = "unknown"
        return ", ".join(f"{name} is {value}" for name, value in seen.items())


def feature_value(feature: str, facts: Facts) -> Value:
    """The value of a layout or device fact by its text (``a.stride[0]``).

    Raises:
        DeclarationError: the text is no feature, or the facts lack it.
    """
    found = _FEATURE.fullmatch(feature)
    if found is None:
        raise DeclarationError(feature, "expected a feature such as a.contiguous, a.stride[0] or device.cores")
    subject, attribute, position = cast("tuple[str, str, str | None]", found.groups())
    return Expr(Attribute(subject, attribute, None if position is None else int(position))).evaluate(facts)
