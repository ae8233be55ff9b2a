"""One C source at one set of macros: what it depends on, and how it is compiled.

A unit's key is a digest of all its code depends on: the source, every file it includes by ``#include "…"``, the
compiler and its version, the flags as resolved on this host, the macros and the libraries. It is found without
compiling, follows contents and not file times, and holds no sizes: one library serves them all.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.kernel.c_compiler import Compiler
from assay.store import digest


@dataclass(frozen=True, slots=True)
class Source:
    """C code: a file, or a text.

    Attributes:
        folder: where relative paths and ``#include "…"`` start.
        path: the file; None: it is a text.
        text: the text; empty for a file.
    """

    folder: Path
    path: Path | None
    text: str = ""

    def __str__(self) -> str:
        return "the C text" if self.path is None else self.path.name

    @property
    def argument(self) -> tuple[str, ...]:
        """How a compiler is told to read it."""
        return ("-x", "c", "-") if self.path is None else (str(self.path),)


@dataclass(frozen=True, slots=True)
class Unit:
    """A source to compile.

    Attributes:
        source: the code.
        compiler: what compiles it; None: there is no compiler here.
        flags: as the kernel declares them.
        macros: (name, text) of each macro.
        libraries: names of libraries to link.
    """

    source: Source
    compiler: Compiler | None
    flags: tuple[str, ...]
    macros: tuple[tuple[str, str], ...]
    libraries: tuple[str, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """The flags and the macros on a command line."""
        return (*self.flags, *(f"-D{name}={text}" for name, text in self.macros))

    def key(self) -> str:
        """The digest of all the compiled code depends on, files read now."""
        tool = ("", "") if self.compiler is None else (self.compiler.version, self.compiler.resolved(self.flags))
        shape = (*tool, digest(self.options), digest(self.libraries))
        return digest(["c", *shape, self.source.text, *_included(self)])

    def compile(self, target: Path) -> str | None:
        """Writes the shared library; the compiler's complaint, or None when it succeeded."""
        if self.compiler is None:
            return "no C compiler"
        links = (f"-l{name}" for name in self.libraries)
        arguments = [*self.options, "-shared", "-fPIC", "-o", str(target), *self.source.argument, *links]
        return self.compiler.run(arguments, self.source.folder, self.source.text)[1]


@dataclass(frozen=True, slots=True)
class _Closure:
    files: tuple[Path, ...]
    contents: str


_CLOSURES: dict[Unit, _Closure] = {}
"""The files each unit read when they were last asked for: as long as their contents stand, so does the list."""


def _included(unit: Unit) -> tuple[str, ...]:
    """The contents of the source and what it includes, as a digest; where they cannot be listed, why."""
    known = _CLOSURES.get(unit)
    if known is not None and _contents(known.files) == known.contents:
        return ("read", known.contents)
    own = () if unit.source.path is None else (unit.source.path,)
    if unit.compiler is None:
        return ("unlisted", _contents(own))
    arguments = [*unit.options, "-M", *unit.source.argument]
    printed, complaint = unit.compiler.run(arguments, unit.source.folder, unit.source.text)
    if complaint is not None:
        return ("unlisted", _contents(own), complaint)
    files = tuple(unit.source.folder / name for name in _prerequisites(printed))
    _CLOSURES[unit] = _Closure(files, _contents(files))
    return ("read", _CLOSURES[unit].contents)


def _contents(files: Iterable[Path]) -> str:
    """The digest of files' contents, in order; one that cannot be read counts as missing."""
    parts: list[str | bytes] = []
    for file in files:
        try:
            parts += ["file", file.read_bytes()]
        except OSError:
            parts += ["missing", file.name]
    return digest(parts)


def _prerequisites(rule: str) -> list[str]:
    r"""The files of a make rule, as ``-M`` prints it.

    >>> _prerequisites("k.o: k.c my\\ tile.h \\\n  pack.h\n")
    ['k.c', 'my tile.h', 'pack.h']
    """
    names: list[str] = []
    current = ""
    text = rule.replace("\\\n", " ").partition(":")[2].replace("$$", "$")
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\" and text[position + 1 : position + 2] in (" ", "#"):
            current += text[position + 1]
            position += 1
        elif character.isspace():
            names += [current] if current else []
            current = ""
        else:
            current += character
        position += 1
    return [*names, current] if current else names
