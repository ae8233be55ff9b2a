"""The tree of an expression: what each part reads, how it prints and what it is worth.

The language is closed: numbers, strings, names, dtypes, a fixed set of functions, and what a tensor's layout or the
device says. Nothing here calls code of the user or loops.
"""

# What each part's methods promise is said once, at `Node`.
# ruff: noqa: D102

from abc import abstractmethod
from collections.abc import Mapping
from typing import cast

import msgspec

from assay.signature.arithmetic import (
    ARITHMETIC,
    FUNCTIONS,
    EvaluationError,
    Plain,
    Value,
    compare,
    computed,
    literal_text,
    number,
    truth,
    value_text,
)
from assay.signature.facts import Facts

DTYPES = (
    "bool",
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
    *("complex64", "complex128"),
    *("bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("int4", "uint4"),
)
"""The dtypes a signature may name."""

CONDITIONAL, EITHER, BOTH, NOT, COMPARISON, SUM, PRODUCT, MINUS, POWER, ATOM = range(10)
"""How tightly each form binds, loosest first."""

ATTRIBUTES: Mapping[str, bool] = {"contiguous": False, "align": False, "ndim": False, "stride": True, "shape": True}
"""What a tensor's layout says, and whether it takes a position (``a.stride[0]``)."""

_BINDING = {
    "or": EITHER,
    "and": BOTH,
    "+": SUM,
    "-": SUM,
    "*": PRODUCT,
    "/": PRODUCT,
    "//": PRODUCT,
    "%": PRODUCT,
    "**": POWER,
}


class Node(msgspec.Struct, frozen=True):
    """A part of an expression."""

    @property
    def binding(self) -> int:
        """How tightly this form binds, from `CONDITIONAL` to `ATOM`."""
        return ATOM

    @property
    def children(self) -> "tuple[Node, ...]":
        """The parts of this part, in the order they print."""
        return ()

    @abstractmethod
    def text(self) -> str:
        """This part as it is written."""

    @abstractmethod
    def value(self, facts: Facts) -> Value:
        """What this part is worth.

        Raises:
            EvaluationError: it reads something the facts lack, or its arithmetic has no result.
        """

    def text_at(self, binding: int) -> str:
        """This part as it is written where something that binds this tightly is expected."""
        return self.text() if self.binding >= binding else f"({self.text()})"


class Constant(Node, frozen=True, eq=False):
    """A number, a truth value or a string; 1, 1.0 and true are three different constants."""

    constant: Plain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return type(self.constant) is type(other.constant) and self.constant == other.constant

    def __hash__(self) -> int:
        return hash((type(self.constant), self.constant))

    def text(self) -> str:
        return literal_text(self.constant)

    def value(self, facts: Facts) -> Value:
        del facts
        return self.constant


class Dtype(Node, frozen=True):
    """A dtype by its name, as in ``T == float32``; its value is the name."""

    name: str

    def text(self) -> str:
        return self.name

    def value(self, facts: Facts) -> Value:
        del facts
        return self.name


class Name(Node, frozen=True):
    """A dim, parameter, scalar, tunable or any other value by its name."""

    name: str

    def text(self) -> str:
        return self.name

    def value(self, facts: Facts) -> Value:
        try:
            return cast("Value", facts.values[self.name])
        except KeyError:
            pass
        if self.name in facts.tensors:
            raise EvaluationError(f"{self.name} is a tensor, and only its layout can be read ({self.name}.contiguous)")
        raise EvaluationError(f"nothing is called {self.name!r}")


class Present(Node, frozen=True):
    """Whether the call has an optional input."""

    name: str

    def text(self) -> str:
        return f"present({self.name})"

    def value(self, facts: Facts) -> Value:
        return self.name in facts.tensors or self.name in facts.values


class Attribute(Node, frozen=True):
    """A fact of a tensor's layout (``a.stride[0]``) or of the device (``device.cores``)."""

    subject: str
    attribute: str
    position: int | None = None

    def text(self) -> str:
        place = "" if self.position is None else f"[{self.position}]"
        return f"{self.subject}.{self.attribute}{place}"

    def value(self, facts: Facts) -> Value:
        if self.subject == "device":
            return _device_fact(self.attribute, facts.device)
        tensor = facts.tensors.get(self.subject)
        if tensor is None:
            raise EvaluationError(f"no tensor {self.subject!r} in this call")
        if self.position is None:
            plain: dict[str, Value] = {"align": tensor.align, "ndim": len(tensor.shape)}
            return tensor.contiguous if self.attribute == "contiguous" else plain[self.attribute]
        sizes = tensor.strides if self.attribute == "stride" else tensor.shape
        if not -len(sizes) <= self.position < len(sizes):
            raise EvaluationError(f"{self.subject} has {len(sizes)} axes, {self.text()} is not one of them")
        return sizes[self.position]


class Length(Node, frozen=True):
    """How many axes a shape has: ``len(B)``."""

    shape: str

    def text(self) -> str:
        return f"len({self.shape})"

    def value(self, facts: Facts) -> Value:
        shape = Name(self.shape).value(facts)
        if isinstance(shape, tuple):
            return len(shape)
        raise EvaluationError(f"{self.shape} is {value_text(shape)}, and has no length")


class Function(Node, frozen=True):
    """One of the functions of numbers an expression may call."""

    name: str
    arguments: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.arguments

    def text(self) -> str:
        return f"{self.name}({', '.join(argument.text() for argument in self.arguments)})"

    def value(self, facts: Facts) -> Value:
        values = [number(argument.value(facts)) for argument in self.arguments]
        return computed(lambda: FUNCTIONS[self.name](values))


class Unary(Node, frozen=True):
    """A negation, of a number (``-``) or of a truth value (``not``)."""

    operator: str
    operand: Node

    @property
    def binding(self) -> int:
        return MINUS if self.operator == "-" else NOT

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)

    def text(self) -> str:
        operand = self.operand.text_at(self.binding)
        return f"-{operand}" if self.operator == "-" else f"not {operand}"

    def value(self, facts: Facts) -> Value:
        operand = self.operand.value(facts)
        return -number(operand) if self.operator == "-" else not truth(operand)


