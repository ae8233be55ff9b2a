"""Whether entries of a profile contradict each other.

Two entries contradict when some shape is matched by both, they name equally many dimensions, and they set a tunable
of one kernel differently or choose different kernels; unless an entry that names more settles the matter for every
such shape. Entries are told apart by the dimensions they name, so that a profile of thousands of tuned shapes, all
naming the same ones, is gone through once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from assay.store.profile_entry import Line, covers
from assay.store.values import Dimension, plain, same

_Group = list[Line]


def first_conflict(lines: Sequence[Line]) -> str | None:
    """The first contradiction among an op's entries, naming both; None when there is none."""
    for one, other in _meeting(lines):
        for matter, said in _disagreements(one, other):
            both = {**one.entry.when, **other.entry.when}
            if not any(_settles(each, matter, one, both) for each in lines):
                return said
    return None


def _disagreements(one: Line, other: Line) -> Iterator[tuple[str | None, str]]:
    """What two entries disagree on: a tunable, or None for the choice, and the sentence that says so."""
    a, b = one.entry, other.entry
    places = f"{one.place} and {other.place}"
    if a.kernel == b.kernel:
        for name, value in a.setting.items():
            if name in b.setting and not same(value, b.setting[name]):
                values = f"{value!r} and {b.setting[name]!r}"
                yield name, f"two entries of equal rank set {a.kernel}.{name} to {values}: {places}"
    elif a.choose and b.choose:
        yield None, f"two entries of equal rank choose {a.kernel} and {b.kernel}: {places}"


def _settles(line: Line, matter: str | None, one: Line, both: Mapping[str, Dimension]) -> bool:
    """Whether an entry outranks two that meet, wherever they meet, in the matter they disagree on."""
    entry = line.entry
    if len(entry.when) <= len(one.entry.when) or not covers(entry.when, both):
        return False
    return entry.choose if matter is None else entry.kernel == one.entry.kernel and matter in entry.setting


def _meeting(lines: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    """The pairs of entries of equal rank that match some shape together."""
    groups: dict[frozenset[str], _Group] = {}
    for line in lines:
        groups.setdefault(frozenset(line.entry.when), []).append(line)
    for names, group in groups.items():
        for equal in _by_values(group, names).values():
            yield from combinations(equal, 2)
    for (names, group), (others, other_group) in combinations(groups.items(), 2):
        if len(names) == len(others):
            shared = names & others
            found = _by_values(other_group, shared)
            for values, own in _by_values(group, shared).items():
                for one in own:
                    yield from ((one, other) for other in found.get(values, ()))


def _by_values(group: Iterable[Line], names: Iterable[str]) -> dict[tuple[tuple[bool, Dimension], ...], _Group]:
    ordered = sorted(names)
    found: dict[tuple[tuple[bool, Dimension], ...], _Group] = {}
    for line in group:
        values = (line.entry.when[name] for name in ordered)
        found.setdefault(tuple((isinstance(value, bool), plain(value)) for value in values), []).append(line)
    return found
