"""How the dispatch counts are shown: did the compiled path win, degrade, or was there nothing to run?"""

from collections.abc import Mapping

from assay.report.table import Column, Table
from assay.store import DISPATCH_OUTCOMES, CountKey


def counts_by_op(counts: Mapping[CountKey, int]) -> dict[tuple[str, str], dict[str, int]]:
    """Calls by outcome for each (target, op), every outcome present.

    Args:
        counts: calls by (target, op, outcome).
    """
    found: dict[tuple[str, str], dict[str, int]] = {}
    for (target, op, outcome), count in sorted(counts.items()):
        found.setdefault((target, op), dict.fromkeys(DISPATCH_OUTCOMES, 0))[outcome] = count
    return found


def dispatch_table(counts: Mapping[CountKey, int]) -> Table:
    """One row for each op of each target."""
    return Table(
        columns=(
            Column("target"),
            Column("op"),
            *(Column(name.replace("_", " "), "right") for name in DISPATCH_OUTCOMES),
        ),
        rows=tuple(
            (target, op, *(str(by_outcome[outcome]) for outcome in DISPATCH_OUTCOMES))
            for (target, op), by_outcome in counts_by_op(counts).items()
        ),
        when_empty="no calls were counted in this environment yet",
    )


def dispatch_document(counts: Mapping[CountKey, int]) -> dict[str, object]:
    """What `assay dispatch --json` prints."""
    return {
        "counts": [
            {"target": target, "op": op, **by_outcome} for (target, op), by_outcome in counts_by_op(counts).items()
        ]
    }
