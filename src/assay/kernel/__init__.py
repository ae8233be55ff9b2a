"""What can run: kernels, the settings they run at, and the programs they are built into."""

from assay.kernel.body import function_digest
from assay.kernel.c import CKernel
from assay.kernel.constraint import Constraint
from assay.kernel.domain import Domain
from assay.kernel.kernel import Declared, Kernel, Place, Program, UsesWorkspace, bind
from assay.kernel.numba import NumbaKernel
from assay.kernel.python import PythonKernel
from assay.kernel.setting import TIERS, Entrant, Setting, Tier, Value
from assay.kernel.space import Dropped, Space

__all__ = [
    "TIERS",
    "CKernel",
    "Constraint",
    "Declared",
    "Domain",
    "Dropped",
    "Entrant",
    "Kernel",
    "NumbaKernel",
    "Place",
    "Program",
    "PythonKernel",
    "Setting",
    "Space",
    "Tier",
    "UsesWorkspace",
    "Value",
    "bind",
    "function_digest",
]
