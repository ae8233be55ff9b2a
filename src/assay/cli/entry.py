"""Runs a command and turns whatever ends it into an exit code and one line on standard error."""

import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol, cast

import typer

from assay.cli.app import app
from assay.cli.codes import DONE, INTERRUPTED, READER_GONE, WRONG_USE
from assay.errors import AssayError
from assay.options import read_options

NEAR = 0.6
"""How alike a command must be to be suggested."""

_UNKNOWN_COMMAND = re.compile(r"No such command '(.*?)'")


class _Context(Protocol):
    @property
    def command_path(self) -> str: ...


class _WrongUse(Protocol):
    """What typer raises when a command is used wrongly, whichever click it carries."""

    @property
    def ctx(self) -> _Context | None: ...

    def format_message(self) -> str: ...


# Typer used to stand on click and now carries its own copy; the class all its usage errors share is found through the
# one of them that it exports.
_USAGE_ERROR = cast("type[Exception]", typer.BadParameter.__mro__[1])


def run(arguments: Sequence[str]) -> int:
    """The exit code of a command.

    Args:
        arguments: what was typed after `assay`; nothing asks for help.
    """
    try:
        _find_modules_here()
    except FileNotFoundError:
        return _complain("the working directory does not exist any more; go to another one", WRONG_USE)
    try:
        read_options()
    except ValueError as error:
        return _complain(str(error), WRONG_USE)
    try:
        code = cast("object", app(args=list(arguments) or ["--help"], standalone_mode=False, prog_name="assay"))
    except _USAGE_ERROR as error:
        return _complain(_usage(cast("_WrongUse", error)), WRONG_USE)
    except AssayError as error:
        return _complain(str(error), WRONG_USE)
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        return _leave_quietly()
    except SystemExit as left:  # typer's way to end when the reader of standard output has gone
        return READER_GONE if left.code else DONE
    except OSError as error:
        return _complain(f"the output cannot be written: {error.strerror}", WRONG_USE)
    return code if isinstance(code, int) else DONE


def _find_modules_here() -> None:
    """Puts the working directory on the path, as `python -m` does, so that a target in it can be imported."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


def _usage(error: _WrongUse) -> str:
    message = error.format_message().strip().rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "assay"
    near = cast("Sequence[str] | None", getattr(error, "possibilities", None))
    option = cast("str | None", getattr(error, "option_name", None))
    unknown = _UNKNOWN_COMMAND.match(message)
    if unknown is not None:
        message = _no_command(unknown[1])
    elif near and option:
        nearest = get_close_matches(option, near, 1, 0.0)[0]
        message = f"no option {option}; did you mean {nearest}?"
    else:
        message = f"{message[:1].lower()}{message[1:]}"
    return f"{message} ({command} --help says more)"


def _no_command(name: str) -> str:
    known = [one.callback.__name__ for one in app.registered_commands if one.callback is not None]
    near = get_close_matches(name, known, 1, NEAR)
    remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"no command {name!r}; {remedy}"


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"assay: {message}\n")
    return code


def _leave_quietly() -> int:
    """Ends when whoever read standard output has gone; Python would complain when it flushes what is left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_GONE
