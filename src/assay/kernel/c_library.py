"""The cache of compiled libraries, and loading from it.

A library lies under its unit's key with its own digest beside it, each put in place by a rename, so that two processes
may build at once and neither reads what the other has half-written. A library whose contents do not match its digest
(cut short, damaged, changed) is built again, never loaded. The folder and the files are their owner's alone.
"""

import hashlib
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from assay.kernel.c_unit import Unit

_ATTEMPTS = 3


class CompileError(Exception):
    """A unit does not compile; the text is the compiler's."""


@contextmanager
def library(unit: Unit, folder: Path) -> Generator[tuple[Path, str]]:
    """The path of the unit's compiled library, to be loaded before the context ends, and the key it was compiled under.

    It comes from the cache, or is compiled and kept there; where the cache cannot be written it is compiled into a
    folder that goes when the context ends.

    Raises:
        CompileError: it does not compile.
    """
    key = unit.key()
    kept = folder / f"{key}.so"
    if _is_whole(kept):
        yield kept, key
        return
    with tempfile.TemporaryDirectory(prefix="build-", dir=_writable(folder)) as build:
        fresh = Path(build) / "library.so"
        key = _compile(unit, fresh)
        yield _keep(fresh, folder / f"{key}.so"), key


def _compile(unit: Unit, target: Path) -> str:
    """Compiles, and returns the key of what was compiled even if a file was edited meanwhile."""
    for _ in range(_ATTEMPTS):
        before = unit.key()
        complaint = unit.compile(target)
        if complaint is not None:
            raise CompileError(complaint)
        if unit.key() == before:
            target.chmod(0o600)
            return before
    raise CompileError(f"{unit.source} or a file it includes changed each of the {_ATTEMPTS} times it was compiled")


def _writable(folder: Path) -> Path | None:
    """The folder, made if need be; None: nothing can be written there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def _is_whole(path: Path) -> bool:
    """Whether a library lies there as it was put there."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == _seal(path).read_text()
    except (OSError, UnicodeDecodeError):
        return False


def _keep(fresh: Path, path: Path) -> Path:
    """Moves a fresh library and its digest into the cache; where that fails, the fresh one will do."""
    seal = fresh.with_suffix(".sha256")
    try:
        seal.touch(mode=0o600)
        seal.write_text(hashlib.sha256(fresh.read_bytes()).hexdigest())
        fresh.replace(path)
        seal.replace(_seal(path))
    except OSError:
        return fresh if fresh.exists() else path
    return path


def _seal(path: Path) -> Path:
    return path.with_suffix(".sha256")
