"""What is a legal call, and what does it cost?

A signature is a polymorphic function type over tensors. `parse` reads one; `check` settles a call against it before
anything is loaded or run, and gives a `Call`; `describe` gives the same from sizes alone. Expressions, which kernels
and rooflines also use, are read by `parse_expr`.
"""

from assay.signature.call import Call, IndexValue, Scalar, SignatureCall, read_only
from assay.signature.check import check
from assay.signature.cost import flops, formula, outputs_written, tensor_bytes, traffic_bytes, written_bytes
from assay.signature.describe import describe
from assay.signature.expression import Expr, feature_value
from assay.signature.facts import Facts
from assay.signature.inputs import Maker, allocate_outputs, array_like, make_inputs
from assay.signature.nodes import DTYPES
from assay.signature.outputs import refuse_overlap
from assay.signature.parser import parse, parse_expr
from assay.signature.signature import Signature
from assay.signature.terms import Index, Out, Param, ScalarArg, ScalarType, TensorArg, TensorType

__all__ = [
    "DTYPES",
    "Call",
    "Expr",
    "Facts",
    "Index",
    "IndexValue",
    "Maker",
    "Out",
    "Param",
    "Scalar",
    "ScalarArg",
    "ScalarType",
    "Signature",
    "SignatureCall",
    "TensorArg",
    "TensorType",
    "allocate_outputs",
    "array_like",
    "check",
    "describe",
    "feature_value",
    "flops",
    "formula",
    "make_inputs",
    "outputs_written",
    "parse",
    "parse_expr",
    "read_only",
    "refuse_overlap",
    "tensor_bytes",
    "traffic_bytes",
    "written_bytes",
]
