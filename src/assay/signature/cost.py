"""What a call costs: the bytes it moves and the operations its declaration says it does.

Traffic counts each element of a tensor as often as the signature's effects say it is read and written. Dtypes of less
than a byte are packed: they count their bits.
"""

from assay.array import ArrayView
from assay.errors import DeclarationError
from assay.signature.arithmetic import value_text
from assay.signature.call import Call
from assay.signature.expression import Expr

_PACKED_BITS = {"int4": 4, "uint4": 4}


def tensor_bytes(seen: ArrayView) -> int:
    """The bytes of a tensor's elements, packed dtypes rounded up to whole bytes.

    >>> tensor_bytes(ArrayView((3, 5), (5, 1), "int4", 1, "cpu", 0))  # 15 elements of 4 bits
    8
    """
    bits = _PACKED_BITS.get(seen.dtype, 8 * seen.itemsize)
    return (seen.size * bits + 7) // 8


def traffic_bytes(call: Call) -> int:
    """The bytes a call reads and writes."""
    return sum(sum(call.record.traffic[name]) * tensor_bytes(seen) for name, seen in call.views.items())


def written_bytes(call: Call) -> int:
    """The bytes a call writes."""
    return sum(call.record.traffic[name][1] * tensor_bytes(seen) for name, seen in call.views.items())


def outputs_written(call: Call) -> tuple[str, ...]:
    """The tensors whose elements a call writes, written inputs included; empty when there is nothing to compute."""
    return tuple(name for name, seen in call.views.items() if call.record.traffic[name][1] and seen.size)


def flops(expr: Expr, call: Call, subject: str) -> int:
    """The operations a call does, by its op's formula.

    Raises:
        DeclarationError: the formula is no whole number of 0 or more on this call.
    """
    return formula(expr, call, subject, "flops")


def formula(expr: Expr, call: Call, subject: str, entry: str) -> int:
    """What a roofline formula (``flops``, ``bytes``) gives for a call.

    Raises:
        DeclarationError: it gives a float, a truth value or a negative number; the message names the entry.
    """
    try:
        value = expr.evaluate(call.facts({}))
    except DeclarationError as trouble:
        raise DeclarationError(subject, f"{entry} = {trouble}") from trouble
    if type(value) is not int or value < 0:
        seen = f"{value_text(value)}, of type {type(value).__name__}" if type(value) is not int else str(value)
        raise DeclarationError(
            subject,
            f"{entry} = {expr} is {seen}: expected a whole number of 0 or more",
            "use // and ceil() for whole parts",
        )
    return value
