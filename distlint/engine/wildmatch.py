"""Patterns of ``.gitignore`` as git matches them, in time proportional to pattern times path.

A pattern becomes a regular expression that never backtracks from one star to an earlier one. That
loses nothing: what follows a star, up to the next star, may as well match where it first can. The
same holds for ``**/`` and the path components up to the next ``**/``. So each such piece, but
the last, is an atomic group: a lookahead that captures, and a reference to what it captured (older
versions of Python have no other). The last piece has one length and has to reach the end.

git matches bytes: a path is compared as the Latin-1 text of its UTF-8 bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path

MAX_LENGTH = 4096
"""Characters that a pattern may ask for: a path that is longer cannot be opened."""
_FIRST_SPECIAL = re.compile(r"[*?[\\]")
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\t\n\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class PatternError(ValueError):
    """Why a pattern matches nothing."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a ``.gitignore``: ``negated`` by a leading ``!``."""

    negated: bool
    directories_only: bool
    by_name: bool
    """Is it compared with the last component alone, wherever that is?"""
    literal: str | None
    """What has to be equal, for a pattern without wildcards."""
    suffix: str | None
    """What has to be the end of the name, for ``*.suffix``."""
    regex: re.Pattern[str] | None

    def matches(self, path: str, name: str, *, directory: bool) -> bool:
        """Does it match a path, relative to its base, as ``comparable`` gives it?"""
        if self.directories_only and not directory:
            return False
        text = name if self.by_name else path
        if self.literal is not None:
            return text == self.literal
        if self.suffix is not None:
            return text.endswith(self.suffix)
        return self.regex is not None and self.regex.match(text) is not None


