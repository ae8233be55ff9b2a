"""A profile: for one device, which setting each shape's kernels run at, and which kernel to run.

An entry names an op, a kernel, some of the op's dimensions, the tunables it sets, and whether its kernel is the one
to run. A dimension it does not name matches any. Where several entries match, the one that names most dimensions
wins, tunable by tunable; of equally many, the one for the op itself wins over one for a base of it; two that are
still equal and disagree are an error, found when the profile is made and naming both.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from assay.errors import ProfileError
from assay.store.profile_conflict import first_conflict
from assay.store.profile_entry import Entry, Line, alike, covers, sort_key
from assay.store.profile_text import parse_profile, profile_text
from assay.store.root import checked_name
from assay.store.values import Dimension, Value, plain, same

Ops = str | Sequence[str]
"""An op's name, or its name and then its bases', nearest first."""


@dataclass(frozen=True)
class Resolved:
    """What a profile says of one shape.

    Attributes:
        settings: by kernel, the tunables that are set.
        choose: the kernel to run; None where no matching entry chooses.
        entries: the matching entries, the most specific first.
    """

    settings: Mapping[str, Mapping[str, Value]]
    choose: str | None
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Profile:
    """A device's entries.

    Args:
        device: the device's file-safe name.
        lines: the entries, each with the text it was read from; they are put in order.

    Raises:
        ProfileError: two entries of equal rank disagree.
    """

    device: str
    lines: tuple[Line, ...] = ()
    _by_op: Mapping[str, tuple[Entry, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Puts the entries in order and refuses those that contradict each other."""
        ordered = tuple(sorted(self.lines, key=sort_key))
        by_op: dict[str, list[Line]] = {}
        for line in ordered:
            by_op.setdefault(line.entry.op, []).append(line)
        for lines in by_op.values():
            conflict = first_conflict(lines)
            if conflict is not None:
                raise ProfileError(f"profile of {self.device}", conflict, "name more dimensions in one of them")
        entries = {op: tuple(line.entry for line in lines) for op, lines in by_op.items()}
        object.__setattr__(self, "lines", ordered)
        object.__setattr__(self, "_by_op", MappingProxyType(entries))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries, in the file's order."""
        return tuple(line.entry for line in self.lines)

    @classmethod
    def load(cls, path: Path) -> "Profile":
        """The profile in a file.

        Raises:
            ProfileError: the file is missing, damaged, of another version, or contradicts itself; the message names
                the path, the line and what is wrong. The file is left as it is.
        """
        try:
            content = path.read_bytes()
        except OSError as trouble:
            raise ProfileError(str(path), f"cannot be read ({trouble.strerror})") from trouble
        device, lines = parse_profile(content, str(path))
        try:
            return cls(device, lines)
        except ProfileError as trouble:
            raise ProfileError(str(path), trouble.said, trouble.remedy) from trouble

    @classmethod
    def for_device(cls, folder: Path, device: str) -> "Profile":
        """The profile of a device in a folder of profiles; an empty one where it has no file.

        Raises:
            ProfileError: the file cannot be loaded, or was written for another device.
            ValueError: the device's name is not fit for a file.
        """
        path = profile_path(folder, device)
        if not path.exists():
            return cls(device)
        profile = cls.load(path)
        if profile.device != device:
            raise ProfileError(str(path), f"is for the device {profile.device!r}, this is {device!r}")
        return profile

    def covering(self, ops: Ops, dims: Mapping[str, Dimension]) -> tuple[Entry, ...]:
        """The entries that match a shape, the most specific first.

        Args:
            ops: the op's name, or its name and then its bases', nearest first.
            dims: every dimension of the shape: dims, dtypes, parameters and scalars by name.
        """
        found = [
            (-len(entry.when), distance, place, entry)
            for distance, op in enumerate(_lineage(ops))
            for place, entry in enumerate(self._by_op.get(op, ()))
            if covers(entry.when, dims)
        ]
        return tuple(entry for *_, entry in sorted(found, key=lambda each: each[:3]))

    def resolve(self, ops: Ops, dims: Mapping[str, Dimension]) -> Resolved:
        """What the profile says of a shape.

        Args:
            ops: the op's name, or its name and then its bases', nearest first.
            dims: every dimension of the shape: dims, dtypes, parameters and scalars by name.
        """
        settings: dict[str, dict[str, Value]] = {}
        choose: str | None = None
        matching = self.covering(ops, dims)
        for entry in matching:
            setting = settings.setdefault(entry.kernel, {})
            for name, value in entry.setting.items():
                setting.setdefault(name, value)
            if choose is None and entry.choose:
                choose = entry.kernel
        return Resolved(settings, choose, matching)

    def with_entry(self, entry: Entry) -> "Profile":
        """This profile with an entry, in place of those of its op with the same dimensions and the same kernel.

        An entry that chooses also replaces the one of another kernel that chose for the same dimensions. One that
        does not leaves the choice as it was.

        Raises:
            ProfileError: it disagrees with an entry of equal rank.
        """
        replaced = [each for each in self.entries if _replaces(entry, each)]
        if any(each.choose and each.kernel == entry.kernel for each in replaced):
            entry = Entry(entry.op, entry.kernel, entry.when, entry.setting, choose=True)
        if len(replaced) == 1 and _equal(entry, replaced[0]):
            return self
        rest = (Line(line.entry, line.text) for line in self.lines if not _replaces(entry, line.entry))
        return Profile(self.device, (*rest, Line(entry)))

    def with_tuned(
        self,
        ops: Ops,
        kernel: str,
        when: Mapping[str, Dimension],
        setting: Mapping[str, Value],
        *,
        choose: bool,
        defaults: Mapping[str, Dimension] = MappingProxyType({}),
    ) -> "Profile":
        """This profile with the entry a tuned shape gets.

        The entry names every dimension that is off or without a default, and every one that an entry covering the
        shape names, so that it outranks them. It keeps what those set that the search did not move.

        Args:
            ops: the op's name, or its name and then its bases', nearest first.
            kernel: the kernel that was tuned, or that won.
            when: every dimension of the shape, in the signature's order.
            setting: the tunables the search moved.
            choose: whether the kernel is the one to run.
            defaults: the defaults of those dimensions that have one.

        Raises:
            ProfileError: it disagrees with an entry of equal rank.
        """
        covering = self.covering(ops, when)
        named = {name for entry in covering for name in entry.when}
        own: dict[str, Dimension] = {
            name: plain(value)
            for name, value in when.items()
            if name in named or name not in defaults or not same(defaults[name], value)
        }
        held = self.resolve(ops, when).settings.get(kernel, {})
        kept = {name: value for name, value in held.items() if name not in setting}
        return self.with_entry(Entry(_lineage(ops)[0], kernel, own, {**setting, **kept}, choose=choose))

    def text(self) -> bytes:
        """The file's content: a line for the head, a line per entry, a line for the end."""
        return profile_text(self.device, self.lines)

    def save(self, path: Path) -> bool:
        """Writes the profile in place of a file, whole or not at all; whether the file changed.

        Raises:
            ProfileError: the file cannot be written; the old one is whole.
        """
        target = path.resolve()
        content = self.text()
        try:
            if target.exists() and target.read_bytes() == content:
                return False
            _replace_file(target, content)
        except OSError as trouble:
            said = f"cannot be written ({trouble.strerror})"
            raise ProfileError(str(path), said, "the old file is whole") from trouble
        return True


