"""What a Python function computes, as a digest: its code and what it reaches, without where the code stands.

The digest follows compiled code, not source text, so a moved line, an edited comment or a touched file changes
nothing, and a function typed at a prompt has one too. What the code reaches is followed: functions by their own code,
modules by name and version, plain values and arrays by value, anything else by its type. The interpreter's version is
part of it, since the same text compiles to other code.
"""

import dis
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import cast

import numpy as np

from assay.store import digest

_Parts = Iterator[str | bytes]


def function_digest(function: Callable[..., object]) -> str:
    """The digest of what a callable computes, the same in every process of this interpreter's version."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    return digest([sys.implementation.name, version, *_parts(function, set())])


def _parts(thing: object, seen: set[int]) -> _Parts:
    """The parts of anything code can reach; an object met again, as in a recursion, is only marked."""
    plain = _plain(thing)
    if plain is not None:
        yield from plain
        return
    kind = type(thing).__name__
    if not isinstance(thing, (tuple, frozenset)):  # whether equal constants are one object is the compiler's affair
        if id(thing) in seen:
            yield "again"
            return
        seen.add(id(thing))
    yield kind
    if isinstance(thing, (tuple, list, frozenset, set, dict, np.ndarray)):
        yield digest(_contents(cast("Iterable[object]", thing), seen))
    else:
        yield digest(_reached(thing, seen))


def _plain(thing: object) -> tuple[str | bytes, ...] | None:
    match thing:
        case bool() | int() | None:
            return type(thing).__name__, str(thing)
        case float():
            return "float", thing.hex()
        case complex():
            return "complex", thing.real.hex(), thing.imag.hex()
        case str() | bytes():
            return type(thing).__name__, thing
        case ModuleType():
            return "module", thing.__name__, str(getattr(thing, "__version__", ""))
        case _:
            return None


def _contents(thing: Iterable[object], seen: set[int]) -> _Parts:
    if isinstance(thing, np.ndarray):
        array = cast("np.ndarray[tuple[int, ...], np.dtype[np.generic]]", thing)
        yield from (array.dtype.str, str(array.shape), array.tobytes())
    elif isinstance(thing, Mapping):
        for key, value in cast("Mapping[object, object]", thing).items():
            yield from (digest(_parts(key, seen)), digest(_parts(value, seen)))
    elif isinstance(thing, (set, frozenset)):
        yield from sorted(digest(_parts(member, seen)) for member in thing)
    else:
        for member in thing:
            yield digest(_parts(member, seen))


def _reached(thing: object, seen: set[int]) -> _Parts:
    match thing:
        case CodeType():
            yield from _code(thing, seen)
        case FunctionType():
            yield from _function(thing, seen)
        case MethodType():
            yield from _parts(thing.__func__, seen)
            yield from _parts(thing.__self__, seen)
        case partial():
            for part in (thing.func, thing.args, thing.keywords):
                yield from _parts(cast("object", part), seen)
        case _ if isinstance(getattr(thing, "py_func", None), FunctionType):  # a Numba dispatcher
            yield from _parts(getattr(thing, "py_func"), seen)  # noqa: B009  # the attribute is Numba's, untyped
        case _:
            kind = thing if isinstance(thing, type) else type(thing)
            yield from (kind.__module__, kind.__qualname__, str(getattr(thing, "__name__", "")))
            call = inspect.getattr_static(kind, "__call__", None)
            if isinstance(call, FunctionType):
                yield from _parts(call, seen)
                yield from _parts(dict(getattr(thing, "__dict__", {})), seen)


def _code(code: CodeType, seen: set[int]) -> _Parts:
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield from (code.co_code, code.co_exceptiontable, *map(str, counts))
    for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
        yield digest(names)
    for constant in code.co_consts:
        yield digest(_parts(constant, seen))


def _function(function: FunctionType, seen: set[int]) -> _Parts:
    yield from _parts(function.__code__, seen)
    yield from _parts(function.__defaults__, seen)
    yield from _parts(function.__kwdefaults__, seen)
    for cell in function.__closure__ or ():
        yield digest(_parts(_cell_contents(cell), seen))
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield name
            yield digest(_parts(function.__globals__[name], seen))


def _names(code: CodeType) -> set[str]:
    """The global names that code and the code inside it read."""
    read = (step for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    found = {str(step.argval) for step in read}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found


def _cell_contents(cell: object) -> object:
    try:
        return cast("object", getattr(cell, "cell_contents"))  # noqa: B009  # types.CellType has no public name here
    except ValueError:  # the cell is not filled yet
        return None
