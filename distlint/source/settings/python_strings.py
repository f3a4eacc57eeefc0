"""Strings in Python: their characters with the places that these have in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PREFIX = re.compile(r"""([rRbBuUfF]{0,2})('''|\"""|'|")""")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t", "\n": ""}
_DOUBLED = frozenset({"%%", "{{", "}}"})
_CLOSING = {"(": ")", "[": "]", "{": "}"}

HOLE = "${_}"
"""What stands for a value that is known at run time only: a variable without a value."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a string: a text with the offset of each character, or a hole in it."""

    text: str
    offsets: tuple[int, ...]
    end: int
    is_hole: bool = False

    @classmethod
    def at(cls, text: str, start: int, end: int, *, is_hole: bool = False) -> Part:
        """A text that is not written as such, all of it at one place."""
        return cls(text, (*[start] * (len(text) - 1), end - 1), end, is_hole)


def scan(source: str, start: int, end: int) -> list[Part] | None:
    """The parts of a string, or of several that are put together; None if it is not understood."""
    found: list[Part] = []
    at = start
    while at < end:
        if source[at] == "#":
            at = source.find("\n", at, end) + 1 or end
        elif source[at] in " \t\r\n\f\\":
            at += 1
        else:
            match = _PREFIX.match(source, at, end)
            if match is None or "b" in match[1].lower():
                return None
            literal = _Literal(source, match)
            if not literal.read(end):
                return None
            found += literal.parts
            at = literal.at
    return found


class _Literal:
    """One string literal, from its prefix to its closing quote."""

    def __init__(self, source: str, match: re.Match[str]) -> None:
        self.source, self.quote = source, match[2]
        self.is_raw, self.is_format = "r" in match[1].lower(), "f" in match[1].lower()
        self.at = match.end()
        self.parts: list[Part] = []
        self._chars: list[str] = []
        self._offsets: list[int] = []

    def read(self, end: int) -> bool:
        source = self.source
        while self.at < end:
            char = source[self.at]
            if source.startswith(self.quote, self.at):
                self._flush()
                self.at += len(self.quote)
                return True
            if char == "\\":
                if not self._escape():
                    return False
            elif self.is_format and char in "{}":
                if source[self.at + 1 : self.at + 2] == char:
                    self._add(char, 2)
                elif char == "{" and not self._hole(end):
                    return False
            else:
                self._add(char, 1)
        return False

    def _add(self, char: str, length: int) -> None:
        if char:
            self._chars.append(char)
            self._offsets.append(self.at)
        self.at += length

    def _escape(self) -> bool:
        following = self.source[self.at + 1 : self.at + 2]
        if self.is_raw:
            self._add("\\", 1)
            self._add(following, 1)
            return True
        if following not in _ESCAPES:
            return False
        self._add(_ESCAPES[following], 2)
        return True

    def _hole(self, end: int) -> bool:
        """Skip an expression in braces, which may hold strings and brackets itself."""
        self._flush()
        start = self.at
        closing: list[str] = []
        while self.at < end:
            char = self.source[self.at]
            if char in _CLOSING:
                closing.append(_CLOSING[char])
            elif closing and char == closing[-1]:
                closing.pop()
            elif char in "'\"":
                self.at = self.source.find(char, self.at + 1, end)
                if self.at < 0:
                    return False
            self.at += 1
            if not closing:
                self.parts.append(Part.at(HOLE, start, self.at, is_hole=True))
                return True
        return False

    def _flush(self) -> None:
        if self._chars:
            self.parts.append(Part("".join(self._chars), tuple(self._offsets), self.at))
        self._chars, self._offsets = [], []


def with_holes(parts: list[Part], pattern: re.Pattern[str]) -> Iterator[Part]:
    """Parts in which what matches, such as ``%s``, is a hole.

    A character that is written twice, as in ``%%``, stands for itself.
    """
    for part in parts:
        at = 0
        for match in () if part.is_hole else pattern.finditer(part.text):
            if match.start() > at:
                yield _slice(part, at, match.start())
            if match[0] in _DOUBLED:
                yield _slice(part, match.start(), match.start() + 1)
            else:
                ends = _slice(part, match.start(), match.end())
                yield Part.at(HOLE, ends.offsets[0], ends.end, is_hole=True)
            at = match.end()
        if part.is_hole:
            yield part
        elif at < len(part.text):
            yield _slice(part, at, len(part.text))


def _slice(part: Part, start: int, end: int) -> Part:
    following = part.offsets[end] if end < len(part.text) else part.end
    return Part(part.text[start:end], part.offsets[start:end], following)
