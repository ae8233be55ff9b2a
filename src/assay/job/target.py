"""Which ops does a target name?

A target is an op, a module or package of ops, a list of any of these, or a text: ``package.module``,
``package.module:op``, ``path/to/file.py``, ``path/to/file.py:op``, or the bare name of an op of a home module.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import cast

from assay.errors import TargetError
from assay.job.importing import has_module, import_file, import_module, is_path, submodules
from assay.ops import Op

Target = str | Op | ModuleType | Sequence[str | Op | ModuleType]


def resolve(target: Target, *, home: str | None = None) -> list[Op]:
    """The ops a target names, each once, in the order they were defined.

    Args:
        target: what to tune.
        home: the module whose ops may be given by their bare name; None means there is none.

    Raises:
        TargetError: it names nothing, or several ops under one name; the message says what there is.
    """
    found: dict[int, Op] = {}
    listed = isinstance(target, Iterable) and not isinstance(target, str)
    parts = list(cast("Iterable[object]", target)) if listed else [cast("object", target)]
    for part in parts:
        for op in _ops_of_part(part, home):
            found[id(op)] = op
    ops = list(found.values())
    names = [op.name for op in ops]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TargetError("", f"two ops are called {twice!r}", "give one a name of its own, with name=")
    if not ops:
        raise TargetError("", "there is nothing to tune in an empty list")
    return ops


def resolve_one(target: str, *, home: str | None = None) -> Op:
    """The one op a text names.

    Raises:
        TargetError: it names none, or several.
    """
    ops = resolve(target, home=home)
    if len(ops) > 1:
        names = ", ".join(op.name for op in ops)
        raise TargetError("", f"{target} has {len(ops)} ops ({names})", f"name one, as {target}:{ops[0].name}")
    return ops[0]


def _ops_of_part(part: object, home: str | None) -> list[Op]:
    if isinstance(part, Op):
        return [part]
    if isinstance(part, ModuleType):
        return _all_of(part, part.__name__)
    if isinstance(part, str):
        return _ops_of_text(part, home)
    raise TargetError(repr(part), "expected an op, a module, or a text naming one", "")


def _ops_of_text(text: str, home: str | None) -> list[Op]:
    place, _, name = text.strip().partition(":")
    if not place:
        raise TargetError(repr(text), "a target must name a module or a file", "write it as package.module:op")
    if "," in text and not Path(place).exists():
        raise TargetError(repr(text), "one target is given at a time", "give one op, or the module that has them all")
    if is_path(place):
        module = import_file(Path(place))
    elif home is not None and "." not in place and ":" not in text:
        return _bare(place, home)
    else:
        module = import_module(place)
    return [_named(module, name, place)] if name else _all_of(module, place)


def _bare(name: str, home: str) -> list[Op]:
    at_home = _named_ops(import_module(home)).get(name)
    if not has_module(name):
        if at_home is None:
            return [_named(import_module(home), name, home)]
        return [at_home]
    if at_home is not None:
        raise TargetError("", f"{name!r} is a module here and an op of {home}", f"write ./{name}.py or {home}:{name}")
    return _all_of(import_module(name), name)


def _named(module: ModuleType, name: str, place: str) -> Op:
    known = _named_ops(module)
    if name not in known:
        near = get_close_matches(name, known, 1)
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise TargetError("", f"no op {name!r} in {place}", f"did you mean {near[0]!r}?" if near else has)
    return known[name]


def _all_of(module: ModuleType, place: str) -> list[Op]:
    ops = list({id(op): op for op in _named_ops(module).values()}.values())
    if not ops:
        raise TargetError("", f"no op in {place}", "declare one with @assay.op(...)")
    return ops


def _named_ops(module: ModuleType) -> dict[str, Op]:
    """The ops of a module by name; of a package that holds none itself, those of the modules below it."""
    found: dict[str, Op] = {}
    _add_ops(found, module)
    if not found and hasattr(module, "__path__"):
        for below in submodules(module):
            _add_ops(found, below)
    return found


def _add_ops(found: dict[str, Op], module: ModuleType) -> None:
    exported = cast("Sequence[str] | None", getattr(module, "__all__", None))
    names = list(vars(module)) if exported is None else exported
    values = [(name, getattr(module, name, None)) for name in names]
    for attribute, op in [(name, value) for name, value in values if isinstance(value, Op)]:
        for name in (op.name, attribute):
            if found.setdefault(name, op) is not op:
                raise TargetError("", f"{name!r} names two ops in {module.__name__}", "give one a name of its own")