class Binary(Node, frozen=True):
    """Two parts joined by arithmetic, ``and`` or ``or``."""

    operator: str
    left: Node
    right: Node

    @property
    def binding(self) -> int:
        return _BINDING[self.operator]

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def text(self) -> str:
        # Everything groups to the left but a power, whose exponent may also be a bare negation: 2 ** -1.
        left, right = (ATOM, MINUS) if self.operator == "**" else (self.binding, self.binding + 1)
        return f"{self.left.text_at(left)} {self.operator} {self.right.text_at(right)}"

    def value(self, facts: Facts) -> Value:
        if self.operator in ("and", "or"):
            first = truth(self.left.value(facts))
            return first if first == (self.operator == "or") else truth(self.right.value(facts))
        left, right = number(self.left.value(facts)), number(self.right.value(facts))
        return computed(lambda: ARITHMETIC[self.operator](left, right))


class Comparison(Node, frozen=True):
    """A chain of comparisons: ``0 < M <= 64``."""

    first: Node
    rest: tuple[tuple[str, Node], ...]

    @property
    def binding(self) -> int:
        return COMPARISON

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.first, *(node for _, node in self.rest))

    def text(self) -> str:
        return " ".join([self.first.text_at(SUM), *(f"{sign} {node.text_at(SUM)}" for sign, node in self.rest)])

    def value(self, facts: Facts) -> Value:
        left = self.first.value(facts)
        for sign, node in self.rest:
            right = node.value(facts)
            if not compare(sign, left, right):
                return False
            left = right
        return True


class Member(Node, frozen=True):
    """Whether a value is one of some: ``M in (8, 16)``."""

    item: Node
    choices: tuple[Node, ...]
    negated: bool = False

    @property
    def binding(self) -> int:
        return COMPARISON

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.item, *self.choices)

    def text(self) -> str:
        choices = ", ".join(choice.text() for choice in self.choices)
        return f"{self.item.text_at(SUM)} {'not in' if self.negated else 'in'} ({choices})"

    def value(self, facts: Facts) -> Value:
        item = self.item.value(facts)
        return any(item == choice.value(facts) for choice in self.choices) != self.negated


class Conditional(Node, frozen=True):
    """One value or another: ``8 if M >= 64 else 4``; only the one that is taken is computed."""

    chosen: Node
    condition: Node
    otherwise: Node

    @property
    def binding(self) -> int:
        return CONDITIONAL

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.chosen, self.condition, self.otherwise)

    def text(self) -> str:
        chosen, condition = self.chosen.text_at(EITHER), self.condition.text_at(EITHER)
        return f"{chosen} if {condition} else {self.otherwise.text()}"

    def value(self, facts: Facts) -> Value:
        taken = self.chosen if truth(self.condition.value(facts)) else self.otherwise
        return taken.value(facts)


def walk(node: Node) -> "list[Node]":
    """A node and everything below it, parts before what follows them."""
    return [node, *(below for child in node.children for below in walk(child))]


def _device_fact(name: str, device: Mapping[str, object]) -> Value:
    if name not in device:
        raise EvaluationError(f"the device has no fact {name!r}; it has {', '.join(device) or 'none'}")
    return cast("Value", device[name])
