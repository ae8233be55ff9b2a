"""What does a user call?"""

from assay.ops.arbiter import Choice
from assay.ops.built import BuiltKernel
from assay.ops.declare import op
from assay.ops.explain import Explanation
from assay.ops.log import DispatchEntry, DispatchLog, dispatch, save_counts
from assay.ops.op import Op
from assay.ops.regime import (
    Regime,
    current_regime,
    dry_run,
    environment,
    environment_in_force,
    force,
    gating,
    options_in_force,
    policy,
    start_over,
    strict,
)
from assay.ops.sources import device_here, forget_profiles, place_here
from assay.ops.tune import PlannedCandidate, PlannedShape, plan_call, tune_call

__all__ = [
    "BuiltKernel",
    "Choice",
    "DispatchEntry",
    "DispatchLog",
    "Explanation",
    "Op",
    "PlannedCandidate",
    "PlannedShape",
    "Regime",
    "current_regime",
    "device_here",
    "dispatch",
    "dry_run",
    "environment",
    "environment_in_force",
    "force",
    "forget_profiles",
    "gating",
    "op",
    "options_in_force",
    "place_here",
    "plan_call",
    "policy",
    "save_counts",
    "start_over",
    "strict",
    "tune_call",
]
