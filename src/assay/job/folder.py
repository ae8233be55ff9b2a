"""Where the profiles lie: a folder that was named must exist, the default one is made when it is first written."""

import os
from pathlib import Path

from assay.errors import StoreError, TargetError
from assay.options import Options


def profile_folder(options: Options, named: Path | None = None) -> Path:
    """The folder of profiles.

    Args:
        options: the options in force.
        named: the folder the user named for this run; None means the options' one.

    Raises:
        TargetError: it was named, on the command line or by `ASSAY_PROFILE`, and does not exist.
    """
    folder = options.profile if named is None else named
    if (named is not None or options.profile_named) and not folder.is_dir():
        if folder.exists():
            raise TargetError(str(folder), "it is a file, expected a folder of profiles", "name the folder it lies in")
        raise TargetError(str(folder), "this folder of profiles does not exist", f"make it with: mkdir -p {folder}")
    return folder


def make_ready(folder: Path) -> None:
    """Makes the folder when it is missing and sees that a profile can be written there, before any time is spent.

    Raises:
        StoreError: it cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(str(folder), f"the folder of profiles cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(str(folder), "the folder of profiles cannot be written", "name another with --profile")
