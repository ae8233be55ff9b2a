"""The system's C compiler: which it is, what flags mean on this host, and how it is run.

Facts about a compiler are asked once per process and asked again when its file changes.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

NAMES = ("cc", "gcc", "clang")
REMEDY = "install one (Debian: apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install)"
_SHOWN_LINES = 60

_LONGEST_S = 50
"""A compiler that takes longer hangs: less than what a worker gives a build, so that it is told by its name."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler on this host.

    Attributes:
        path: where it is.
        version: what it says it is.
        changed_ns: when its file last changed, so that a replaced compiler is another one in this process.
    """

    path: str
    version: str
    changed_ns: int

    def resolved(self, flags: Sequence[str]) -> str:
        """What the flags come to on this host: the command the compiler's driver would run.

        The driver spells out ``-march=native`` as the processor's features and cache sizes, so that code built on
        one processor is never taken for another's.
        """
        return _resolved(self, tuple(flags))

    def run(self, arguments: Sequence[str], folder: Path, text: str | None = None) -> tuple[str, str | None]:
        """What the compiler prints, and its complaint; None: it succeeded.

        Args:
            arguments: what follows the compiler's name on the command line.
            folder: where it runs; relative paths and, for a text, ``#include "…"`` start here.
            text: what it reads as standard input.
        """
        command = [self.path, *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                input=text or "",
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            return "", f"{self.path} did not answer within {_LONGEST_S} s"
        except OSError as failure:
            return "", f"{self.path} cannot be run: {failure}"
        if done.returncode == 0:
            return done.stdout, None
        lines = done.stderr.strip().splitlines() or [f"{self.path} exited with {done.returncode}"]
        more = [f"… and {len(lines) - _SHOWN_LINES} lines more"] if len(lines) > _SHOWN_LINES else []
        return done.stdout, "\n".join([*lines[:_SHOWN_LINES], *more])


def find_compiler() -> Compiler | None:
    """The first of ``cc``, ``gcc`` and ``clang`` on the path; None: there is none."""
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            changed_ns = Path(path).stat().st_mtime_ns
            return Compiler(path, _version(path, changed_ns), changed_ns)
    return None


@lru_cache(maxsize=8)
def _version(path: str, changed_ns: int) -> str:
    unnamed = Compiler(path, "", changed_ns)
    printed, complaint = unnamed.run(["--version"], Path("/"))
    return (printed if complaint is None else complaint).strip()


@lru_cache(maxsize=64)
def _resolved(compiler: Compiler, flags: tuple[str, ...]) -> str:
    command = [compiler.path, *flags, "-###", "-E", "-x", "c", os.devnull]
    try:  # in the root folder, since clang writes the current one into the command
        done = subprocess.run(
            command, cwd="/", capture_output=True, text=True, errors="replace", check=False, timeout=_LONGEST_S
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return f"unknown: {failure}"
    return done.stderr
