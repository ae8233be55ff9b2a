"""How is a package of ops tuned?

A target is resolved to ops, the ops and shapes to a queue, and the queue is worked through shape by shape: what fails
is written down and the others go on. The profile is written once, at the end.
"""

from assay.job.loop import Listener, LoopOutcome, tune_all
from assay.job.queue import ShapeTask, queue
from assay.job.request import RunProgress, ShapeFailure, TuneReport, TuneRequest
from assay.job.run import PlanReport, plan, profile_after, run
from assay.job.shape import read_budget, read_shape
from assay.job.target import Target, resolve, resolve_one
from assay.job.tune import tune

__all__ = [
    "Listener",
    "LoopOutcome",
    "PlanReport",
    "RunProgress",
    "ShapeFailure",
    "ShapeTask",
    "Target",
    "TuneReport",
    "TuneRequest",
    "plan",
    "profile_after",
    "queue",
    "read_budget",
    "read_shape",
    "resolve",
    "resolve_one",
    "run",
    "tune",
    "tune_all",
]
