"""What a kernel is: one way to compute an op, the calls it serves, and the settings it can run at.

A `Kernel` is a declaration, made of values only, so that it can be sent to another process. Building it at a setting
for a call gives a `Program`, which holds what cannot be sent: compiled code, loaded libraries, scratch memory. The
frontends (`PythonKernel`, `NumbaKernel`, `CKernel`) differ in how they build.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol, Self, TypedDict, runtime_checkable

import msgspec

from assay.errors import DeclarationError
from assay.kernel.arguments import check_reads, refuse_unknown
from assay.kernel.constraint import Constraint, declare_constraint
from assay.kernel.domain import Domain, declare_domain
from assay.kernel.setting import TIERS, Setting, Tier, Value, format_value
from assay.kernel.space import Space
from assay.signature import Expr, Signature, parse_expr
from assay.signature.call import Call
from assay.signature.facts import Facts


@dataclass(frozen=True, slots=True)
class Place:
    """Where programs are built.

    Attributes:
        folder: the cache of compiled kernels; made when it is needed, for its owner only.
    """

    folder: Path


class Program(Protocol):
    """A kernel built at one setting for calls of one specialisation (dtypes, and what else its frontend fixes)."""

    @property
    def identity(self) -> str:
        """The build identity: equal for equal programs, in every process."""
        ...

    def launcher(self, call: Call) -> Callable[..., object]:
        """A function that runs calls like this one: same layouts, same sizes, any arrays.

        It takes the inputs in signature order, scalars included and None for an absent one, then the outputs, and
        returns None, or NotImplemented when the kernel declined and wrote nothing that counts.
        """
        ...


@runtime_checkable
class UsesWorkspace(Protocol):
    """A program that can tell whether it stayed within its workspace."""

    @property
    def wrote_past_workspace(self) -> bool:
        """Whether a launch in this thread wrote past the workspace it asked for."""
        ...


def bind(program: Program, call: Call, inputs: Sequence[object], outputs: Sequence[object]) -> Callable[[], object]:
    """A launch on given arrays, which it keeps alive: what is timed.

    It is the launch a call makes, the taking of addresses included: an entrant timed without what every call of it
    pays wins races it loses in use (a C kernel of a few hundred nanoseconds by a factor of two).
    """
    return partial(program.launcher(call), *inputs, *outputs)


class Declared(TypedDict, total=False):
    """What every kernel may declare; None is the same as leaving it out.

    Attributes:
        tunables: the values of each tunable, by name, in order.
        default: the default's value of each tunable; one left out has its first value.
        constraints: what a setting must satisfy: expressions, or callables whose parameters name what they read.
        serves: the calls the kernel serves, as an expression; None: every call its op allows.
        tier: how the kernel came to be, ``emitted`` unless given.
        rule: the kernel's own rule for a tunable, as an expression over what `serves` may read.
    """

    tunables: Mapping[str, Iterable[Value]] | None
    default: Mapping[str, Value] | None
    constraints: Sequence[str | Callable[..., object]] | None
    serves: str | None
    tier: Tier | None
    rule: Mapping[str, str] | None


class Kernel(ABC):
    """One way to compute an op.

    Args:
        name: what users call it; unique among the op's kernels.
        declared: see `Declared`.

    Attributes:
        frontend: the word for how it builds (``python``, ``numba``, ``c``).
        accepts: what its constructor takes by keyword.
        name: the name.
        tunables: the domain of each tunable, in order.
        default: the declared default.
        constraints: what a setting must satisfy.
        serves: the calls it serves; None: every call its op allows.
        tier: how it came to be.
        rule: its own rule for some of the tunables.

    Raises:
        DeclarationError: something declared cannot be; the message names the kernel and the tunable.
    """

    frontend: ClassVar[str]
    accepts: ClassVar[frozenset[str]] = Declared.__optional_keys__

    def __init__(self, name: str, declared: Declared) -> None:
        if not name:
            raise DeclarationError("kernel", "has an empty name", "give it one")
        for key in declared:
            if key not in self.accepts:
                accepted = ", ".join(sorted(self.accepts))
                raise TypeError(f"{name}: unexpected keyword {key!r}; a {type(self).__name__} takes {accepted}")
        self.name = name
        self.tunables: dict[str, Domain] = {}
        for tunable, values in (declared.get("tunables") or {}).items():
            if not tunable.isidentifier():
                raise DeclarationError(name, f"tunable {tunable!r} is not a name", "use letters, digits and _")
            self.tunables[tunable] = declare_domain(f"{name}.{tunable}", values)
        first = {tunable: domain.values[0] for tunable, domain in self.tunables.items()}
        self.default = self._settle(declared.get("default") or {}, first)
        self.constraints: tuple[Constraint, ...] = tuple(
            declare_constraint(name, given) for given in declared.get("constraints") or ()
        )
        serves = declared.get("serves")
        self.serves: Expr | None = None if serves is None else parse_expr(serves, name)
        self.tier = _tier(name, declared.get("tier") or "emitted")
        self.rule: dict[str, Expr] = {}
        for tunable, text in (declared.get("rule") or {}).items():
            self._domain(tunable)
            self.rule[tunable] = parse_expr(text, f"{name}.{tunable}")

    @property
    def features(self) -> frozenset[str]:
        """The layout and device features its choice depends on (``a.contiguous``, ``device.cores``)."""
        read = [] if self.serves is None else [self.serves.features]
        read += [expr.features for expr in self.rule.values()]
        read += [constraint.features for constraint in self.constraints]
        return frozenset[str]().union(*read)

    def refusal(self, facts: Facts) -> str | None:
        """Why the kernel does not serve a call; None: it serves it.

        An expression that has no answer for the call (it reads an input that is absent) does not claim it.
        """
        if self.serves is None:
            return None
        try:
            served = self.serves.holds(facts)
        except DeclarationError as failure:
            return f"serves '{self.serves}', which has no answer here: {failure.said}"
        if served:
            return None
        seen = self.serves.reading(facts)
        return f"serves '{self.serves}'; here {seen}" if seen else f"serves '{self.serves}'"

    def space(self, facts: Facts) -> Space:
        """The settings valid for a call.

        Raises:
            SpaceError: there are none.
        """
        return Space(self.name, self.tunables, self.constraints, facts)

    def setting(self, given: Mapping[str, Value]) -> Setting:
        """The setting with the given values, the default's for the others.

        Raises:
            DeclarationError: a name that is no tunable, or a value outside its domain.
        """
        return self._settle(given, self.default.as_dict())

    def setting_in_force(self, facts: Facts) -> Setting:
        """The setting of a call when nothing else says: the kernel's own rule, over its declared default.

        Raises:
            DeclarationError: the rule gives a value outside its tunable's domain.
        """
        return self.setting({name: self._ruled(name, expr, facts) for name, expr in self.rule.items()})

    @property
    def description(self) -> str:
        """What is declared beside the code, as one line: name, tunables with their domains, and every condition.

        A constraint that is a callable counts by what it computes.
        """
        tunables = [(name, domain.values) for name, domain in self.tunables.items()]
        conditions = [constraint.identity for constraint in self.constraints]
        rule = [(name, str(expr)) for name, expr in self.rule.items()]
        serves = "" if self.serves is None else str(self.serves)
        return msgspec.json.encode((self.name, tunables, serves, conditions, rule)).decode()

    def for_signature(self, signature: Signature) -> Self:
        """This kernel as an op of the signature runs it: names checked, what it left to the signature filled in.

        Raises:
            DeclarationError: the kernel reads a name the signature does not have, or a tunable takes one of its names.
        """
        for tunable in self.tunables:
            if tunable in signature.value_names or tunable in signature.tensor_names:
                raise DeclarationError(self.name, f"tunable {tunable} has the name of something the op declares")
        for expr in (self.serves, *self.rule.values()):
            if expr is not None:
                check_reads(self.name, expr, signature)
        for constraint in self.constraints:
            if isinstance(constraint.condition, Expr):
                check_reads(self.name, constraint.condition, signature, self.tunables)
            elif constraint.names is not None:
                refuse_unknown(self.name, constraint.names, {*signature.value_names, *self.tunables})
        return copy.copy(self)

    @abstractmethod
    def identity(self, setting: Setting, call: Call, place: Place) -> str:
        """The identity its program would have, found without building: all that the code depends on, as a digest."""

    @abstractmethod
    def build(self, setting: Setting, call: Call, place: Place) -> Program:
        """The program at a setting, for calls of this one's specialisation.

        Raises:
            BuildError: it does not build; the error carries the compiler's message.
        """

    def _domain(self, tunable: str) -> Domain:
        if tunable not in self.tunables:
            said = f"has no tunable {tunable}; it has {', '.join(self.tunables) or 'none'}"
            raise DeclarationError(self.name, said)
        return self.tunables[tunable]

    def _settle(self, given: Mapping[str, Value], others: Mapping[str, Value]) -> Setting:
        chosen = dict(others)
        for tunable, value in given.items():
            domain = self._domain(tunable)
            own = domain.find(value)
            if own is None:
                raise DeclarationError(self.name, f"{tunable}={format_value(value)} is not in {domain}")
            chosen[tunable] = own
        return Setting.of((name, chosen[name]) for name in self.tunables)

    def _ruled(self, tunable: str, expr: Expr, facts: Facts) -> Value:
        value = expr.evaluate(facts)
        if not isinstance(value, (int, float, bool, str)):
            raise DeclarationError(f"{self.name}.{tunable}", f"its rule '{expr}' gives {value!r}, which is no scalar")
        return value


def _tier(name: str, given: str) -> Tier:
    for tier in TIERS:
        if given == tier:
            return tier
    raise DeclarationError(name, f"tier {given!r} is not one of {', '.join(TIERS)}")
