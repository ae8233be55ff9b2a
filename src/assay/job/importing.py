"""How a module that was named on a command line is loaded.

A dotted name is imported as Python would. A file inside a package is imported under its dotted name, so that its
relative imports work. A file of its own is loaded under a name made from its path, the same in every run, with its
folder on the path as if it were a script; what it defines travels to a worker by value, since no other process could
import that name.
"""

import importlib
import importlib.util
import pkgutil
import sys
import traceback
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from assay.errors import TargetError
from assay.worker import send_by_value

NEAR = 0.7
"""How alike a name must be to be suggested; among all installed modules something is always a little alike."""


def is_path(text: str) -> bool:
    """Whether a target is a file rather than a module's dotted name."""
    return text.endswith(".py") or "/" in text


def import_module(name: str) -> ModuleType:
    """The module of a dotted name.

    Raises:
        TargetError: there is none of this name, or importing it raised.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not (name == missing.name or name.startswith(f"{missing.name}.")):
            raise _import_failed(name, missing) from missing
        raise TargetError("", f"no module {missing.name!r}", _module_hint(missing.name)) from missing
    except (Exception, SystemExit) as error:
        raise _import_failed(name, error) from error


def has_module(name: str) -> bool:
    """Whether a top-level module of this name can be imported; nothing is run."""
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:  # a module without a spec, as `__main__` may be
        return name in sys.modules


def import_file(path: Path) -> ModuleType:
    """The module in a file.

    Args:
        path: the file; relative to the working directory unless absolute.

    Raises:
        TargetError: there is no such file, or importing it raised.
    """
    place = path.resolve()
    if not place.is_file():
        raise TargetError(str(path), "there is no such file", _file_hint(path))
    if (place.parent / "__init__.py").is_file():
        return _import_inside_package(place)
    name = f"assay_file_{place.stem}_{sha256(str(place).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    _put_on_path(place.parent)
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise TargetError(str(path), "it is not a Python file", "its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _import_failed(str(path), error) from error
    except BaseException:
        del sys.modules[name]
        raise
    send_by_value(module)
    return module


def submodules(package: ModuleType) -> list[ModuleType]:
    """The modules below a package, in order of name; private ones and `__main__` are left out.

    Raises:
        TargetError: importing one raised.
    """
    found: list[ModuleType] = []
    for entry in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if entry.name.rpartition(".")[2].startswith("_"):
            continue
        module = import_module(entry.name)
        found.append(module)
        if entry.ispkg:
            found.extend(submodules(module))
    return found


def _import_inside_package(place: Path) -> ModuleType:
    parts = [] if place.stem == "__init__" else [place.stem]
    folder = place.parent
    while (folder / "__init__.py").is_file():
        parts.append(folder.name)
        folder = folder.parent
    name = ".".join(reversed(parts))
    _put_on_path(folder)
    module = import_module(name)
    if module.__file__ is None or Path(module.__file__).resolve() != place:
        raise TargetError(
            str(place), f"the name {name} is taken by {module.__file__}", "rename its package, or run from its folder"
        )
    return module


def _put_on_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _import_failed(name: str, error: BaseException) -> TargetError:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_machinery(frame.filename)]
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    said = str(error) or "no message"
    return TargetError(name, f"importing it raised {type(error).__name__}: {said}{where}")


def _is_machinery(filename: str) -> bool:
    return filename.startswith("<frozen") or filename in {__file__, importlib.__file__}


def _module_hint(name: str) -> str:
    parent, _, last = name.rpartition(".")
    package = sys.modules.get(parent)
    places = None if not parent else getattr(package, "__path__", [])
    near = get_close_matches(last, [entry.name for entry in pkgutil.iter_modules(places)], 1, NEAR)
    if near:
        return f"did you mean {f'{parent}.' if parent else ''}{near[0]}?"
    return "name it as package.module, from a folder where Python can import it, or as path/to/file.py"


def _file_hint(path: Path) -> str:
    folder = path.parent
    names = [found.name for found in folder.glob("*.py")] if folder.is_dir() else []
    near = get_close_matches(path.name, names, 1, NEAR)
    return f"did you mean {folder / near[0]}?" if near else ""
