"""What fixes change: below a finding with line numbers, or as a patch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO

from distlint.output.style import Part, encodable, shortened, visible
from distlint.source.edits import changed_lines
from distlint.source.paths import display
from distlint.source.report import Fixed

CONTEXT = 3

_GUTTER = "bold blue"
_MIN_ROOM = 20
_STYLES = {"-": "red", "+": "green", " ": ""}
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_COLOURS = {"-": "\033[31m", "+": "\033[32m", "@": "\033[36m"}


def numbered(lines: Iterable[str], width: int) -> Iterator[list[Part]]:
    """The lines of a diff after their row: the new one, or the old one of what is removed.

    What does not fit into ``width`` columns is cut.
    """
    rows = list(_with_rows(lines))
    digits = len(str(max((row for row, _, _ in rows), default=0)))
    for index, (row, mark, text) in enumerate(rows):
        if not mark:
            if text:
                yield [(text, _GUTTER)]
            elif index:
                yield [(f"{'...':>{digits}}", _GUTTER)]
            continue
        gutter = f"{row:>{digits}} {mark} | " if mark != " " else f"{row:>{digits}}   | "
        room = max(_MIN_ROOM, width - len(gutter))
        yield [(gutter, _STYLES[mark] or _GUTTER), (visible(shortened(text, room)), _STYLES[mark])]


def _with_rows(lines: Iterable[str]) -> Iterator[tuple[int, str, str]]:
    old = new = 0
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk:
            old, new = int(hunk[1]), int(hunk[2])
            yield 0, "", hunk[3]
            continue
        mark, text = line[0], line[1:].rstrip("\r\n")
        yield (old if mark == "-" else new), mark, text
        old += mark != "+"
        new += mark != "-"


def patch(fixed: Fixed, stream: IO[str], *, color: bool) -> None:
    """A unified diff that ``patch`` and ``git apply`` read; of a notebook, one for each cell."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    name = display(fixed.path)
    for line in _patch(fixed, name):
        text = encodable(line, encoding)
        colour = _COLOURS.get(line[0], "") if color else ""
        stream.write(f"{colour}{text.rstrip(chr(10))}\033[0m\n" if colour else text)


def _patch(fixed: Fixed, name: str) -> Iterator[str]:
    if not fixed.cells:
        yield from _unified(name, fixed.before, fixed.after)
    for number, before, after in fixed.cells:
        yield from _unified(f"{name}:cell {number}", _ended(before), _ended(after))


def _ended(source: str) -> str:
    """Cells have no newline at their end."""
    return source if source.endswith("\n") else f"{source}\n"


def _unified(name: str, before: str, after: str) -> Iterator[str]:
    yield from (f"--- {name}\n", f"+++ {name}\n")
    for line in changed_lines(before, after, CONTEXT):
        if line.startswith("@@"):
            yield f"{line}\n"
        elif line.endswith(("\n", "\r")):
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"
