"""Kernels in Numba: a Python function compiled for one setting and one set of dtypes, when it is built.

The function takes the same arguments as a C kernel's, then its tunables, which are compiled in as constants: each
setting is code of its own. Building compiles, so that no launch does; launches call the compiled code itself, since
what Numba's dispatcher would check on every call, the plan's key holds already.
"""

import inspect
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from types import FunctionType
from typing import Any, ClassVar, Self, TypeAlias, Unpack, assert_never, cast

from assay.array import ArrayView, dtype_of
from assay.errors import BuildError, DeclarationError
from assay.kernel.arguments import (
    ArrayArgument,
    ConstantArgument,
    ScalarArgument,
    ScratchArgument,
    guarded_features,
    parameters,
    parse_arguments,
    resolve_arguments,
    settle_arguments,
    settled,
)
from assay.kernel.body import function_digest
from assay.kernel.kernel import Declared, Kernel, Place
from assay.kernel.setting import Entrant, Setting, Value
from assay.signature import Expr, Signature
from assay.signature.call import Call
from assay.store import digest

_Numba: TypeAlias = Any
"""Numba's own objects, which it does not type."""

_Passed = ArrayArgument | ScalarArgument | ConstantArgument


class NumbaDeclared(Declared, total=False):
    """What a Numba kernel may declare besides.

    Attributes:
        args: the function's arguments before its tunables, as a C kernel's; None: the tensors, then the sizes in
            `forall`'s order.
        parallel: whether Numba runs its loops on several threads.
        fastmath: whether floating-point arithmetic may be reordered.
    """

    args: Sequence[str] | None
    parallel: bool
    fastmath: bool


class NumbaKernel(Kernel):
    """A kernel that is a Python function for Numba to compile; arithmetic errors follow NumPy, raising nothing.

    Args:
        name: the kernel's name.
        fn: the function; its last parameters are the tunables, by their names, keyword-only or not.
        declared: see `NumbaDeclared` and `Declared`.

    Raises:
        DeclarationError: something declared cannot be.
    """

    frontend: ClassVar[str] = "numba"
    accepts: ClassVar[frozenset[str]] = NumbaDeclared.__optional_keys__

    def __init__(self, name: str, fn: Callable[..., object], **declared: Unpack[NumbaDeclared]) -> None:
        super().__init__(name, declared)
        plain = getattr(fn, "py_func", fn)
        if not isinstance(plain, FunctionType):
            raise DeclarationError(name, f"{fn!r} is not a Python function, and Numba compiles nothing else")
        self.fn: FunctionType = plain
        args = declared.get("args")
        self.args = None if args is None else parse_arguments(name, args)
        self.parallel = declared.get("parallel", False)
        self.fastmath = declared.get("fastmath", False)
        own = list(inspect.signature(plain).parameters)
        last = own[len(own) - len(self.tunables) :]
        if set(last) != set(self.tunables):
            said = f"its last parameters are {', '.join(last)}; expected its tunables {', '.join(self.tunables)}"
            raise DeclarationError(name, said, "end its parameters with the tunables")
        self._order = tuple(last)

    @property
    def features(self) -> frozenset[str]:
        """The layout and device features its choice and its launches depend on."""
        return super().features | guarded_features(self.args)

    def for_signature(self, signature: Signature) -> Self:
        """This kernel with its arguments settled, their names checked and the function's parameters counted.

        Raises:
            DeclarationError: an argument, or what another expression reads, is no name of the signature; or the
                function takes another number of arguments.
        """
        kernel = super().for_signature(signature)
        kernel.args = settle_arguments(self.name, self.args, signature)
        takes = len(inspect.signature(self.fn).parameters) - len(self.tunables)
        if takes != len(kernel.args):
            passed = ", ".join(map(str, kernel.args))
            said = f"{self.fn.__name__} takes {takes} arguments before its tunables, and is passed {len(kernel.args)}"
            raise DeclarationError(self.name, said, f"take {passed}, or say otherwise in args")
        return kernel

    def identity(self, setting: Setting, call: Call, place: Place) -> str:
        """The digest of the function, the setting, the types, and Numba with the processor it compiles for.

        Raises:
            BuildError: Numba is not installed.
        """
        del place
        return self._identity(setting, self._types(setting, call))

    def build(self, setting: Setting, call: Call, place: Place) -> "NumbaProgram":
        """The compiled function; equal builds of one function are compiled once in a process."""
        del place
        types = self._types(setting, call)
        identity = self._identity(setting, types)
        values = setting.as_dict()
        constants = tuple(values[name] for name in self._order)
        with _LOCK:
            entry = _ENTRIES.get((identity, self.fn))
            if entry is None:
                entry = _ENTRIES[identity, self.fn] = self._compile(setting, types, constants)
        return NumbaProgram(identity, str(Entrant(self.name, setting)), entry, settled(self.name, self.args), constants)

    def _compile(self, setting: Setting, types: tuple[_Numba, ...], constants: tuple[Value, ...]) -> "_Entry":
        entrant = str(Entrant(self.name, setting))
        numba = _numba(entrant)
        options = {"parallel": self.parallel, "fastmath": self.fastmath, "nogil": True, "error_model": "numpy"}
        dispatcher: _Numba = numba.njit(**options)(_with_last_defaults(self.fn, constants))
        omitted = tuple(numba.types.Omitted(value) for value in constants)
        try:
            entry: _Numba = dispatcher.compile((*types, *omitted))
        except Exception as failure:
            raise BuildError(entrant, f"does not compile: {type(failure).__name__}: {failure}") from failure
        (compiled,) = dispatcher.overloads.values()
        if compiled.signature.return_type is not numba.types.none:
            said = f"returns {compiled.signature.return_type}; a kernel returns nothing"
            raise BuildError(entrant, said, "write into the outputs")
        return _Entry(cast("Callable[..., object]", entry), dispatcher)

    def _types(self, setting: Setting, call: Call) -> tuple[_Numba, ...]:
        entrant = str(Entrant(self.name, setting))
        numba = _numba(entrant)
        arguments = _passed(entrant, settled(self.name, self.args), call)
        return tuple(_type(numba, entrant, argument) for argument in arguments)

    def _identity(self, setting: Setting, types: tuple[_Numba, ...]) -> str:
        options = f"parallel={self.parallel} fastmath={self.fastmath}"
        parts = (function_digest(self.fn), setting.encoded(), options, *_toolchain(), *map(str, types))
        return digest(["numba", *parts])


