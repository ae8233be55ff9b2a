"""Tuned mode: each kernel an op runs is tuned once per shape, and keeps being the kernel that runs.

Only the setting changes, never which kernel is selected. What is found lives as long as the op: it answers "at which
setting", and the environment's answers are about "which entrant".
"""

from collections.abc import Iterable

from assay.kernel import Entrant, Setting
from assay.ops.arbiter import Question
from assay.ops.measuring import tune_here
from assay.ops.regime import Regime
from assay.ops.sources import device_here
from assay.tuning import EXACT, Search, answer_key


class TunedSettings:
    """The settings tuned mode found, by kernel and exact shape.

    Attributes:
        requested: whether the op is in tuned mode.
    """

    def __init__(self) -> None:
        self.requested = False
        self._found: dict[tuple[str, str], Setting] = {}

    def setting(self, question: Question, entrant: Entrant, regime: Regime) -> Setting:
        """The setting a kernel runs this call at: what was found before, else what a tune finds now.

        Raises:
            TuneError: the tune failed; nothing is remembered, and it can be tried again.
            MeasureError: the kernel does not run at the setting it has.
        """
        if not entrant.setting.pairs:
            return entrant.setting
        slot = (entrant.kernel, str(answer_key(question.declaration, question.call, device_here(), level=EXACT)))
        found = self._found.get(slot)
        if found is None:
            result = tune_alone(question, entrant, regime)
            candidate = question.declaration.candidate(entrant.kernel)
            found = entrant.setting if candidate is None else candidate.kernel.setting(result)
            self._found[slot] = found
        return found

    def tune_all(self, runs: Iterable[tuple[Question, Entrant]], regime: Regime) -> None:
        """Tunes everything that runs now.

        Raises:
            TuneError: a tune failed; what was found before it stays, and the request can be made again.
        """
        for question, entrant in runs:
            self.setting(question, entrant, regime)


def tune_alone(question: Question, entrant: Entrant, regime: Regime) -> dict[str, int | float | bool | str]:
    """The setting that a tune of one kernel alone leaves it at.

    Raises:
        TuneError: the tune failed.
    """
    declaration = question.declaration
    alone = declaration.only(entrant.kernel)
    pinned = {entrant.kernel: question.pinned}
    search = Search(pinned=pinned)
    asked = Question(alone, question.call, question.device, question.pinned, question.recorded, {})
    return dict(tune_here(asked, entrant, regime, search, None).winner.setting)
