"""A signature as a whole: its parts in order, and what can be asked of them.

It prints to the text it came from, in one canonical layout, and parses again equal.
"""

from collections.abc import Mapping
from functools import cached_property
from itertools import groupby

import msgspec

from assay.signature.expression import Expr
from assay.signature.terms import (
    Case,
    Index,
    IndexKind,
    Let,
    Out,
    Param,
    ScalarArg,
    ScalarType,
    Size,
    TensorArg,
    TensorType,
)


class Signature(msgspec.Struct, frozen=True, dict=True):
    """The type of an op: what a legal call is.

    Attributes:
        indices: what `forall` binds, in order.
        params: the construction parameters, in order.
        args: the arguments, tensors and scalars in order.
        outs: the results, in order.
        lets: the computed values, in order; each may read those before it.
        wheres: the predicates every call satisfies.
    """

    indices: tuple[Index, ...]
    params: tuple[Param, ...]
    args: tuple[TensorArg | ScalarArg, ...]
    outs: tuple[Out, ...]
    lets: tuple[Let, ...]
    wheres: tuple[Expr, ...]

    def __str__(self) -> str:
        binders = [
            f"{', '.join(index.name for index in group)}: {kind}"
            for kind, group in groupby(self.indices, key=lambda index: index.kind_text)
        ]
        if self.params:
            binders.append(f"params {', '.join(map(str, self.params))}")
        forall = f"forall {'; '.join(binders)}. " if binders else ""
        text = f"{forall}({', '.join(map(str, self.args))}) -> ({', '.join(map(str, self.outs))})"
        lets = f" let {', '.join(map(str, self.lets))}" if self.lets else ""
        wheres = f" where {', '.join(map(str, self.wheres))}" if self.wheres else ""
        return text + lets + wheres

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """Every argument, scalars included, in order."""
        return tuple(arg.name for arg in self.args)

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        """Every result, in order."""
        return tuple(out.name for out in self.outs)

    @cached_property
    def tensor_args(self) -> tuple[TensorArg, ...]:
        """The arguments that are tensors, in order."""
        return tuple(arg for arg in self.args if isinstance(arg, TensorArg))

    @cached_property
    def scalar_args(self) -> tuple[ScalarArg, ...]:
        """The arguments that are scalars, in order."""
        return tuple(arg for arg in self.args if isinstance(arg, ScalarArg))

    @cached_property
    def tensor_names(self) -> tuple[str, ...]:
        """The tensors of a call: arguments, then results."""
        return (*(arg.name for arg in self.tensor_args), *self.output_names)

    @cached_property
    def scalar_names(self) -> tuple[str, ...]:
        """The arguments that are scalars, by name."""
        return tuple(arg.name for arg in self.scalar_args)

    @cached_property
    def scalar_params(self) -> tuple[Param, ...]:
        """The construction parameters that are scalars."""
        return tuple(param for param in self.params if isinstance(param.type, ScalarType))

    @cached_property
    def tensor_params(self) -> tuple[Param, ...]:
        """The construction parameters that are tensors."""
        return tuple(param for param in self.params if isinstance(param.type, TensorType))

    @cached_property
    def index_names(self) -> tuple[str, ...]:
        """Everything `forall` binds, in order."""
        return tuple(index.name for index in self.indices)

    @cached_property
    def dim_names(self) -> tuple[str, ...]:
        """The sizes, in `forall`'s order."""
        return self._names_of("Dim")

    @cached_property
    def shape_names(self) -> tuple[str, ...]:
        """The shapes, in `forall`'s order."""
        return self._names_of("Shape")

    @cached_property
    def dtype_names(self) -> tuple[str, ...]:
        """The dtype indices, in `forall`'s order."""
        return self._names_of("DType")

    @cached_property
    def sequence_names(self) -> tuple[str, ...]:
        """The `Seq[Int]` indices, in `forall`'s order."""
        return self._names_of("Seq[Int]")

    @cached_property
    def optional_tensors(self) -> tuple[str, ...]:
        """The tensors a call may leave out."""
        return tuple(arg.name for arg in self.tensor_args if arg.optional)

    @cached_property
    def metadata_names(self) -> tuple[str, ...]:
        """The tensors whose values matter to the kernels."""
        return tuple(arg.name for arg in self.tensor_args if arg.metadata)

    @cached_property
    def param_names(self) -> tuple[str, ...]:
        """The construction parameters, in order."""
        return tuple(param.name for param in self.params)

    @cached_property
    def in_place_outputs(self) -> Mapping[str, str]:
        """The results that are an input's own memory, with that input: the aliases of inputs a call writes."""
        written = {arg.name for arg in self.tensor_args if arg.written}
        return {out.name: out.alias for out in self.outs if out.alias is not None and out.alias in written}

    @cached_property
    def fresh_outputs(self) -> tuple[str, ...]:
        """The results that get memory of their own when the caller passes no `out`."""
        return tuple(name for name in self.output_names if name not in self.in_place_outputs)

    @cached_property
    def claimable_names(self) -> tuple[str, ...]:
        """What a caller may state beside the tensors, and must then be so: indices, parameters, computed values."""
        named = (*self.indices, *self.scalar_params, *self.lets)
        return tuple(one.name for one in named if one.name not in self.sequence_names)

    @cached_property
    def value_names(self) -> frozenset[str]:
        """Every name an expression may read the value of in a checked call."""
        named = (*self.indices, *self.scalar_params, *self.scalar_args, *self.lets)
        return frozenset(one.name for one in named) - frozenset(self.sequence_names)

    @cached_property
    def forms(self) -> tuple[tuple[Case, ...], ...]:
        """The declared types of every tensor: construction-time ones, arguments, results."""
        params = ((Case(param.type),) for param in self.params if isinstance(param.type, TensorType))
        return (*params, *(arg.form for arg in self.tensor_args), *(out.form for out in self.outs))

    @cached_property
    def axis_exprs(self) -> tuple[Expr, ...]:
        """The sizes of every axis of every case."""
        axes = (axis for form in self.forms for case in form for axis in case.tensor.axes)
        return tuple(axis.expr for axis in axes if isinstance(axis, Size))

    @cached_property
    def conditions(self) -> tuple[Expr, ...]:
        """The predicates that choose between cases."""
        return tuple(case.when for form in self.forms for case in form if case.when is not None)

    @cached_property
    def read_names(self) -> frozenset[str]:
        """The names that some expression of the signature reads the value of."""
        exprs = (*self.axis_exprs, *self.conditions, *self.wheres, *(let.expr for let in self.lets))
        return frozenset[str]().union(*(expr.names for expr in exprs))

    @cached_property
    def discriminants(self) -> tuple[str, ...]:
        """What branches depend on: the Bools and Enums something reads, then the presence of each optional input."""
        scalars = (*self.scalar_params, *self.scalar_args)
        finite = (one.name for one in scalars if isinstance(one.type, ScalarType) and one.type.kind in ("Bool", "Enum"))
        optional = (f"present({arg.name})" for arg in self.args if arg.optional)
        return (*(name for name in finite if name in self.read_names), *optional)

    @cached_property
    def index_params(self) -> tuple[str, ...]:
        """The construction parameters that stand in an index position: in an axis, or as a dtype."""
        read = frozenset[str]().union(*(expr.names for expr in self.axis_exprs))
        dtypes = {case.tensor.dtype for form in self.forms for case in form}
        return tuple(param.name for param in self.scalar_params if param.name in read | dtypes)

    @cached_property
    def unread_lets(self) -> tuple[str, ...]:
        """The computed values that nothing in the signature reads."""
        return tuple(let.name for let in self.lets if let.name not in self.read_names)

    def index(self, name: str) -> Index:
        """The index of a name.

        Raises:
            KeyError: `forall` binds no such name.
        """
        return {one.name: one for one in self.indices}[name]

    def _names_of(self, kind: IndexKind) -> tuple[str, ...]:
        return tuple(index.name for index in self.indices if index.kind == kind)
