"""What would one rather look at? Tables and documents, as values; whoever shows them draws them."""

from assay.report.dispatch import counts_by_op, dispatch_document, dispatch_table
from assay.report.doctor import Compiler, Health, examine, health_document, health_table
from assay.report.others import others_text, refused_table
from assay.report.records import records_document, records_table
from assay.report.table import Column, Table
from assay.report.tune import (
    gain_text,
    plan_document,
    plan_table,
    ratio_text,
    result_document,
    tune_document,
    tune_table,
    warning_lines,
)

__all__ = [
    "Column",
    "Compiler",
    "Health",
    "Table",
    "counts_by_op",
    "dispatch_document",
    "dispatch_table",
    "examine",
    "gain_text",
    "health_document",
    "health_table",
    "others_text",
    "plan_document",
    "plan_table",
    "ratio_text",
    "records_document",
    "records_table",
    "refused_table",
    "result_document",
    "tune_document",
    "tune_table",
    "warning_lines",
]
