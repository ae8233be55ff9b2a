"""Which shapes of which ops are to be tuned, each once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.errors import AssayError, TargetError
from assay.job.request import ShapeFailure
from assay.ops import Op
from assay.signature import Call
from assay.store import Dimension
from assay.tuning import exact_shape, shape_text


@dataclass(frozen=True, slots=True)
class ShapeTask:
    """A shape of an op.

    Attributes:
        op: the op.
        call: the call that has this shape.
        shape: the indices and scalars, as the op reads them.
    """

    op: Op
    call: Call
    shape: Mapping[str, Dimension]


def queue(ops: Sequence[Op], shapes: Sequence[Mapping[str, object]] | None) -> tuple[ShapeTask | ShapeFailure, ...]:
    """The shapes to tune, ops and shapes in the order given; in its place, why one cannot be.

    A shape goes to every op that has all the indices it names; when no op has them, it goes to the only op there is,
    whose error says which index is wrong. Two shapes that make the same call are one.

    Args:
        ops: the ops.
        shapes: indices by name; None means the shapes each op declares.

    Raises:
        TargetError: a shape's indices are those of none of several ops.
    """
    if shapes is not None:
        for shape in shapes:
            _some_op_takes(ops, shape)
    queued: list[ShapeTask | ShapeFailure] = []
    known: set[tuple[str, str]] = set()
    for op in ops:
        for shape in op.shapes if shapes is None else shapes:
            if len(ops) > 1 and not _takes(op, shape):
                continue
            try:
                call = op.describe(shape)
            except AssayError as error:
                queued.append(ShapeFailure(op.name, shape, error))
                continue
            exact = exact_shape(op.declaration, call)
            name = (op.name, shape_text(exact))
            if name not in known:
                known.add(name)
                queued.append(ShapeTask(op, call, exact))
        if shapes is None and not op.shapes:
            missing = TargetError(op.name, "it declares no shape to tune", f"give one, as {_pattern(op)}")
            queued.append(ShapeFailure(op.name, {}, missing))
    return tuple(queued)


def _some_op_takes(ops: Sequence[Op], shape: Mapping[str, object]) -> None:
    if len(ops) > 1 and not any(_takes(op, shape) for op in ops):
        has = ", ".join(f"{op.name} ({', '.join(_names(op))})" for op in ops)
        raise TargetError(f"shape {shape_text(shape)}", "no op of the target has these indices", f"there are {has}")


def _takes(op: Op, shape: Mapping[str, object]) -> bool:
    return set(shape) <= set(_names(op))


def _names(op: Op) -> tuple[str, ...]:
    signature = op.signature
    return (*signature.dim_names, *signature.shape_names, *signature.dtype_names, *signature.scalar_names)


def _pattern(op: Op) -> str:
    return ",".join(f"{name}=…" for name in _names(op))
