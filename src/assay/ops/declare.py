"""`assay.op`: the decorator that makes an op of a signature and a reference."""

from collections.abc import Callable, Mapping, Sequence

from assay.errors import DeclarationError
from assay.gate import Gate
from assay.gate.tolerance import refuse_unknown
from assay.ops.op import Op
from assay.signature import parse, parse_expr
from assay.tuning import Declaration


def op(
    signature: str,
    *,
    name: str | None = None,
    flops: str | None = None,
    gate: Gate | None = None,
    finite_only: bool = False,
    shapes: Sequence[Mapping[str, object]] = (),
) -> Callable[[Callable[..., object]], Op]:
    """A decorator that makes an op of a function; the function's body is the reference.

    Args:
        signature: the signature's text.
        name: the op's name; None means the function's.
        flops: the formula of the work, over the signature's indices (``2*M*N*K``).
        gate: the tolerance that admits a kernel; None means 16 eps of the output's dtype, by magnitude.
        finite_only: whether the op is defined for finite values only.
        shapes: what is tuned when no shape is given: indices, and scalars where there are any, by name.

    Raises:
        SignatureError: the signature cannot be parsed or satisfied; it says where.
        DeclarationError: the formula cannot be parsed, or reads a name the signature does not have.
        CallError: one of the shapes is no call of this op.

    Example:
        >>> import numpy as np
        >>> @op("forall N: Dim. (x: float64[N]) -> (y: float64[N])")
        ... def double(x):
        ...     return 2 * x
        >>> double(np.ones(2))
        array([2., 2.])
    """

    def make(reference: Callable[..., object]) -> Op:
        own = name or getattr(reference, "__name__", "op")
        if not own.isidentifier():
            raise DeclarationError(own, "an op's name is letters, digits and underscores", "pass name=")
        parsed = parse(signature)
        if "out" in parsed.input_names:
            raise DeclarationError(own, "an input is called out, which is how a call names its outputs", "rename it")
        formula = parse_expr(flops, f"{own}: flops") if flops is not None else None
        if formula is not None:
            unknown = sorted(formula.names - parsed.value_names)
            if unknown:
                raise DeclarationError(own, f"flops reads {', '.join(unknown)}, which the signature does not have")
        if gate is not None:
            refuse_unknown(gate, own, parsed)
        declaration = Declaration(
            name=own,
            signature=parsed,
            reference=reference,
            gate=gate if gate is not None else Gate(),
            finite_only=finite_only,
            flops=formula,
        )
        made = Op(declaration, shapes)
        for shape in made.shapes:
            made.describe(shape)
        return made

    return make
