"""Lines made of styled parts, and where they go: plain text, or colours by rich."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain
from typing import IO, Protocol

Part = str | tuple[str, str]

_SLASHES = re.compile(r"[/\\]")
_ENDS = re.compile(r"[.,/(\[{=_-]")
"""After these, a word that does not fit on a line is cut."""


class Printer(Protocol):
    """Takes output line by line."""

    encoding: str

    def line(self, *parts: Part) -> None: ...


class Plain:
    """Writes text without colours; needs no library."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.encoding = getattr(stream, "encoding", None) or "utf-8"

    def line(self, *parts: Part) -> None:
        text = "".join(part if isinstance(part, str) else part[0] for part in parts).rstrip()
        self.stream.write(encodable(text, self.encoding) + "\n")


class Coloured:
    """Writes for a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console

        self.encoding = getattr(stream, "encoding", None) or "utf-8"
        self.console = Console(
            file=stream,
            force_terminal=True,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
            no_color=False,
        )

    def line(self, *parts: Part) -> None:
        from rich.text import Text

        text = Text()
        for part in parts:
            content, style = (part, "") if isinstance(part, str) else part
            text.append(encodable(content, self.encoding), style=style)
        text.rstrip()
        self.console.print(text, soft_wrap=True)


def printer(stream: IO[str], *, color: bool) -> Printer:
    return Coloured(stream) if color else Plain(stream)


def can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def encodable(text: str, encoding: str) -> str:
    """The text with escapes for what the stream's encoding cannot express."""
    if can_encode(text, encoding):
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


def width_of(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def visible(text: str) -> str:
    """Source text that cannot move the cursor: tabs widened, control characters replaced."""
    if text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character == "\t":
        return "    "
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return "?" if width_of(character) else ""


def shortened(text: str, width: int) -> str:
    """The beginning of a source text that takes more columns when it is ``visible``."""
    over = width_of(visible(text)) - width
    if over <= 0:
        return text
    while over > -3:
        text = text[: len(text) - max(1, (over + 3) // 4)]  # a character takes four at most
        over = width_of(visible(text)) - width
    return f"{text}..."


def wrapped(text: str, width: int, *, cut: bool = False) -> list[str]:
    """The text on lines of at most ``width`` columns; words that are longer stay whole.

    With ``cut``, these are cut after a dot, a bracket or the like.
    """
    lines: list[str] = []
    current = ""
    words = text.split()
    for word in chain.from_iterable(_cut(word, width) for word in words) if cut else words:
        joined = f"{current} {word}" if current else word
        if current and width_of(joined) > width:
            lines.append(current)
            current = word
        else:
            current = joined
    return [*lines, current] if current or not lines else lines


def broken(path: str, width: int) -> Iterator[str]:
    """The lines of a path, which is cut after slashes, and elsewhere where a name does not fit."""
    for part in _cut(path, width, _SLASHES):
        yield from _cut(part, width)


def _cut(word: str, width: int, ends: re.Pattern[str] = _ENDS) -> Iterator[str]:
    """The parts of a word that are shown on lines of their own, if it does not fit on one."""
    while width_of(word) > width:
        at = 0
        for match in ends.finditer(word):
            if width_of(word[: match.end()]) <= width and match.end() < len(word):
                at = match.end()
        if not at:
            break
        yield word[:at]
        word = word[at:]
    yield word
