"""The path of a call that has no plan, or whose plan failed.

One lock per op holds a miss, so that equal calls of many threads are decided and built once. Nothing is remembered of
a call before it has succeeded, except its plan, which is right for whoever comes next: a call that fails leaves the op
as it was.
"""

import os
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol, cast

import numpy as np

from assay.errors import CallError, NoKernelError, reason_of
from assay.kernel import Value
from assay.ops.alignment import InnerFailure
from assay.ops.arbiter import Exclusion
from assay.ops.built import BuiltKernel
from assay.ops.callcode import MISSING
from assay.ops.explain import Explanation
from assay.ops.launch import as_tuple
from assay.ops.log import dispatch
from assay.ops.plan import LastCall, LastPlan, Plan, PlanTable
from assay.ops.planner import Planner
from assay.ops.regime import current_regime, register_op
from assay.ops.tuned import TunedSettings
from assay.signature import Call, check
from assay.tuning import Candidate, Declaration

_all: "weakref.WeakSet[Pathway]" = weakref.WeakSet()


class Caller(Protocol):
    """The op whose call this is: what is written back to it."""

    last_plan: LastPlan | None


class Pathway:
    """What answers the calls of one op that have no plan.

    Args:
        declaration: what was declared.
        plans: the table that the op's generated path looks plans up in.
        key_of: the key of a call, generated with that path.
        bump: makes every key of the past a miss.
    """

    def __init__(
        self,
        declaration: Declaration,
        plans: PlanTable,
        key_of: Callable[[tuple[object, ...], object], Hashable],
        bump: Callable[[], None],
    ) -> None:
        self.declaration = declaration
        self.plans = plans
        self._key_of = key_of
        self._bump = bump
        self._lock = threading.RLock()
        self._pinned: tuple[str, Mapping[str, Value]] | None = None
        self._built: dict[tuple[str, str], BuiltKernel] = {}
        self._tuned = TunedSettings()
        self._planner = self._new_planner()
        _all.add(self)
        register_op(declaration.name)

    @property
    def built(self) -> Mapping[tuple[str, str], BuiltKernel]:
        """What was built, by kernel name and build identity; read-only."""
        return MappingProxyType(self._built)

    @property
    def planner(self) -> Planner:
        """What plans calls now."""
        return self._planner

    # What is declared after the op was made

    def register(self, candidate: Candidate) -> None:
        """Adds a candidate; one of the same name is replaced in place, and everything decided before is asked again."""
        known = self.declaration.candidates
        if any(found.name == candidate.name for found in known):
            listed = tuple(candidate if found.name == candidate.name else found for found in known)
        else:
            listed = (*known, candidate)
        self.declare(replace(self.declaration, candidates=listed))

    def declare(self, declaration: Declaration) -> None:
        """Has this declaration in force from the next call on."""
        with self._lock:
            self.declaration = declaration
            self._planner = self._new_planner()
            self._bump()

    def pin(self, kernel: str, setting: Mapping[str, Value]) -> None:
        """Has every call run this kernel, with these values of its tunables."""
        with self._lock:
            self._pinned = (kernel, dict(setting))
            self._planner = self._new_planner()
            self._bump()

    def replan(self) -> None:
        """Has every call planned again: an answer, a profile or a setting changed."""
        with self._lock:
            self._bump()

    def request_tune(self) -> None:
        """Puts the op in tuned mode and tunes what runs now.

        Raises:
            TuneError: a tune failed; the old settings stay, and the request can be made again.
        """
        with self._lock:
            regime = current_regime()
            runs = [
                (self._planner.question(plan.call, regime), plan.answers)
                for plan in list(self.plans.values())
                if plan.answers is not None
            ]
            self._tuned.requested = True
            self._tuned.tune_all(runs, regime)
            self._bump()

    # What a call would do

    def check_arguments(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Call:
        """The checked call these arguments make.

        Raises:
            CallError: they break the declaration.
        """
        names = self.declaration.signature.input_names
        given = dict(kwargs)
        out = given.pop("out", None)
        if len(args) > len(names):
            raise CallError(self.declaration.name, f"takes {len(names)} inputs ({', '.join(names)}), got {len(args)}")
        for name, value in zip(names, args, strict=False):
            if name in given:
                raise CallError(self.declaration.name, f"{name} is given twice")
            given[name] = value
        return self._check({name: _plain_scalar(value) for name, value in given.items()}, out)

    def explain(self, call: Call) -> Explanation:
        """Which entrant would run a call, from where, and why."""
        return self._planner.explain(call, current_regime())

    # A call without a plan, and one whose launch went wrong

    def miss(self, op: Caller, inputs: tuple[object, ...], out: object) -> object:
        """The results of a call that has no plan.

        Raises:
            CallError: the call breaks the declaration.
            NoKernelError: nothing serves it and there is no reference.
        """
        call, named = self._checked(inputs, out)
        regime = current_regime()
        with self._lock:
            key = self._key(inputs, out)
            plan = self.plans.get(key) if key is not None else None
            if plan is None:
                plan = self._planner.plan(call, regime, {}, named)
                self._keep(inputs, out, plan)
        return self._run(op, plan, inputs, out)

    def failed(
        self, op: Caller, plan: Plan, inputs: tuple[object, ...], out: object, error: Exception | None
    ) -> object:
        """The results of a call whose launch raised, or declined (no error): from the next candidate that can.

        Raises:
            Exception: the error, where the reference raised it, or where an input may have been overwritten.
            CallError: the call was never legal.
        """
        call, named = self._checked(inputs, out)
        if isinstance(error, InnerFailure):
            plan, cause = error.plan, error.__cause__
            error = cause if isinstance(cause, Exception) else None
        if plan.answers is None:
            raise error or NoKernelError(self.declaration.name, "the reference handed the call back")
        why = Exclusion("declined the call", declined=True)
        if error is not None:
            why = Exclusion(reason_of(error))
        with self._lock:
            excluded = {**plan.excluded, plan.answers.kernel: why}
            following = self._planner.plan(call, current_regime(), excluded, named)
            self._keep(inputs, out, following)
        if error is not None and call.record.written:
            raise error
        return self._run(op, following, inputs, out)

    def _run(self, op: Caller, plan: Plan, inputs: tuple[object, ...], out: object) -> object:
        signature = self.declaration.signature
        fresh = tuple(np.empty(shape, dtype) for shape, dtype in plan.outputs) if out is None else as_tuple(out)
        made = dict(zip(signature.fresh_outputs, fresh, strict=True))
        named = dict(zip(signature.input_names, inputs, strict=True))
        in_place = signature.in_place_outputs
        results = tuple(named[in_place[name]] if name in in_place else made[name] for name in signature.output_names)
        try:
            status = plan.launch(*inputs, *results)
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is kept as its reason
            return self.failed(op, plan, inputs, out, error)
        if status is not None:
            return self.failed(op, plan, inputs, out, None)
        next(plan.step)
        metadata = tuple(named[name] for name in signature.metadata_names if named[name] is not None)
        op.last_plan = LastCall(plan, metadata) if signature.metadata_names else plan
        return results[0] if len(results) == 1 else results

    def forget_lock(self) -> None:
        """Has a lock of its own, in the child of a fork: another thread of the parent may hold the old one for ever."""
        self._lock = threading.RLock()

    def _checked(self, inputs: tuple[object, ...], out: object) -> tuple[Call, dict[str, object]]:
        names = self.declaration.signature.input_names
        named = {name: _plain_scalar(value) for name, value in zip(names, inputs, strict=True)}
        given = {name: value for name, value in named.items() if value is not MISSING}
        return self._check(given, out), named

    def _check(self, given: Mapping[str, object], out: object) -> Call:
        signature, name = self.declaration.signature, self.declaration.name
        outputs: dict[str, object] = {}
        if out is not None:
            fresh = signature.fresh_outputs
            if isinstance(out, tuple) != (len(fresh) > 1):
                wanted = f"a tuple of {len(fresh)} arrays" if len(fresh) > 1 else "one array"
                raise CallError(name, f"out is a {type(out).__name__}, expected {wanted}: {', '.join(fresh)}")
            arrays = as_tuple(out)
            if len(arrays) != len(fresh):
                raise CallError(name, f"out holds {len(arrays)} arrays, the op has {len(fresh)}: {', '.join(fresh)}")
            outputs = dict(zip(fresh, arrays, strict=True))
        unknown = [each for each in given if each not in signature.input_names]
        if unknown:
            known = ", ".join(signature.input_names)
            raise CallError(name, f"no input is called {unknown[0]!r}; there are {known}")
        call = check(signature, name, {**given, **outputs}, params=self.declaration.params)
        for label, value in {**given, **outputs}.items():
            if label in call.views and not isinstance(value, np.ndarray):
                kind = f"{type(value).__module__}.{type(value).__qualname__}"
                raise CallError(
                    name, f"{label} is a {kind}; this version takes NumPy arrays", "pass numpy.asarray of it"
                )
        return call

    def _keep(self, inputs: tuple[object, ...], out: object, plan: Plan) -> None:
        key = self._key(inputs, out)
        if key is not None:
            self.plans.keep(key, plan)

    def _key(self, inputs: tuple[object, ...], out: object) -> Hashable | None:
        """The key of a call; None where something of it cannot be in one: such a call is planned each time."""
        try:
            key = self._key_of(inputs, out)
            hash(key)
        except (AttributeError, TypeError):
            return None
        return key

    def _new_planner(self) -> Planner:
        return Planner(self.declaration, self._pinned, self._built, dispatch, self._tuned)


def _plain_scalar(value: object) -> object:
    """A NumPy scalar as Python's own, so that what is kept under it can be written; anything else as it is."""
    return cast("object", value.item()) if isinstance(value, np.generic) else value


def _release_after_fork() -> None:
    for pathway in list(_all):
        pathway.forget_lock()


os.register_at_fork(after_in_child=_release_after_fork)
