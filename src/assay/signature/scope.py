"""What the expressions of a signature may read while a call is checked, and which axes can be solved.

Parameters and scalars are known from the start, indices as tensors settle them, and a `let` when something first reads
it: one that nothing reads on the way a call takes is never computed, so it cannot fail a call it says nothing about.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assay.array import ArrayView
from assay.signature.arithmetic import EvaluationError, Value, value_text
from assay.signature.expression import Expr
from assay.signature.facts import Facts
from assay.signature.nodes import Binary, Name, Node, Unary
from assay.signature.signature import Signature


class NotSettledError(Exception):
    """An expression reads an index that no tensor has settled yet.

    Attributes:
        name: the index.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class Scope(Mapping[str, object]):
    """The values of a call's names, as far as they are settled.

    Args:
        signature: what binds the names.
        known: parameters and scalars by name.
        tensors: the tensors present.

    Attributes:
        settled: the values so far; matching adds indices to them.
    """

    def __init__(self, signature: Signature, known: Mapping[str, Value], tensors: Mapping[str, ArrayView]) -> None:
        self.settled: dict[str, Value] = dict(known)
        self.facts = Facts(values=self, tensors=tensors)
        self._lets = {let.name: let for let in signature.lets}
        self._indices = frozenset(signature.index_names)

    def __getitem__(self, name: str) -> Value:
        if name in self.settled:
            return self.settled[name]
        if name in self._lets:
            self.settled[name] = self._computed(name)
            return self.settled[name]
        if name in self._indices:
            raise NotSettledError(name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self.settled

    def __iter__(self) -> Iterator[str]:
        return iter(self.settled)

    def __len__(self) -> int:
        return len(self.settled)

    def definition(self, name: str) -> Node | None:
        """What a `let` is computed from; None when the name is none."""
        return self._lets[name].expr.root if name in self._lets else None

    def whole(self, expr: Expr) -> int:
        """What an expression is worth where a size is expected.

        Raises:
            EvaluationError: it is no whole number, or has no value.
            NotSettledError: it reads an index that is not settled.
        """
        return _whole(expr.root, self)

    def _computed(self, name: str) -> Value:
        try:
            return self._lets[name].expr.root.value(self.facts)
        except EvaluationError as trouble:
            raise EvaluationError(f"let {self._lets[name]}: {trouble}") from trouble


class Linear(NamedTuple):
    """A sum of unknown indices, each times a whole number, and a constant: ``2*M + 1``."""

    unknowns: dict[str, int]
    constant: int


def linear(node: Node, scope: Scope) -> Linear | None:
    """An axis as a sum over the indices that are not settled; None when it is no such sum.

    Raises:
        EvaluationError: a part of it that is settled has no value, or is no whole number.
    """
    try:
        return Linear({}, _whole(node, scope))
    except NotSettledError:
        pass
    if isinstance(node, Name):
        definition = scope.definition(node.name)
        return Linear({node.name: 1}, 0) if definition is None else linear(definition, scope)
    if isinstance(node, Unary) and node.operator == "-":
        return _scaled(linear(node.operand, scope), -1)
    if isinstance(node, Binary) and node.operator in ("+", "-", "*"):
        return _joined(node.operator, linear(node.left, scope), linear(node.right, scope))
    return None


def _whole(node: Node, scope: Scope) -> int:
    value = node.value(scope.facts)
    if type(value) is int:
        return value
    raise EvaluationError(f"{node.text()} is {value_text(value)}, expected a whole number")


def _joined(sign: str, left: Linear | None, right: Linear | None) -> Linear | None:
    if left is None or right is None:
        return None
    if sign == "*":
        if not left.unknowns:
            return _scaled(right, left.constant)
        return None if right.unknowns else _scaled(left, right.constant)
    added = right if sign == "+" else Linear({name: -times for name, times in right.unknowns.items()}, -right.constant)
    unknowns = {
        name: left.unknowns.get(name, 0) + added.unknowns.get(name, 0) for name in {**left.unknowns, **added.unknowns}
    }
    return Linear({name: times for name, times in unknowns.items() if times}, left.constant + added.constant)


def _scaled(form: Linear | None, times: int) -> Linear | None:
    if form is None:
        return None
    return Linear({name: factor * times for name, factor in form.unknowns.items() if times}, form.constant * times)