def update_profile(folder: Path, device: str, change: Callable[[Profile], Profile]) -> bool:
    """Changes a device's profile as the file has it now; whether the file changed.

    The folder is locked meanwhile, so that of two runs that end at once neither loses what the other wrote, and what
    was edited by hand since a run began stays.

    Raises:
        ProfileError: the file cannot be read or written; it is left whole.
    """
    with _locked(folder):
        return change(Profile.for_device(folder, device)).save(profile_path(folder, device))


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as trouble:
        raise ProfileError(str(folder), f"cannot be opened ({trouble.strerror})") from trouble
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def profile_path(folder: Path, device: str) -> Path:
    """The file of a device's profile in a folder of profiles.

    Raises:
        ValueError: the device's name is not fit for a file.
    """
    return folder / f"{checked_name(device, 'device')}.json"


def _lineage(ops: Ops) -> Sequence[str]:
    return (ops,) if isinstance(ops, str) else ops


def _replaces(entry: Entry, old: Entry) -> bool:
    if entry.op != old.op or not alike(entry.when, old.when):
        return False
    return entry.kernel == old.kernel or (entry.choose and old.choose)


def _equal(one: Entry, other: Entry) -> bool:
    same_kernel = (one.op, one.kernel, one.choose) == (other.op, other.kernel, other.choose)
    return same_kernel and alike(one.when, other.when) and alike(one.setting, other.setting)


def _replace_file(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            fresh.chmod(target.stat().st_mode & 0o777)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
