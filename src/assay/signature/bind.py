"""Matching tensors against their declared types: ranks, then dtypes, then shared sizes, then the axes to be solved.

Each tensor's type is the first case whose predicate holds. A plain axis (``K``) settles its index or must agree with
what settled it before; an axis such as ``2*M+1`` is solved when one index is missing and checked when none is. A
refusal names both tensors and both shapes where two disagree, and nothing but shapes and dtypes is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.array import ArrayView
from assay.errors import CallError
from assay.signature.arithmetic import EvaluationError, value_text
from assay.signature.expression import Expr
from assay.signature.nodes import DTYPES, Name
from assay.signature.scope import NotSettledError, Scope, linear
from assay.signature.signature import Signature
from assay.signature.terms import Case, Rest, Size, TensorType

GIVEN = ""
"""Where an index was settled that the caller gave by name."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor to be matched: its name, its declared form and what it looks like."""

    name: str
    form: tuple[Case, ...]
    view: ArrayView


@dataclass(frozen=True, slots=True)
class _Typed:
    """A tensor whose case is chosen."""

    name: str
    type: TensorType
    view: ArrayView


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of a tensor whose declared size is to be matched."""

    tensor: _Typed
    number: int
    expr: Expr

    @property
    def size(self) -> int:
        return self.tensor.view.shape[self.number]


class Binding:
    """The state of matching one call's tensors.

    Args:
        signature: what is declared.
        subject: the op, for messages.
        scope: the names settled so far; matching settles more.
    """

    def __init__(self, signature: Signature, subject: str, scope: Scope) -> None:
        self._subject = subject
        self._scope = scope
        self._indices = {index.name: index for index in signature.indices}
        self._sources = {name: GIVEN for name in scope.settled if name in self._indices}
        self._views: dict[str, ArrayView] = {}
        self.decided: dict[str, bool] = {}
        """The predicates of cases that were asked, by text, with what they said."""

    def match(self, tensors: Sequence[Tensor]) -> None:
        """Settles the indices from these tensors, or refuses.

        Raises:
            CallError: a tensor does not have its declared type, or two disagree, or something stays unsettled.
        """
        self._views.update((tensor.name, tensor.view) for tensor in tensors)
        waiting, folded, axes = list(tensors), list[_Typed](), list[_Axis]()
        while waiting or folded or axes:
            chosen = [typed for tensor in waiting if (typed := self._typed(tensor)) is not None]
            for typed in chosen:
                self._refuse_rank(typed)
            for typed in chosen:
                self._bind_dtype(typed)
            found, still_folded = self._unfold([*folded, *chosen])
            still_axes = self._bind_axes([*axes, *found])
            if not chosen and len(still_folded) == len(folded) and len(still_axes) == len(axes):
                raise self._unsettled(waiting, folded, axes)
            names = {typed.name for typed in chosen}
            waiting = [tensor for tensor in waiting if tensor.name not in names]
            folded, axes = still_folded, still_axes

    def choose(self, name: str, form: tuple[Case, ...]) -> TensorType:
        """The type a tensor has in this call.

        Raises:
            CallError: a predicate has no value.
            NotSettledError: a predicate reads an index that is not settled.
        """
        for case in form:
            if case.when is None or self._decide(name, case.when):
                return case.tensor
        raise CallError(self._subject, f"{name}: none of its types applies")

    def shape_of(self, name: str, declared: TensorType) -> tuple[int, ...]:
        """The shape a declared type stands for, every index being settled.

        Raises:
            CallError: a size has no value or is negative, or an index is settled by nothing in this call.
        """
        shape: list[int] = []
        for axis in declared.axes:
            try:
                sizes = self._rest(axis.name) if isinstance(axis, Rest) else (self._scope.whole(axis.expr),)
            except NotSettledError as missing:
                raise CallError(
                    self._subject, f"{name}: {missing.name} in {declared} is settled by nothing in this call"
                ) from missing
            except EvaluationError as trouble:
                raise CallError(self._subject, f"{name}: {axis} in {declared}: {trouble}") from trouble
            if min(sizes, default=0) < 0:
                raise CallError(
                    self._subject, f"{name}: {axis} in {declared} is {sizes[0]}{self._where(axis)}, expected 0 or more"
                )
            shape += sizes
        return tuple(shape)

    def dtype_of(self, name: str, declared: TensorType) -> str:
        """The dtype a declared type stands for.

        Raises:
            CallError: its index is settled by nothing in this call.
        """
        if declared.dtype in DTYPES:
            return declared.dtype
        try:
            return str(self._scope[declared.dtype])
        except NotSettledError as missing:
            raise CallError(
                self._subject, f"{name}: {missing.name} in {declared} is settled by nothing in this call"
            ) from missing

    def reading(self, expr: Expr) -> str:
        """What an expression read, for a message, each index with the tensor that settled it: ``M is 4 in a``."""
        return ", ".join(
            f"{name} is {value_text(self._scope.settled[name])}{self._from(name)}"
            for name in sorted(expr.names)
            if name in self._scope
        )

    def _decide(self, name: str, when: Expr) -> bool:
        try:
            self.decided[str(when)] = bool(when.root.value(self._scope.facts))
        except EvaluationError as trouble:
            raise CallError(self._subject, f"{name}: {when}: {trouble}") from trouble
        return self.decided[str(when)]

    def _typed(self, tensor: Tensor) -> _Typed | None:
        try:
            return _Typed(tensor.name, self.choose(tensor.name, tensor.form), tensor.view)
        except NotSettledError:
            return None

    def _refuse_rank(self, tensor: _Typed) -> None:
        rank, fixed = len(tensor.view.shape), sum(isinstance(axis, Size) for axis in tensor.type.axes)
        folds = fixed < len(tensor.type.axes)
        if rank == fixed or (folds and rank > fixed):
            return
        raise CallError(
            self._subject,
            f"{tensor.name} is {tensor.view.shape}, of rank {rank}: "
            f"{tensor.type} expects rank {fixed}{' or more' * folds}",
        )

    def _bind_dtype(self, tensor: _Typed) -> None:
        declared, seen = tensor.type.dtype, tensor.view.dtype
        if declared in self._indices:
            rows = self._indices[declared].dtypes
            if seen not in rows:
                raise CallError(self._subject, f"{tensor.name} is {seen}: {declared} expects {' | '.join(rows)}")
            self._settle(declared, seen, tensor)
            return
        expected = declared if declared in DTYPES else str(self._scope[declared])
        if seen != expected:
            named = "" if declared in DTYPES else f", {declared} being {expected}"
            raise CallError(self._subject, f"{tensor.name} is {seen}: {tensor.type} expects {expected}{named}")

    def _unfold(self, tensors: list[_Typed]) -> tuple[list[_Axis], list[_Typed]]:
        """The single axes of tensors, their shapes settled on the way, and the tensors whose shapes cannot be yet."""
        axes, folded = list[_Axis](), list[_Typed]()
        for tensor in tensors:
            lengths = self._rest_lengths(tensor)
            if lengths is None:
                folded.append(tensor)
                continue
            number = 0
            for axis in tensor.type.axes:
                if isinstance(axis, Size):
                    axes.append(_Axis(tensor, number, axis.expr))
                    number += 1
                else:
                    end = number + lengths[axis.name]
                    self._settle(axis.name, tensor.view.shape[number:end], tensor)
                    number = end
        return axes, folded

    def _rest_lengths(self, tensor: _Typed) -> dict[str, int] | None:
        """How many axes each shape of a tensor takes; None when two of them are open."""
        rests = [axis.name for axis in tensor.type.axes if isinstance(axis, Rest)]
        room = len(tensor.view.shape) - (len(tensor.type.axes) - len(rests))
        if len(rests) == 1:
            # Not taken from what settled it before: a rank that disagrees is then shown beside the other tensor's.
            return {rests[0]: room}
        known = {name: len(self._rest(name)) for name in rests if name in self._scope}
        unknown = [name for name in rests if name not in known]
        left = room - sum(known[name] for name in rests if name in known)
        if len(set(unknown)) > 1:
            return None
        if left < 0 or (left % len(unknown) if unknown else left):
            shapes = ", ".join(f"{name} is {self._rest(name)}{self._from(name)}" for name in known)
            raise CallError(
                self._subject, f"{tensor.name} is {tensor.view.shape}: {tensor.type} cannot have that rank; {shapes}"
            )
        return known | {name: left // len(unknown) for name in unknown}

    def _bind_axes(self, axes: list[_Axis]) -> list[_Axis]:
        """The axes that cannot be solved yet, after all that can have been; plain ones go first."""
        left: list[_Axis] = []
        for axis in axes:
            root = axis.expr.root
            if isinstance(root, Name) and root.name in self._indices:
                self._settle(root.name, axis.size, axis.tensor)
            else:
                left.append(axis)
        while True:
            still = [axis for axis in left if not self._solve(axis)]
            if len(still) == len(left):
                return left
            left = still

    def _solve(self, axis: _Axis) -> bool:
        seen = f"{axis.tensor.name} axis {axis.number} is {axis.size} ({axis.tensor.name} is {axis.tensor.view.shape})"
        text = Size(axis.expr)
        try:
            form = linear(axis.expr.root, self._scope)
        except EvaluationError as trouble:
            raise CallError(self._subject, f"{seen}: {text}: {trouble}") from trouble
        if form is None or len(form.unknowns) > 1:
            return False
        if not form.unknowns:
            if form.constant != axis.size:
                raise CallError(self._subject, f"{seen}: expected {text}, which is {form.constant}{self._where(text)}")
            return True
        ((name, times),) = form.unknowns.items()
        value, remainder = divmod(axis.size - form.constant, times)
        if remainder or value < 0:
            raise CallError(self._subject, f"{seen}: no {name} makes {text} equal {axis.size}{self._where(text)}")
        self._settle(name, value, axis.tensor)
        self._scope.whole(axis.expr)  # a `let` on the way to the unknown has been reached, and now has a value
        return True

    def _settle(self, name: str, value: int | str | tuple[int, ...], tensor: _Typed) -> None:
        if name not in self._scope.settled:
            self._scope.settled[name] = value
            self._sources[name] = tensor.name
            return
        before, source = self._scope.settled[name], self._sources[name]
        if before == value:
            return
        is_dtype = self._indices[name].kind == "DType"
        now = f"{tensor.name} is {tensor.view.dtype if is_dtype else tensor.view.shape}"
        if source == GIVEN:
            said = f"{name} is given as {before}, {now}: {name} is {value} in {tensor.name}"
        elif source == tensor.name:
            said = f"{now}: {name} is {before} and {value} in {tensor.name}"
        else:
            other = self._views[source]
            then = f"{source} is {other.dtype if is_dtype else other.shape}"
            said = f"{then}, {now}: {name} is {before} in {source} and {value} in {tensor.name}"
        raise CallError(self._subject, said)

    def _rest(self, name: str) -> tuple[int, ...]:
        sizes = self._scope[name]
        return sizes if isinstance(sizes, tuple) else ()

    def _where(self, axis: Size | Rest) -> str:
        reading = self.reading(axis.expr) if isinstance(axis, Size) else ""
        return f" where {reading}" if reading else ""

    def _from(self, name: str) -> str:
        source = self._sources.get(name)
        return f" in {source}" if source else " as given" if source == GIVEN else ""

    def _unsettled(self, waiting: Sequence[Tensor], folded: Sequence[_Typed], axes: Sequence[_Axis]) -> CallError:
        if axes:
            axis = axes[0]
            name, text = axis.tensor.name, str(Size(axis.expr))
            names = sorted(axis.expr.names - set(self._scope.settled))
        elif folded:
            name, text = folded[0].name, str(folded[0].type)
            names = [one.name for one in folded[0].type.axes if isinstance(one, Rest) and one.name not in self._scope]
        else:
            name, text = waiting[0].name, "its type"
            names = sorted(frozenset[str]().union(*(case.when.names for case in waiting[0].form if case.when)))
        return CallError(
            self._subject, f"{name}: {text} turns on {', '.join(names)}, which nothing in this call settles"
        )
