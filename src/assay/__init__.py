"""assay chooses which compute kernel runs, and can prove why.

Declare an op with `assay.op`, give it kernels, `assay.tune` it, call it. Everything here is loaded when it is first
used: importing assay loads no framework.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.errors import AssayError
    from assay.gate import Gate
    from assay.job import tune
    from assay.kernel import CKernel, NumbaKernel
    from assay.ops import Op, dispatch, dry_run, environment, force, op, policy
    from assay.signature import SignatureCall
    from assay.store import Environment, Profile, TuneRecord
    from assay.tuning import TuneResult

__version__ = "0.1.0"

_HOME = {
    "AssayError": "assay.errors",
    "CKernel": "assay.kernel",
    "Environment": "assay.store",
    "Gate": "assay.gate",
    "NumbaKernel": "assay.kernel",
    "Op": "assay.ops",
    "Profile": "assay.store",
    "SignatureCall": "assay.signature",
    "TuneRecord": "assay.store",
    "TuneResult": "assay.tuning",
    "dispatch": "assay.ops",
    "dry_run": "assay.ops",
    "environment": "assay.ops",
    "force": "assay.ops",
    "op": "assay.ops",
    "policy": "assay.ops",
    "tune": "assay.job",
}

__all__ = [
    "AssayError",
    "CKernel",
    "Environment",
    "Gate",
    "NumbaKernel",
    "Op",
    "Profile",
    "SignatureCall",
    "TuneRecord",
    "TuneResult",
    "dispatch",
    "dry_run",
    "environment",
    "force",
    "op",
    "policy",
    "tune",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
