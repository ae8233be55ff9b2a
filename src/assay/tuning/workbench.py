"""The bench of a real device: tasks in a worker process, and the blame when one does not come back.

A fault names the entrant that was at work. It is out, with its reason, and the rest go on in a fresh process. When the
default itself is lost, it is given a fresh process once; lost again, the tune ends, since nothing can be compared.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar, cast

from assay.errors import MeasureError
from assay.gate import Verdict
from assay.kernel import Entrant
from assay.measure import Confirmation
from assay.tuning.bench import DefaultLostError, Failed, OnExamined, Selected, Verdicts
from assay.tuning.job import Job, confirm_one, examine_batch, select_batch
from assay.worker import Channel, Done, Fault, Runner

T = TypeVar("T")
Examined = tuple[Entrant, Verdict | Failed]


class WorkBench:
    """Examines and times entrants of one job on a runner.

    Args:
        job: the shape to be decided.
        runner: a worker process, or this one.
        warnings: the protections that are missing while measuring on this device.
        verdicts: where they are kept; None means nowhere.
    """

    def __init__(
        self,
        job: Job,
        runner: Runner,
        *,
        warnings: tuple[str, ...] = (),
        verdicts: Verdicts | None = None,
    ) -> None:
        self.warnings = warnings
        self._job = job
        self._runner = runner
        self._verdicts = verdicts

    def examine(self, entrants: Sequence[Entrant], on_examined: OnExamined) -> dict[Entrant, Verdict | Failed]:
        """Builds and judges each entrant, in order; one that takes its worker down is `Failed`, the others go on.

        Raises:
            MeasureError: the probes themselves cannot be made or judged.
        """
        found: dict[Entrant, Verdict | Failed] = {}

        def note(message: object) -> None:
            entrant, verdict = cast("Examined", message)
            found[entrant] = verdict
            if self._verdicts is not None:
                self._verdicts.keep(entrant, verdict)
            on_examined(entrant, verdict)

        for entrant in entrants:
            known = self._verdicts.known(entrant) if self._verdicts is not None else None
            if known is not None:
                found[entrant] = known
                on_examined(entrant, known)
        left: list[Entrant] = [entrant for entrant in entrants if entrant not in found]
        while left:
            outcome = self._runner.run(partial(examine_batch, self._job, left), note)
            left = [entrant for entrant in left if entrant not in found]
            if isinstance(outcome, Fault):
                blamed = _blamed(outcome, left)
                if blamed is None:
                    raise MeasureError(self._job.declaration.name, str(outcome))
                note((blamed, _failed(outcome)))
                left.remove(blamed)
        return found

    def select(self, entrants: Sequence[Entrant], default: Entrant) -> Selected:
        """Times the entrants beside the default, interleaved.

        Raises:
            DefaultLostError: the default does not run any more.
        """
        lost: dict[Entrant, Failed] = {}
        left: list[Entrant] = list(entrants)
        default_lost = False
        while left:
            outcome = self._run(partial(select_batch, self._job, left, default))
            if isinstance(outcome, Done):
                selected = outcome.value
                return Selected({**selected.standings, **lost}, selected.default, selected.refused)
            blamed = _blamed(outcome, [default, *left])
            default_lost = self._accept(blamed, default, outcome, lost, before=default_lost)
            left = [entrant for entrant in left if entrant not in lost]
        return Selected({**lost}, None)

    def confirm(self, candidate: Entrant, default: Entrant) -> Confirmation | Failed:
        """Races one candidate against the default on fresh data.

        Raises:
            DefaultLostError: the default does not run any more.
        """
        lost: dict[Entrant, Failed] = {}
        default_lost = False
        while candidate not in lost:
            outcome = self._run(partial(confirm_one, self._job, candidate, default))
            if isinstance(outcome, Done):
                return outcome.value
            blamed = _blamed(outcome, [default, candidate])
            default_lost = self._accept(blamed, default, outcome, lost, before=default_lost)
        return lost[candidate]

    def _run(self, task: Callable[[Channel], T]) -> Done[T] | Fault:
        return self._runner.run(task)

    def _accept(
        self, blamed: Entrant | None, default: Entrant, fault: Fault, lost: dict[Entrant, Failed], *, before: bool
    ) -> bool:
        """Takes a fault into account: an entrant's own puts it out, the default's first one is forgiven.

        Raises:
            DefaultLostError: it is nobody's, or the default's second.
        """
        if blamed is not None and blamed != default:
            lost[blamed] = _failed(fault)
            return before
        if blamed is None or before:
            raise DefaultLostError(str(default), f"the default cannot be timed: {fault.reason}")
        return True


def _blamed(fault: Fault, entrants: Sequence[Entrant]) -> Entrant | None:
    """The entrant a fault's step names; None when it names none of these."""
    return next((entrant for entrant in entrants if fault.step.startswith(f"{entrant}: ")), None)


def _failed(fault: Fault) -> Failed:
    step = fault.step.rpartition(": ")[2]
    return Failed(f"{fault.reason} while it was {'built' if step == 'build' else 'run'}", step)
