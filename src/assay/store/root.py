"""Where named environments lie: one file each, in one folder, which no name can leave."""

import re
from pathlib import Path

from assay.errors import StoreError
from assay.store.environment import Environment

SUFFIX = ".db"
DEFAULT_NAME = "default"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ALLOWED = "letters, digits, '.', '_' and '-', starting with a letter or digit, at most 100"


def open_environment(store: str | Path, name: str = DEFAULT_NAME, *, read_only: bool = False) -> Environment:
    """The environment of a name.

    Args:
        store: the folder that holds the environments.
        name: its name.
        read_only: never write, and never make the file.

    Raises:
        ValueError: the name is none an environment may have.
        StoreError: the store is a URL or no folder, or its file is there and cannot be opened.
    """
    file = f"{checked_name(name, 'environment')}{SUFFIX}"
    if isinstance(store, str) and "://" in store:
        return Environment(store, read_only=read_only)
    folder = Path(store).expanduser()
    if folder.exists() and not folder.is_dir():
        raise StoreError(str(folder), "is a file, expected a folder of environments", "name a folder in ASSAY_STORE")
    return Environment(folder / file, read_only=read_only)


def environment_names(store: str | Path) -> list[str]:
    """The names of the environments in a folder, sorted; none where there is no folder.

    Raises:
        StoreError: the folder cannot be listed.
    """
    folder = Path(store).expanduser()
    try:
        files = [path for path in folder.iterdir() if path.suffix == SUFFIX and path.is_file()]
    except FileNotFoundError:
        return []
    except OSError as trouble:
        said = f"cannot be listed ({trouble.strerror})"
        raise StoreError(str(folder), said, "name a folder in ASSAY_STORE") from trouble
    return sorted(path.stem for path in files if _NAME.fullmatch(path.stem))


def checked_name(name: str, what: str) -> str:
    """A name that is fit for a file, as it is.

    Args:
        name: the name.
        what: what it names, for the message.

    Raises:
        ValueError: it is not; the message says what a name is made of.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name!r}: a name is made of {_ALLOWED}")
    return name
