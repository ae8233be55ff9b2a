"""The tasks of a tune that run where the kernels run: examine a batch, select among it, confirm one.

Each is a function of a job, the entrants and a channel, so that it can be sent to a worker process. Before anything
that may hang or crash, the channel is told which entrant it is about: when the process is lost, that is the one it is
blamed on. What a process has built and prepared for a job is kept in it from task to task.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np

from assay.array import ArrayView
from assay.device import cpu_device
from assay.errors import AssayError, MeasureError, reason_of
from assay.kernel import Entrant, Place, bind
from assay.measure import CallSampler, Confirmation, Placements, Protocol, confirm, select
from assay.signature import Call, allocate_outputs, array_like, check, describe, make_inputs
from assay.tuning.bench import Failed, Selected
from assay.tuning.declaration import Declaration
from assay.tuning.keys import device_facts
from assay.tuning.shop import ENDINGS, KernelRaised, Shop
from assay.worker import Channel, Limits

NO_LIMIT = float("inf")
_CALLS_AT_ONCE = 100
"""A block may hold many calls of a short kernel; its limit is that many times the limit of one, at most."""


@dataclass(frozen=True, eq=False, slots=True)
class Job:
    """One shape of one op to be decided, as it is sent to where the kernels run.

    Attributes:
        id: tells jobs apart in a process.
        declaration: the op.
        shape: the indices and scalars of the call.
        inputs: the caller's own inputs by name; None means they are made from the shape.
        layouts: how the caller's own arrays lie, by name, an `out` it gave included: arrays cross to another process
            without their strides, and are laid out anew there.
        place: where compiled kernels are kept.
        protocol: how to measure; its seed is the seed of everything drawn.
        limits: how long a build and a call may take.
        own_process: whether the process exists for entrants alone.
    """

    id: str
    declaration: Declaration
    shape: Mapping[str, object]
    inputs: Mapping[str, object] | None
    layouts: Mapping[str, ArrayView]
    place: Place
    protocol: Protocol
    limits: Limits
    own_process: bool


def layouts_of(call: Call) -> dict[str, ArrayView]:
    """How the arrays of a call lie, those a caller gave: its inputs, and an `out`."""
    given = (*call.inputs, *(call.outputs if call.record.has_out else ()))
    return {name: call.views[name] for name in given if name in call.views}


def examine_batch(job: Job, entrants: Sequence[Entrant], channel: Channel) -> None:
    """Builds and judges each entrant, and sends each verdict as it is reached."""
    bay = _bay(job, channel)
    channel.step("the probes", NO_LIMIT)
    bay.shop.prepare()
    for entrant in entrants:
        channel.send((entrant, bay.shop.judge(entrant)))


def select_batch(job: Job, entrants: Sequence[Entrant], default: Entrant, channel: Channel) -> Selected:
    """Times the entrants beside the default."""
    bay = _bay(job, channel)
    bound, broken = bay.bound(default, [entrant for entrant in entrants if entrant != default])
    labels = list(bound)
    found = select(bay.sampler(bound), range(len(labels)), 0, job.protocol)
    standings = {labels[one.entrant]: one for one in found.standings}
    return Selected({**standings, **broken}, found.default, found.refused)


def confirm_one(job: Job, candidate: Entrant, default: Entrant, channel: Channel) -> Confirmation | Failed:
    """Races the candidate against the default on fresh data."""
    bay = _bay(job, channel)
    bound, broken = bay.bound(default, [candidate])
    if candidate in broken:
        return broken[candidate]
    return confirm(bay.sampler(bound), 1, 0, job.protocol)


class _Bay:
    """What a process has prepared for a job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.channel: Channel | None = None
        declaration = job.declaration
        self.device = cpu_device()
        signature, name = declaration.signature, declaration.name
        self.inputs = None if job.inputs is None else _laid_out(job.inputs, job.layouts)
        if self.inputs is None:
            self.call = describe(signature, name, job.shape, params=declaration.params)
        else:
            outs = {out: array_like(job.layouts[out]) for out in signature.output_names if out in job.layouts}
            self.call = check(signature, name, {**self.inputs, **outs}, params=declaration.params)
        self.shop = Shop(
            declaration,
            self.call,
            device=device_facts(self.device),
            place=job.place,
            seed=job.protocol.seed,
            inputs=self.inputs,
            own_process=job.own_process,
            on_step=self._step,
        )

    def bound(
        self, default: Entrant, others: Sequence[Entrant]
    ) -> tuple[dict[Entrant, list[Callable[[], object]]], dict[Entrant, Failed]]:
        """The entrants' calls on every set of buffers, each run once: which is their warm-up; and who failed that.

        Raises:
            MeasureError: the default did.
        """
        bound: dict[Entrant, list[Callable[[], object]]] = {}
        broken: dict[Entrant, Failed] = {}
        for entrant in (default, *others):
            try:
                bound[entrant] = self._bind(entrant)
            except (AssayError, KernelRaised) as failure:
                broken[entrant] = Failed(failure.said if isinstance(failure, AssayError) else str(failure))
            except self._failures as failure:
                broken[entrant] = Failed(reason_of(failure))
        if default in broken:
            raise MeasureError(str(default), broken[default].reason, "the default must run for anything to be compared")
        return bound, broken

    def sampler(self, bound: Mapping[Entrant, list[Callable[[], object]]]) -> CallSampler:
        """What times the bound calls."""
        labels = [f"{entrant}: call" for entrant in bound]
        limit_s = self.job.limits.call_s * _CALLS_AT_ONCE
        channel = self.channel
        sets = self.placements.sets
        return CallSampler(
            self.device,
            list(bound.values()),
            restore=[one.restore for one in sets] if self.placements.mutates else (),
            on_block=None if channel is None else lambda entrant: channel.step(labels[entrant], limit_s),
            failures=self._failures,
        )

    @cached_property
    def placements(self) -> Placements:
        """The sets of buffers every entrant runs on."""
        job, declaration, call = self.job, self.job.declaration, self.call
        inputs = self.inputs
        if inputs is None:
            rng = np.random.default_rng(job.protocol.seed)
            inputs = make_inputs(declaration.signature, call, rng, declaration.maker)
        return Placements(
            inputs,
            allocate_outputs(call),
            mutated=call.record.written,
            seed=job.protocol.seed,
            count=job.protocol.placements,
        )

    @property
    def _failures(self) -> tuple[type[BaseException], ...]:
        return (Exception, *ENDINGS) if self.job.own_process else (Exception,)

    def _bind(self, entrant: Entrant) -> list[Callable[[], object]]:
        program, call = self.shop.program(entrant), self.call
        calls: list[Callable[[], object]] = []
        for one in self.placements.sets:
            inputs = [one.inputs.get(name) for name in call.inputs]
            outputs = [one.outputs[name] for name in call.outputs]
            bound = bind(program, call, inputs, outputs)
            self._step(entrant, "call")
            if bound() is NotImplemented:
                raise MeasureError(str(entrant), "declined the call it is to be timed on")
            self._step(entrant, "rest")
            if self.placements.mutates:
                one.restore()
            calls.append(bound)
        return calls

    def _step(self, entrant: Entrant, step: str) -> None:
        if self.channel is None:
            return
        limits = self.job.limits
        limit_s = limits.build_s if step == "build" else limits.call_s if step == "call" else NO_LIMIT
        self.channel.step(f"{entrant}: {step}", limit_s)


def _laid_out(inputs: Mapping[str, object], layouts: Mapping[str, ArrayView]) -> dict[str, object]:
    """The inputs, each array of them lying as it is said to."""
    found = dict(inputs)
    for name, view in layouts.items():
        value = inputs.get(name)
        if isinstance(value, np.ndarray):
            laid = array_like(view)
            np.copyto(laid, cast("np.ndarray[Any, np.dtype[Any]]", value))
            found[name] = laid
    return found


@lru_cache(maxsize=1)
def _kept(job_id: str) -> list[_Bay]:
    """The place of the one bay this process keeps; a new job's id empties it."""
    del job_id
    return []


def _bay(job: Job, channel: Channel) -> _Bay:
    """The bay of a job, from now on telling this channel what it does."""
    place = _kept(job.id)
    if not place:
        place.append(_Bay(job))
    place[0].channel = channel
    return place[0]
