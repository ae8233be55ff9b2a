"""The parts of a signature, as values that print back to the text they came from.

Indices are what `forall` binds; parameters are set when an op is constructed; arguments are tensors and scalars; a
tensor has a form, which is one or more types of which the first whose predicate holds is the one it must have.
"""

from typing import Literal

import msgspec

from assay.signature.arithmetic import literal_text
from assay.signature.expression import Expr
from assay.signature.nodes import EITHER

IndexKind = Literal["Dim", "Shape", "DType", "Seq[Int]"]
ScalarKind = Literal["Int", "Float", "Bool", "DType", "Enum"]
Default = int | float | bool | str


class Index(msgspec.Struct, frozen=True):
    """A name that `forall` binds: a size, any number of leading sizes, a dtype of a few, or a workload's lengths.

    Attributes:
        name: how the signature calls it.
        kind: what it stands for.
        dtypes: of a `DType`, the rows it may be, in order; of the others, empty.
    """

    name: str
    kind: IndexKind
    dtypes: tuple[str, ...] = ()

    @property
    def kind_text(self) -> str:
        """The kind as it is written, rows included."""
        return f"DType[{' | '.join(self.dtypes)}]" if self.kind == "DType" else self.kind


class ScalarType(msgspec.Struct, frozen=True):
    """The type of a scalar; an `Enum` lists its choices."""

    kind: ScalarKind
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"Enum[{', '.join(map(literal_text, self.choices))}]" if self.kind == "Enum" else self.kind


class Size(msgspec.Struct, frozen=True):
    """An axis whose size is an expression: ``2*M+1``."""

    expr: Expr

    def __str__(self) -> str:
        # No keyword and no string stands in an axis, so dropping spaces changes nothing but the width.
        return str(self.expr).replace(" ", "")


class Rest(msgspec.Struct, frozen=True):
    """All the axes of a `Shape`: ``*B``."""

    name: str

    def __str__(self) -> str:
        return f"*{self.name}"


class TensorType(msgspec.Struct, frozen=True):
    """The dtype and axes of a tensor: ``T[*B, 2*M+1]``."""

    dtype: str
    axes: tuple[Size | Rest, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.axes))}]"


class Case(msgspec.Struct, frozen=True):
    """A type a tensor has when a predicate holds; the last case of a form has none and takes what is left."""

    tensor: TensorType
    when: Expr | None = None


class TensorArg(msgspec.Struct, frozen=True):
    """A tensor that a call is given.

    Attributes:
        name: how the signature calls it.
        form: its types; the first whose predicate holds is the one it must have.
        optional: whether a call may leave it out.
        mutated: it is read and written.
        write_only: it is written and never read.
        metadata: its values matter to the kernels.
        host: it lives in host memory, whatever the device of the others.
    """

    name: str
    form: tuple[Case, ...]
    optional: bool = False
    mutated: bool = False
    write_only: bool = False
    metadata: bool = False
    host: bool = False

    @property
    def written(self) -> bool:
        """Whether a call writes it."""
        return self.mutated or self.write_only

    def __str__(self) -> str:
        effects = [effect for effect in EFFECTS if getattr(self, effect)]
        return " ".join([*effects, f"{self.name}{'?' * self.optional}: {form_text(self.form)}"])


class ScalarArg(msgspec.Struct, frozen=True):
    """A scalar that a call is given; None as default: it has none."""

    name: str
    type: ScalarType
    default: Default | None = None
    optional: bool = False

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is None and not self.optional

    def __str__(self) -> str:
        return f"{self.name}{'?' * self.optional}: {self.type}{_default_text(self.default)}"


class Param(msgspec.Struct, frozen=True):
    """A construction parameter: a scalar, or a tensor, which has no default."""

    name: str
    type: ScalarType | TensorType
    default: Default | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.type}{_default_text(self.default)}"


class Out(msgspec.Struct, frozen=True):
    """A result.

    Attributes:
        name: how the signature calls it.
        form: its types.
        alias: the input whose memory it may share. Of an input that is written, the result is that very memory; of
            one that is only read, a caller may pass it as `out`.
    """

    name: str
    form: tuple[Case, ...]
    alias: str | None = None

    def __str__(self) -> str:
        return f"{self.name}: {form_text(self.form)}{f' alias {self.alias}' if self.alias else ''}"


class Let(msgspec.Struct, frozen=True):
    """A value computed from the indices."""

    name: str
    expr: Expr

    def __str__(self) -> str:
        return f"{self.name} = {self.expr}"


EFFECTS = ("mutated", "write_only", "metadata", "host")
"""What may be said of a tensor argument, in the order it prints."""


def form_text(form: tuple[Case, ...]) -> str:
    """The types of a tensor as they are written: ``T[N, K] if trans_b else T[K, N]``."""
    return " else ".join(
        str(case.tensor) if case.when is None else f"{case.tensor} if {case.when.root.text_at(EITHER)}" for case in form
    )


def _default_text(default: Default | None) -> str:
    return "" if default is None else f" = {literal_text(default)}"
