"""A tune of one call, from the answer that was kept to the answer that is kept.

A decision that was kept under the same key, checksum and protocol stands: it is not raced again, refused races
included, so that tuning twice changes nothing. What is decided anew goes to the environment in one transaction, answer,
figures and record together, and once more, under the bucket's key, as a hint for the neighbours.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import uuid4

import msgspec

from assay.errors import TuneError
from assay.measure import Protocol, measurement
from assay.signature import outputs_written
from assay.store import (
    Answer,
    Chosen,
    Evidence,
    KeptFigure,
    Ranked,
    Session,
    TableEntry,
    Trial,
    TuneRecord,
    Winner,
    digest,
    rank,
)
from assay.tuning.contest import Contest, Decision, Search
from assay.tuning.decide import decide
from assay.tuning.job import Job, layouts_of
from assay.tuning.keys import (
    BUCKET,
    EXACT,
    answer_key,
    build_identity,
    checksum,
    shape_text,
)
from assay.tuning.order import Subject, TuneOrder
from assay.tuning.result import EntrantResult, Progress, TrialResult, TuneResult
from assay.tuning.verdicts import KeptVerdicts
from assay.tuning.workbench import WorkBench
from assay.worker import Inline


def tune(
    subject: Subject, order: TuneOrder, search: Search, on_progress: Callable[[Progress], None] = lambda _: None
) -> TuneResult:
    """How one call is decided: by what was kept, or by measuring now and keeping it.

    Args:
        subject: what is tuned.
        order: how, and where to keep it.
        search: what to try.
        on_progress: told where the tune is.

    Raises:
        TuneError: no entrant survived, or none serves the call.
        MeasureError: the default does not run any more, or nothing can be kept for this device.
    """
    declaration, call = subject.declaration, subject.call
    if not outputs_written(call):
        where = f"{declaration.name} at {shape_text(subject.shape)}"
        raise TuneError(where, "every output is empty, so there is nothing to tune")
    entry = TableEntry(
        answer_key(declaration, call, order.device, level=EXACT), checksum(declaration, call, order.place)
    )
    kept = None if order.remeasure else order.environment.answer(entry.key, entry.checksum, fresh=True)
    if kept is not None and kept.protocol == protocol_text(order.protocol):
        return result_of(kept)
    order = order if kept is None else replace(order, remeasure=True)
    began_ns = order.device.clock.now_ns()
    decision = _decided(subject, order, search, on_progress)
    answer = _answer(subject, order, entry, decision)
    record = None
    if decision.measured and (not decision.cut_short or decision.outcome == "gain"):
        record = TuneRecord(
            entry=entry,
            winner=answer.winner.index,
            trials=tuple(Trial(one.label, one.wall_s) for one in decision.trials),
            wall=(order.device.clock.now_ns() - began_ns) / 1e9,
            dry_run=order.dry_run,
        )
        record = _commit(subject, order, answer, record, decision)
    return replace(
        result_of(answer),
        complete=not decision.cut_short,
        trials=decision.trials,
        record=record,
        kept=False,
        warnings=decision.warnings,
    )


def result_of(answer: Answer) -> TuneResult:
    """The result of a tune that was kept."""
    entrants = tuple(
        EntrantResult(one.kernel, one.setting, one.outcome, one.reason, one.median_ns, one.ratio)
        for one in answer.entrants
    )
    trials = tuple(
        TrialResult(
            one.kernel,
            one.setting,
            one.delta_ns,
            one.noise_ns,
            one.reason if one.outcome in ("refused", "failed") else None,
            answer.outcome == "gain" and (one.kernel, one.setting) == (answer.winner.kernel, answer.winner.setting),
            one.wall_s,
        )
        for one in answer.entrants
        if one.wall_s is not None
    )
    return TuneResult(
        op=answer.key.op,
        shape=dict(answer.indices),
        outcome=answer.outcome,
        reason=answer.reason,
        winner=_named(entrants, answer.winner.kernel, answer.winner.setting),
        default=_named(entrants, answer.default.kernel, answer.default.setting),
        ratio=answer.ratio,
        interval=answer.interval,
        evidence=answer.evidence,
        trials=trials,
        entrants=entrants,
        record=None,
        kept=True,
    )


CUT_SHORT = " cut short"
"""Put after the protocol of a gain that was confirmed before all was tried: it runs, and a later tune goes on."""


def protocol_text(protocol: Protocol) -> str:
    """A protocol as it is kept beside a decision: its name and every number but the seed.

    >>> protocol_text(Protocol()) == protocol_text(Protocol(seed=7))
    True
    """
    numbers = {name: value for name, value in msgspec.structs.asdict(protocol).items() if name not in ("name", "seed")}
    return f"{protocol.name} " + " ".join(f"{name}={value}" for name, value in sorted(numbers.items()))


def _decided(subject: Subject, order: TuneOrder, search: Search, on_progress: Callable[[Progress], None]) -> Decision:
    declaration, call = subject.declaration, subject.call
    job = Job(
        id=uuid4().hex,
        declaration=declaration,
        shape=subject.shape,
        inputs=subject.inputs,
        layouts=layouts_of(call) if subject.inputs is not None else {},
        place=order.place,
        protocol=order.protocol,
        limits=order.limits,
        own_process=not isinstance(order.runner, Inline),
    )

    missing, verdicts = order.device.contention().missing, KeptVerdicts(subject, order)
    bench = WorkBench(job, order.runner, warnings=missing, verdicts=verdicts)
    return decide(
        Contest(declaration, call, subject.default, shape_text(subject.shape)), bench, search, order.device, on_progress
    )


def _commit(
    subject: Subject, order: TuneOrder, answer: Answer, record: TuneRecord, decision: Decision
) -> TuneRecord | None:
    """Keeps answer, figures and record in one transaction, then the hint for the bucket; the record as it was kept."""
    environment = order.environment
    if environment.session is None:
        identity = order.device.fingerprint.key or ""
        environment.begin(Session.here(order.device.clock.date(), device=identity, versions=order.versions))
    answer = msgspec.structs.replace(answer, session=environment.session.id if environment.session else "")
    figures = _figures(subject, order, decision)
    committed = environment.commit([answer], figures, record, replace=order.remeasure)
    if committed.stored:
        bucket = answer_key(subject.declaration, subject.call, order.device, level=BUCKET)
        environment.commit([msgspec.structs.replace(answer, key=bucket)], replace=order.remeasure)
    return committed.record


def _answer(subject: Subject, order: TuneOrder, entry: TableEntry, decision: Decision) -> Answer:
    names = [found.name for found in subject.declaration.candidates]
    winner, confirmed = decision.winner, decision.confirmation
    trials = {one.label: one for one in decision.trials}
    return Answer(
        key=entry.key,
        checksum=entry.checksum,
        winner=Winner(winner.kernel, names.index(winner.kernel), winner.setting.as_dict()),
        default=Chosen(decision.default.kernel, decision.default.setting.as_dict()),
        outcome=decision.outcome,
        entrants=rank(_ranked(one, trials.get(one.label)) for one in decision.entrants),
        reason=decision.reason,
        ratio=confirmed.ratio if confirmed is not None else None,
        interval=confirmed.interval if confirmed is not None else None,
        evidence=msgspec.convert(confirmed.evidence, Evidence, from_attributes=True) if confirmed is not None else None,
        date=order.device.clock.date(),
        protocol=f"{protocol_text(order.protocol)}{CUT_SHORT if decision.cut_short else ''}",
        versions=dict(order.versions),
        indices=subject.shape,
    )


def _ranked(one: EntrantResult, trial: TrialResult | None) -> Ranked:
    return Ranked(
        kernel=one.kernel,
        setting=dict(one.setting),
        outcome=one.outcome,
        reason=one.reason,
        median_ns=one.median_ns,
        ratio=one.ratio,
        delta_ns=trial.delta_ns if trial else None,
        noise_ns=trial.noise_ns if trial else None,
        wall_s=trial.wall_s if trial else None,
    )


def _figures(subject: Subject, order: TuneOrder, decision: Decision) -> list[KeptFigure]:
    """Every timed entrant's figures, each under all that its time follows."""
    run = uuid4().hex[:16]
    found: list[KeptFigure] = []
    key = str(answer_key(subject.declaration, subject.call, order.device, level=EXACT))
    numbers = (protocol_text(order.protocol), str(order.protocol.seed))
    for entrant, standing in decision.standings.items():
        candidate = subject.declaration.candidate(entrant.kernel)
        figure = measurement(standing, order.device, order.protocol, run)
        if candidate is not None and figure is not None:
            identity = build_identity(candidate, subject.call, order.place, entrant.setting)
            found.append(KeptFigure(digest([key, str(entrant), identity, *numbers]), figure))
    return found


def _named(entrants: tuple[EntrantResult, ...], kernel: str, setting: Mapping[str, object]) -> EntrantResult:
    for one in entrants:
        if one.kernel == kernel and dict(one.setting) == dict(setting):
            return one
    raise TuneError(kernel, "is named as the outcome and was no entrant")