@dataclass(frozen=True, slots=True)
class _Entry:
    """Compiled code, and the dispatcher that keeps it alive."""

    function: Callable[..., object]
    dispatcher: object


_ENTRIES: dict[tuple[str, FunctionType], _Entry] = {}
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class NumbaProgram:
    """A compiled function at one setting, for calls of one set of types.

    Attributes:
        identity: the build identity.
        entrant: the kernel and the setting, for errors.
        entry: the compiled code.
        args: what it takes before the tunables, in order.
        constants: the tunables' values in the function's order; compiled in, their places remain.
    """

    identity: str
    entrant: str
    entry: _Entry
    args: tuple[Expr, ...]
    constants: tuple[Value, ...]

    def launcher(self, call: Call) -> Callable[..., object]:
        """A function of the inputs, then the outputs, that calls the compiled code.

        It refuses a read-only array where the kernel writes into what the caller passed, with a ValueError.
        """
        arguments = _passed(self.entrant, self.args, call)
        passed = ", ".join([*(_text(argument) for argument in arguments), *map(repr, self.constants)])
        written = [one.variable for one in arguments if isinstance(one, ArrayArgument) and one.written]
        guarded = [name for name in written if call.record.has_out or name.startswith("i")]
        guards = "".join(f"    if not {name}.flags.writeable: refuse()\n" for name in guarded)
        source = f"def launch({', '.join(parameters(call))}):\n{guards}    entry({passed})\n"
        namespace: dict[str, object] = {
            "entry": self.entry.function,
            "program": self,  # the dispatcher must outlive its code
            "refuse": self._refuse,
            "inf": math.inf,
            "nan": math.nan,
        }
        exec(source, namespace)  # noqa: S102  # text of our own
        return cast("Callable[..., object]", namespace["launch"])

    def _refuse(self) -> None:
        raise ValueError(f"{self.entrant}: an array it writes is read-only")


def _passed(entrant: str, args: tuple[Expr, ...], call: Call) -> list[_Passed]:
    """What the function takes in a call.

    Raises:
        DeclarationError: it asks for a workspace.
    """
    passed: list[_Passed] = []
    for argument in resolve_arguments(entrant, args, call):
        if isinstance(argument, ScratchArgument):
            raise DeclarationError(
                "workspace", "a Numba kernel has none", "allocate what it needs, or take an argument"
            )
        passed.append(argument)
    return passed


def _text(argument: _Passed) -> str:
    match argument:
        case ArrayArgument() | ScalarArgument():
            return argument.variable
        case ConstantArgument():
            return repr(argument.value)
        case _:
            assert_never(argument)


def _type(numba: _Numba, entrant: str, argument: _Passed) -> _Numba:
    match argument:
        case ArrayArgument():
            return _array_type(numba, entrant, argument.view)
        case ScalarArgument() | ConstantArgument():
            return numba.typeof(argument.value)
        case _:
            assert_never(argument)


def _array_type(numba: _Numba, entrant: str, view: ArrayView) -> _Numba:
    try:
        element: _Numba = numba.from_dtype(dtype_of(view.dtype))
    except Exception as failure:
        raise BuildError(entrant, f"Numba has no type for {view.dtype}: {failure}", "refuse it in serves") from failure
    aligned = view.pointer % view.itemsize == 0
    return numba.types.Array(element, len(view.shape), _layout(view), aligned=aligned)


def _layout(view: ArrayView) -> str:
    """How the elements lie, in Numba's word: ``C``, ``F``, or ``A`` for any strides."""
    if view.contiguous:
        return "C"
    turned = ArrayView(view.shape[::-1], view.strides[::-1], view.dtype, view.itemsize, view.device, view.pointer)
    return "F" if turned.contiguous else "A"


def _with_last_defaults(fn: FunctionType, values: tuple[Value, ...]) -> FunctionType:
    """The function with its last parameters defaulted and none keyword-only, which Numba does not take.

    Keyword-only parameters follow the positional ones in a code object, so only the two counts change.
    """
    code = fn.__code__
    positional = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    plain = FunctionType(positional, fn.__globals__, fn.__name__, values, fn.__closure__)
    plain.__module__ = fn.__module__
    plain.__qualname__ = fn.__qualname__
    return plain


def _numba(entrant: str) -> _Numba:
    try:
        import numba
    except ImportError as missing:
        raise BuildError(entrant, "Numba is not installed", "pip install 'assay[cpu]'") from missing
    except (Exception, SystemExit) as broken:
        said = f"Numba cannot be imported: it raised {type(broken).__name__}: {broken}"
        raise BuildError(entrant, said, "install it anew: pip install 'assay[cpu]'") from broken
    return numba


def _toolchain() -> tuple[str, ...]:
    """Numba's and LLVM's versions and the processor they compile for, as Numba's own cache tells them apart."""
    import numba
    from numba.core.registry import cpu_target

    codegen: _Numba = cast("_Numba", cpu_target).target_context.codegen()
    return (str(numba.__version__), version("llvmlite"), *map(str, codegen.magic_tuple()))
