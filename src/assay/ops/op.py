"""The op: what a user declares, calls and asks.

An `Op` is a thin thing. What was declared is its `Declaration`; a call goes through the path generated for its
signature (`callcode`), and only a miss comes to the `Pathway`, which checks, chooses, builds, gates and plans.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar, cast

from assay.errors import DeclarationError, NoCallError
from assay.gate import Gate, refuse_wider
from assay.kernel import Kernel, PythonKernel, Tier, Value
from assay.ops.built import BuiltKernel
from assay.ops.callcode import generate
from assay.ops.explain import Explanation
from assay.ops.pathway import Pathway
from assay.ops.plan import LastPlan, Plan, PlanTable
from assay.signature import Call, Expr, Scalar, Signature, SignatureCall, describe, flops, parse_expr, traffic_bytes
from assay.tuning import Candidate, Declaration

F = TypeVar("F", bound=Callable[..., object])


class Op:
    """An op: call it with its inputs; ask it what happened, which kernels it has and which would run.

    Made by `assay.op`. Each op is of a class of its own, whose ``__call__`` was generated for its signature.
    """

    __slots__ = ("__weakref__", "_declared", "_pathway", "last_plan", "shapes")

    _declared: Declaration
    _pathway: Pathway

    def __new__(cls, declaration: Declaration, shapes: Sequence[Mapping[str, object]] = ()) -> Self:  # noqa: ARG004
        """Makes the op's own class around the call path generated for its signature."""
        plans = PlanTable()
        code = generate(declaration.signature, plans, name=declaration.name, miss=_miss, failed=_failed)
        own = type(declaration.name, (cls,), {"__call__": code.call, "__slots__": (), "__module__": cls.__module__})
        made = object.__new__(own)
        made._pathway = Pathway(declaration, plans, code.key, code.bump)
        return cast("Self", made)

    def __init__(self, declaration: Declaration, shapes: Sequence[Mapping[str, object]] = ()) -> None:
        """Creates the op.

        Args:
            declaration: what was declared.
            shapes: what is tuned when no shape is given.
        """
        del declaration  # `__new__` has put it in the pathway
        self.last_plan: LastPlan | None = None
        self.shapes = tuple(dict(shape) for shape in shapes)

    def __reduce__(self) -> tuple[object, ...]:
        """An op crosses to another process as its declaration; plans, counters and records stay here.

        As an empty op and a state that follows, since a kernel may call the op it belongs to.
        """
        return (_unsettled, (), (self.declaration, self.shapes))

    def __setstate__(self, state: tuple[Declaration, tuple[dict[str, object], ...]]) -> None:
        """Takes the state; the declaration may itself not be whole yet, so it is looked at when first needed."""
        self._declared, self.shapes = state
        self.last_plan = None

    def _settle(self) -> None:
        """Becomes an op like any other, of a class of its own."""
        made = Op(self._declared, self.shapes)
        self._pathway = made.pathway
        self.__class__ = type(made)  # pyright: ignore[reportAttributeAccessIssue]

    def __call__(self, *args: object, **kwargs: object) -> Any:  # noqa: ANN401 - what comes back is the caller's kind
        """The op's results for these inputs; ``out=`` gives arrays to write them to.

        Raises:
            CallError: the call breaks the declaration; nothing was loaded, allocated or run.
        """
        self._settle()  # every op's own class has the generated path: this one just arrived from another process
        return self(*args, **kwargs)

    # What was declared

    @property
    def declaration(self) -> Declaration:
        """What was declared."""
        return self.pathway.declaration

    @property
    def name(self) -> str:
        """The op's name."""
        return self.declaration.name

    @property
    def signature(self) -> Signature:
        """The op's signature."""
        return self.declaration.signature

    def __repr__(self) -> str:
        return f"<op {self.name}: {self.signature}>"

    def add(
        self, kernel: Kernel, *, gate: Gate | None = None, available: str | Callable[[], bool] | None = None
    ) -> Kernel:
        """Registers a kernel; one of the same name is replaced in place, and what was decided with it is forgotten.

        Args:
            kernel: the kernel.
            gate: a tolerance of its own; None means the op's.
            available: an expression or a callable that says whether it can run here at all; None means it can.

        Returns:
            The kernel.

        Raises:
            DeclarationError: the kernel's arguments or expressions do not fit the signature, or its gate is wider
                than the op's cap.
        """
        label = f"{self.name}.{kernel.name}"
        if gate is not None:
            refuse_wider(self.declaration.gate, gate, label, self.signature)
        condition: Expr | Callable[[], bool] | None
        condition = parse_expr(available, f"{label}: available") if isinstance(available, str) else available
        fitted = kernel.for_signature(self.signature)
        self.pathway.register(Candidate(fitted, gate, condition))
        return fitted

    def kernel(  # noqa: PLR0913 - the decorator takes what a kernel declares
        self,
        name: str | Callable[..., object] | None = None,
        *,
        tunables: Mapping[str, Sequence[Value]] | None = None,
        default: Mapping[str, Value] | None = None,
        constraints: Sequence[str | Callable[..., bool]] = (),
        serves: str | None = None,
        tier: Tier = "emitted",
        rule: Mapping[str, str] | None = None,
        available: str | Callable[[], bool] | None = None,
        gate: Gate | None = None,
    ) -> Callable[[F], F]:
        """A decorator that registers a Python callable as a kernel of this op.

        The callable takes the inputs by position, outputs (preallocated) and tunables by name, writes into the
        outputs, and returns nothing, or `NotImplemented` to decline the call.

        Args:
            name: the kernel's name; None means the callable's.
            tunables: values of each tunable, in order.
            default: a value for each tunable; the first of each where it is not given.
            constraints: expressions, or callables of the tunables, that every setting must satisfy.
            serves: an expression: the calls it serves; None means all.
            tier: ``synthesized``, ``emitted`` or ``hand-tuned``.
            rule: the kernel's own rule for a setting: an expression by tunable.
            available: whether it can run here at all.
            gate: a tolerance of its own; None means the op's.

        Raises:
            DeclarationError: something of this is declared wrongly.
        """

        def register(function: F) -> F:
            self.add(
                PythonKernel(
                    function,
                    name=name if isinstance(name, str) else getattr(function, "__name__", "kernel"),
                    tunables=tunables,
                    default=default,
                    constraints=constraints,
                    serves=serves,
                    tier=tier,
                    rule=rule,
                ),
                gate=gate,
                available=available,
            )
            return function

        if callable(name):
            return cast("Callable[[F], F]", register(cast("F", name)))
        return register

    def inputs(self, maker: F) -> F:
        """Registers the input maker: ``maker(rng, **indices)`` returns the inputs to tune and gate with."""
        self.pathway.declare(replace(self.declaration, maker=maker))
        return maker

    def probe(self, maker: F) -> F:
        """Registers one more probe the gate must use: ``maker(rng, **indices)`` returns its inputs."""
        self.pathway.declare(replace(self.declaration, probes=(*self.declaration.probes, maker)))
        return maker

    def at(self, kernel: str, **setting: Value) -> "Op":
        """This op with a kernel chosen by the call, and settings that are then pinned.

        Raises:
            DeclarationError: the op has no such kernel, or the kernel no such tunable or value.
        """
        found = self.declaration.candidate(kernel)
        if found is None:
            names = ", ".join(one.name for one in self.declaration.candidates) or "none"
            raise DeclarationError(f"{self.name}.at", f"no kernel {kernel!r}; there are {names}")
        try:
            found.kernel.setting(setting)
        except DeclarationError as wrong:
            raise DeclarationError(f"{self.name}.{wrong.subject}", wrong.said, wrong.remedy) from wrong
        pinned = Op(self.declaration, self.shapes)
        pinned.pathway.pin(kernel, setting)
        return pinned

    def with_params(self, **params: Scalar) -> "Op":
        """This op with construction parameters set.

        Raises:
            DeclarationError: the signature has no such parameter.
        """
        known = set(self.signature.param_names)
        for name in params:
            if name not in known:
                raise DeclarationError(
                    self.name, f"no parameter {name!r}; there are {', '.join(sorted(known)) or 'none'}"
                )
        return Op(replace(self.declaration, params={**self.declaration.params, **params}), self.shapes)

    # What a call would do

    def check(self, *args: object, **kwargs: object) -> SignatureCall:
        """The record a call with these arguments would leave; nothing is loaded or run.

        Raises:
            CallError: the call breaks the declaration.
        """
        return self.pathway.check_arguments(args, kwargs).record

    def describe(self, shape: Mapping[str, object]) -> Call:
        """The call a shape stands for, from its indices alone.

        Raises:
            CallError: an index is missing, unknown or not of its kind.
        """
        return describe(self.signature, self.name, shape, params=self.declaration.params)

    def explain(self, *args: object, **kwargs: object) -> Explanation:
        """Which entrant would run this call, from where, and why; nothing is built or run.

        Raises:
            CallError: the call breaks the declaration.
        """
        return self.pathway.explain(self.pathway.check_arguments(args, kwargs))

    def explain_shape(self, shape: Mapping[str, object]) -> Explanation:
        """Which entrant would run a call of this shape, from where, and why.

        Raises:
            CallError: an index is missing, unknown or not of its kind.
        """
        return self.pathway.explain(self.describe(shape))

    # What the last call did

    @property
    def last_call(self) -> SignatureCall:
        """The record of the last call that completed, whichever thread made it.

        Raises:
            NoCallError: no call has completed.
        """
        if self.last_plan is None:
            raise NoCallError(self.name, "no call has completed yet, so there is no record of one")
        return self.last_plan.record

    def eval_roofline(self) -> tuple[int, int]:
        """(flops, bytes) of the last call: the declared formula, and the traffic of its tensors.

        Raises:
            NoCallError: no call has completed.
            DeclarationError: the formula yields no whole number of at least 0, or none was declared.
        """
        return flops_of(self.declaration, self._last_checked()), traffic_bytes(self._last_checked())

    def eval_roofline_read_bytes(self) -> int | None:
        """The bytes of the last call less those its signature says are written; None where it cannot say."""
        call = self._last_checked()
        record = call.record
        return sum(call.views[name].nbytes * reads for name, (reads, _) in record.traffic.items())

    def roof_key(self) -> str:
        """The compute unit that prices the last call's flops (``cpu.fp32``).

        Raises:
            NoCallError: no call has completed.
        """
        record = self.last_call
        dtype = next(iter(record.tensors.values()))[1]
        digits = "".join(letter for letter in dtype if letter.isdigit())
        kind = "fp" if "float" in dtype else "int"
        return "cuda_core.fp32" if record.device.startswith("cuda") else f"{record.device}.{kind}{digits}"

    def roofline_data_terms(self) -> dict[str, object]:
        """The quantities by which input values decide the work; none here."""
        return {}

    # Which kernels there are

    def iter_kernels(self) -> Iterator[BuiltKernel]:
        """Every kernel that was built for this op, each once."""
        yield from dict.fromkeys(self.pathway.built.values())

    def built_entries(self, interface: str) -> Mapping[tuple[str, str], BuiltKernel]:
        """What was built for an interface, by (kernel name, build identity); read-only, empty before the first build.

        Raises:
            KeyError: the op has no such interface; a simple op has one, named as the op.
        """
        if interface != self.name:
            raise KeyError(f"{self.name} has no interface {interface!r}, only {self.name!r}")
        return self.pathway.built

    def held_delegates(self) -> tuple["Op", ...]:
        """The sub-ops in stage order; a simple op holds none."""
        return ()

    # Tuned mode

    def request_tune(self) -> None:
        """Puts the op in tuned mode: each kernel it runs is tuned once per shape, and keeps being the one that runs.

        What was built is tuned now; what is built later is tuned at the launch that builds it. A kernel without
        tunables is left alone; a second request does nothing.

        Raises:
            TuneError: a tune failed; the old setting stays, and the request can be made again.
        """
        self.pathway.request_tune()

    def kernel_config(self) -> Mapping[str, Value] | None:
        """The setting of the first built kernel that has one; None when there is none."""
        for built in self.iter_kernels():
            if built.setting.pairs:
                return built.setting.as_dict()
        return None

    @property
    def pathway(self) -> Pathway:
        """What plans this op's calls; for the layers above."""
        if type(self) is Op:
            self._settle()
        return self._pathway

    def _last_checked(self) -> Call:
        if self.last_plan is None:
            raise NoCallError(self.name, "no call has completed yet, so there is nothing to evaluate")
        return self.last_plan.call


def flops_of(declaration: Declaration, call: Call) -> int:
    """The work of a call by the declared formula.

    Raises:
        DeclarationError: no formula was declared, or it yields no whole number of at least 0.
    """
    if declaration.flops is None:
        raise DeclarationError(declaration.name, "no flops were declared", "pass flops= to assay.op")
    return flops(declaration.flops, call, declaration.name)


def _unsettled() -> Op:
    return object.__new__(Op)


def _miss(op: Op, inputs: tuple[object, ...], out: object) -> object:
    return op.pathway.miss(op, inputs, out)


def _failed(op: Op, plan: Plan, inputs: tuple[object, ...], out: object, error: Exception | None) -> object:
    return op.pathway.failed(op, plan, inputs, out, error)
