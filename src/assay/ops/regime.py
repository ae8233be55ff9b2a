"""What is in force around a call: the policy, the environment, what is forced, strictness, a dry run.

All of it is one immutable object, the regime, held in a context variable: the plan key holds the regime by identity,
so that reading everything a caller may have switched costs one look-up. Equal regimes are one object.
"""

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from difflib import get_close_matches

from assay.errors import TargetError
from assay.options import GATES, POLICIES, Options, read_options
from assay.store import Environment, open_environment


@dataclass(frozen=True, slots=True, eq=False)
class Regime:
    """What is in force around a call; equal ones are one object, so that a plan key can hold it by identity.

    Attributes:
        policy: what a miss may do: ``off``, ``cached``, ``measure`` or ``frozen``.
        environment: the environment a script chose; None means the options' store.
        forced: (op name, kernel name) pairs.
        strict: whether a degrade or an error raises.
        dry_run: whether launches compile and do not execute.
        gate: which builds must pass the gate before they answer: ``always``, ``tuned`` or ``off``.
    """

    policy: str
    environment: Environment | None
    forced: tuple[tuple[str, str], ...]
    strict: bool
    dry_run: bool
    gate: str

    def forced_kernel(self, op: str) -> str | None:
        """The name of the kernel forced for an op; None when none is."""
        return dict(self.forced).get(op)


_lock = threading.Lock()
_known: dict[tuple[object, ...], Regime] = {}
_options: list[Options] = []
_environments: dict[tuple[str, str, bool], Environment] = {}
_ops: set[str] = set()
_current: ContextVar[Regime | None] = ContextVar("assay_regime", default=None)
_inherited: list[Regime | None] = [None]
"""The main thread's regime: what a new thread starts with, since context variables do not cross to threads."""


def options_in_force() -> Options:
    """The options, read from the environment variables once per process."""
    with _lock:
        if not _options:
            _options.append(read_options())
            set_log_level(_options[0].log)
        return _options[0]


def start_over() -> None:
    """Forgets what this process read from outside: the options, and with them the regime and the environments.

    For a test, or a notebook that sets environment variables after assay was first used.
    """
    with _lock:
        _options.clear()
        _environments.clear()
        _known.clear()
    _current.set(None)
    _inherited[0] = None


def set_log_level(level: str) -> None:
    """Has the ``assay`` logger say what is of this level or above, on standard error where nobody else listens."""
    logger = logging.getLogger("assay")
    logger.setLevel(level.upper())
    if logger.getEffectiveLevel() < logging.WARNING and not logger.hasHandlers():
        logger.addHandler(logging.StreamHandler())


def current_regime() -> Regime:
    """The regime in force; at first need, the one the options give."""
    found = _current.get()
    if found is None:
        options = options_in_force()
        found = _inherited[0] or _intern(_regime_of(options))
        _current.set(found)
    return found


regime_in_force = _current.get
"""The context variable's own getter, for generated code: the regime, or None before the first miss of a thread."""


def environment_in_force(regime: Regime | None = None) -> Environment:
    """The environment a regime keeps its answers in; under ``frozen`` it is read and never written.

    Raises:
        StoreError: it cannot be opened; the message names the path and the remedy.
    """
    found = current_regime() if regime is None else regime
    if found.environment is not None:
        return found.environment
    return named_environment("default", read_only=found.policy == "frozen")


def named_environment(name: str, *, read_only: bool = False) -> Environment:
    """The environment of this name in the options' store, opened once per process.

    Raises:
        ValueError: the name would leave the store.
        StoreError: it cannot be opened.
    """
    store = options_in_force().store
    slot = (store, name, read_only)
    with _lock:
        found = _environments.get(slot)
        if found is None:
            found = _environments[slot] = open_environment(store, name, read_only=read_only)
    return found


@contextmanager
def policy(name: str) -> Generator[None]:
    """A context in which a miss may do what this policy says.

    Args:
        name: ``off`` (the unmeasured choice, nothing kept is read), ``cached`` (kept answers, else the unmeasured
            choice), ``measure`` (decide at the first miss) or ``frozen`` (as cached, and nothing is written).

    Raises:
        TargetError: there is no such policy.
    """
    if name not in POLICIES:
        raise TargetError(f"policy {name!r}", f"there is none of this name, only {', '.join(POLICIES)}")
    with _in_force(replace(current_regime(), policy=name)):
        yield


def register_op(name: str) -> None:
    """Makes an op's name one that may be forced."""
    _ops.add(name)


def _near(name: str) -> str:
    found = get_close_matches(name, sorted(_ops), 1)
    return f"did you mean {found[0]!r}?" if found else f"there are {', '.join(sorted(_ops)) or 'none'}"


@contextmanager
def force(**kernels: str) -> Generator[None]:
    """A context in which each named op runs the named kernel, whatever was measured.

    Args:
        kernels: kernel name by op name. A kernel the op does not have raises at the call, and lists the names.

    Raises:
        TargetError: no op of one of these names was declared.
    """
    for op, kernel in kernels.items():
        if op not in _ops:
            raise TargetError(f"force({op}={kernel!r})", f"no op {op!r} was declared", _near(op))
    now = current_regime()
    forced = tuple(sorted({**dict(now.forced), **kernels}.items()))
    with _in_force(replace(now, forced=forced)):
        yield


@contextmanager
def environment(where: str | Environment) -> Generator[Environment]:
    """A context in which answers are kept in this environment.

    Args:
        where: a name in the options' store, or an `Environment`.

    Raises:
        ValueError: the name would leave the store.
        StoreError: it cannot be opened.
    """
    found = where if isinstance(where, Environment) else named_environment(where)
    with _in_force(replace(current_regime(), environment=found)):
        yield found


@contextmanager
def strict() -> Generator[None]:
    """A context in which a degrade or an error raises `DispatchError`, after it is logged."""
    with _in_force(replace(current_regime(), strict=True)):
        yield


@contextmanager
def gating(mode: str) -> Generator[None]:
    """A context with another rule for which builds must pass the gate before they answer, as ``ASSAY_GATE`` gives it.

    Args:
        mode: ``always``, ``tuned`` (only what is being tuned) or ``off``.

    Raises:
        TargetError: there is no such mode.
    """
    if mode not in GATES:
        raise TargetError(f"gate {mode!r}", f"there is none of this name, only {', '.join(GATES)}")
    with _in_force(replace(current_regime(), gate=mode)):
        yield


@contextmanager
def dry_run() -> Generator[None]:
    """A context in which calls are checked and kernels are built, and nothing is executed; a tune still measures."""
    with _in_force(replace(current_regime(), dry_run=True)):
        yield


@contextmanager
def _in_force(regime: Regime) -> Generator[None]:
    token = _current.set(_intern(regime))
    inherited = _inherited[0]
    is_main = threading.current_thread() is threading.main_thread()
    if is_main:
        _inherited[0] = _current.get()
    try:
        yield
    finally:
        _current.reset(token)
        if is_main:
            _inherited[0] = inherited


def _regime_of(options: Options) -> Regime:
    return Regime(options.policy, None, (), strict=options.strict, dry_run=False, gate=options.gate)


def _intern(regime: Regime) -> Regime:
    slot = (regime.policy, id(regime.environment), regime.forced, regime.strict, regime.dry_run, regime.gate)
    with _lock:
        return _known.setdefault(slot, regime)
