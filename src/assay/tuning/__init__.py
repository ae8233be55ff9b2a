"""How is one key decided?"""

from assay.tuning.bench import Bench, Failed, Selected
from assay.tuning.contest import Contest, Decision, Search
from assay.tuning.decide import decide
from assay.tuning.declaration import Candidate, Declaration, by_tier
from assay.tuning.job import Job, layouts_of
from assay.tuning.keep import protocol_text, result_of, tune
from assay.tuning.keys import (
    BUCKET,
    EXACT,
    VerdictSlot,
    answer_key,
    build_identity,
    checksum,
    device_facts,
    exact_shape,
    region,
    shape_text,
    verdict_slot,
)
from assay.tuning.order import Subject, TuneOrder
from assay.tuning.result import EntrantResult, Progress, TrialResult, TuneResult
from assay.tuning.shop import Shop
from assay.tuning.verdicts import keep_verdict
from assay.tuning.workbench import WorkBench

__all__ = [
    "BUCKET",
    "EXACT",
    "Bench",
    "Candidate",
    "Contest",
    "Decision",
    "Declaration",
    "EntrantResult",
    "Failed",
    "Job",
    "Progress",
    "Search",
    "Selected",
    "Shop",
    "Subject",
    "TrialResult",
    "TuneOrder",
    "TuneResult",
    "VerdictSlot",
    "WorkBench",
    "answer_key",
    "build_identity",
    "by_tier",
    "checksum",
    "decide",
    "device_facts",
    "exact_shape",
    "keep_verdict",
    "layouts_of",
    "protocol_text",
    "region",
    "result_of",
    "shape_text",
    "tune",
    "verdict_slot",
]
