"""A profile as text: one line for the head, one per entry in order, one for the end.

Reading keeps each entry's own text, so that writing a profile back changes only the lines whose entries changed. The
text is read as data by Python's JSON scanner, which knows where in it each entry begins.
"""

import json
from collections.abc import Sequence
from typing import NoReturn

import msgspec

from assay.errors import ProfileError
from assay.store.profile_entry import Entry, Line

FORMAT = 1
REMEDY = "put the file back as it was (git checkout), or move it away"


def profile_text(device: str, lines: Sequence[Line]) -> bytes:
    """The content of a profile's file.

    Args:
        device: the device's name.
        lines: the entries in order.
    """
    head = json.dumps({"assay": FORMAT, "device": device}).removesuffix("}")
    body = ",\n".join(f"  {line}" for line in lines)
    return f'{head}, "entries": [\n{body}\n]}}\n'.replace("[\n\n]", "[\n]").encode()


def parse_profile(content: bytes, source: str) -> tuple[str, tuple[Line, ...]]:
    """The device and the entries of a profile's file.

    Args:
        content: the file's bytes.
        source: its path, for messages.

    Raises:
        ProfileError: it is damaged or of another version; the message says in which line and why.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as trouble:
        number = content[: trouble.start].count(b"\n") + 1
        raise ProfileError(source, f"line {number}: is not UTF-8 text", REMEDY) from trouble
    return _Reader(text, source).profile()


class _Reader:
    """Reads a profile from front to back, knowing the line it is at."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._at = 0
        self._line = 1
        self._counted = 0
        self._scanner = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_refuse_constant)

    def profile(self) -> tuple[str, tuple[Line, ...]]:
        head: dict[str, object] = {}
        lines: tuple[Line, ...] | None = None
        self._expect("{")
        while True:
            name = self._value()
            self._expect(":")
            if name == "entries" and lines is None:
                lines = self._entries()
            elif name in ("assay", "device") and name not in head:
                head[str(name)] = self._value()
            else:
                self._refuse(f"expected assay, device and entries, each once, not {name!r}")
            if self._expect(",}") == "}":
                break
        if self._peek():
            self._refuse("there is text after the profile's end")
        return self._device(head), self._present(lines)

    def _device(self, head: dict[str, object]) -> str:
        version, device = head.get("assay"), head.get("device")
        if version is True or version != FORMAT:
            self._refuse(f"is of version {version}, this assay reads version {FORMAT}")
        if not isinstance(device, str) or not device:
            self._refuse(f"expected the device's name, not {device!r}")
        return device

    def _present(self, lines: tuple[Line, ...] | None) -> tuple[Line, ...]:
        if lines is None:
            self._refuse("has no entries")
        return lines

    def _entries(self) -> tuple[Line, ...]:
        self._expect("[")
        if self._peek() == "]":
            self._expect("]")
            return ()
        lines = [self._entry()]
        while self._expect(",]") == ",":
            lines.append(self._entry())
        return tuple(lines)

    def _entry(self) -> Line:
        self._peek()
        start, number = self._at, self._line
        found = self._value()
        try:
            entry = msgspec.convert(found, Entry)
        except msgspec.ValidationError as trouble:
            self._refuse(f"is no entry: {trouble}", number)
        text = self._text[start : self._at]
        return Line(entry, None if "\n" in text or "\r" in text else text, number)

    def _value(self) -> object:
        self._peek()
        try:
            found, self._at = self._scanner.raw_decode(self._text, self._at)
        except json.JSONDecodeError as trouble:
            self._refuse(f"is damaged ({trouble.msg}, column {trouble.colno})", trouble.lineno)
        except (ValueError, RecursionError) as trouble:
            self._refuse(f"is damaged ({trouble})")
        return found

    def _expect(self, allowed: str) -> str:
        seen = self._peek()
        if not seen or seen not in allowed:
            wanted = " or ".join(map(repr, allowed))
            self._refuse(f"is damaged (expected {wanted}, found {repr(seen) if seen else 'the end of the file'})")
        self._at += 1
        return seen

    def _peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
            self._at += 1
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._text[self._at : self._at + 1]

    def _refuse(self, said: str, line: int | None = None) -> NoReturn:
        raise ProfileError(self._source, f"line {line or self._line}: {said}", REMEDY)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is there twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
