"""What does one type? The `assay` command: it reads what was typed, asks the layers below, and shows what they say."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code.

    Args:
        arguments: what was typed after the command's name; None means this process's own.

    Returns:
        0 done, 1 a check says no, 2 wrong use or something wrong in what was given, 130 interrupted.
    """
    try:
        from assay.cli.entry import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before there is anything that could say so better: while the command is loading
        sys.stderr.write("assay: interrupted\n")
        return 130