def comparable(text: str) -> str:
    """A text in which each character stands for a byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


def below(path: Path, base: Path) -> str | None:
    """A path relative to a directory, with slashes; None if it is not below it."""
    text, above = os.fspath(path), os.path.join(base, "")
    if not text.startswith(above):
        return None
    return text[len(above) :].replace(os.sep, "/")


def lines_of(text: str) -> Iterator[Line]:
    """The patterns in a file, without those that git cannot use."""
    for line in text.removeprefix("\ufeff").split("\n"):
        try:
            found = parsed(line.removesuffix("\r"))
        except PatternError:
            continue
        if found is not None:
            yield found


def decided(lines: Iterable[Line], path: str, *, directory: bool) -> bool | None:
    """Do lines, the last first, ignore a path? None if none of them matches it.

    The directories above it are other paths: git does not look into one that is ignored.
    """
    path = comparable(path)
    name = path.rpartition("/")[2]
    for line in lines:
        if line.matches(path, name, directory=directory):
            return not line.negated
    return None


@lru_cache(maxsize=4096)
def parsed(line: str) -> Line | None:
    """A line of a ``.gitignore``; None for a comment and for an empty one.

    Raises:
        PatternError: if it can match nothing.
    """
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    pattern = _without_trailing_spaces(comparable(line[negated:]))
    directories_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    by_name = "/" not in pattern
    pattern = pattern.removeprefix("/")
    literal = suffix = regex = None
    if not _is_special(pattern):
        literal = pattern
    elif by_name and pattern[0] == "*" and not _is_special(pattern[1:]):
        suffix = pattern[1:]
    else:
        tokens = _tokens(pattern, by_name=by_name)
        if sum(kind == _ONE for kind, _ in tokens) <= MAX_LENGTH:
            regex = re.compile(_regex(tokens), re.DOTALL)
    return Line(negated, directories_only, by_name, literal, suffix, regex)


def _is_special(text: str) -> bool:
    return _FIRST_SPECIAL.search(text) is not None


def _without_trailing_spaces(pattern: str) -> str:
    end = len(pattern)
    while end and pattern[end - 1] == " ":
        end -= 1
    before = pattern[:end]
    escapes = len(before) - len(before.rstrip("\\"))
    return pattern[: end + 1] if escapes % 2 and end < len(pattern) else before


_STAR, _REST, _DIRECTORIES = "star", "rest", "directories"
"""``*``; ``**`` at the end of a path; ``**/``, which also stands for no directory."""
_ONE = "one"

Token = tuple[str, str]
"""One of these kinds; with ``_ONE``, the regular expression of one character."""


def _tokens(pattern: str, *, by_name: bool) -> list[Token]:
    found: list[Token] = []
    special = _FIRST_SPECIAL.search(pattern)
    plain = special.start() if special else len(pattern)
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "*":
            whole = at <= plain or pattern[at - 1] == "/"
            at = _stars(pattern, at, found, whole=whole and not by_name)
            continue
        expression, at = _one(pattern, at)
        found.append((_ONE, expression))
    return found


def _stars(pattern: str, start: int, found: list[Token], *, whole: bool) -> int:
    """Add what stars mean; the result is where they end.

    Two and more match any number of directories where a component begins (``whole``). To git, one
    also begins after text without wildcards: it compares that text first, and then forgets it.
    """
    end = start
    while pattern[end : end + 1] == "*":
        end += 1
    kind = _STAR
    if end - start > 1 and whole:
        if end == len(pattern):
            kind = _REST
        elif pattern[end] == "/":
            kind, end = _DIRECTORIES, end + 1
        elif pattern.startswith("\\/", end):  # which stands for at least one directory
            found += [(_STAR, ""), (_ONE, "/")]
            kind, end = _DIRECTORIES, end + 2
    if not found or found[-1][0] != kind:
        found.append((kind, ""))
    return end


def _one(pattern: str, at: int) -> tuple[str, int]:
    """The regular expression of the character at an offset, and the offset after it."""
    if pattern[at] == "?":
        return "[^/]", at + 1
    if pattern[at] == "[":
        return _bracket(pattern, at)
    at += pattern[at] == "\\"
    if at >= len(pattern):
        raise PatternError("it ends with `\\`")
    return re.escape(pattern[at]), at + 1


def _bracket(pattern: str, start: int) -> tuple[str, int]:
    """The regular expression of ``[...]``, and where that ends."""
    at = start + 1
    negated = pattern[at : at + 1] in ("!", "^") and at < len(pattern)
    at += negated
    parts: list[str] = []
    before = ""  # the last single character, from which a range may begin
    first = True
    while first or pattern[at : at + 1] != "]":
        first = False
        character = pattern[at : at + 1]
        if not character:
            raise PatternError("unclosed `[`")
        following = pattern[at + 1 : at + 2]
        if character == "-" and before and following not in ("", "]"):
            at += 1 + (following == "\\")
            last = pattern[at : at + 1]
            if not last:
                raise PatternError("unclosed `[`")
            if before <= last:
                parts.append(f"{re.escape(before)}-{re.escape(last)}")
            before = ""
        elif character == "[" and following == ":" and (end := pattern.find("]", at + 2)) >= 0:
            if end == at + 2 or pattern[end - 1] != ":":
                parts.append(r"\[")
                before = "["
            else:
                name = pattern[at + 2 : end - 1]
                if name not in _CLASSES:
                    raise PatternError(f"unknown character class `[:{name}:]`")
                parts.append(_CLASSES[name])
                before, at = "", end
        else:
            at += character == "\\"
            before = pattern[at : at + 1]
            if not before:
                raise PatternError("unclosed `[`")
            parts.append(re.escape(before))
        at += 1
    inside = "".join(parts)
    if not inside:
        return ("[^/]" if negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if negated else ''}{inside}]", at + 1


def _regex(tokens: list[Token]) -> str:
    """The regular expression of a whole pattern, from the start of a text to its end."""
    names = count()
    rest = bool(tokens) and tokens[-1][0] == _REST
    pieces = _split(tokens[:-1] if rest else tokens, _DIRECTORIES)
    parts = []
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1 and not rest
        run = _run(piece, names, last=last)
        if number:
            run = f"(?:[^/]*/)*?{run}"
        parts.append(run if last or not number else _atomic(run, names))
    return "".join(parts)


def _run(tokens: list[Token], names: Iterator[int], *, last: bool) -> str:
    """What stands between ``**/`` and ``**/``, or the end of the text."""
    first, *following = ["".join(text for _, text in part) for part in _split(tokens, _STAR)]
    parts = [first]
    for number, text in enumerate(following, 1):
        if last and number == len(following):
            parts.append(f"[^/]*{text}")
        else:
            parts.append(_atomic(f"[^/]*?{text}", names))
    return "".join(parts) + (r"\Z" if last else "")


def _atomic(expression: str, names: Iterator[int]) -> str:
    name = f"g{next(names)}"
    return f"(?=(?P<{name}>{expression}))(?P={name})"


def _split(tokens: Iterable[Token], kind: str) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token[0] == kind:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
