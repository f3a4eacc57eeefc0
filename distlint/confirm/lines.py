"""Lines of a script, each with what of the source it stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from distlint.confirm.observed import Site

WIDTH = 100
LEAST_NOTE = 24
"""Columns of a note that are shown beside the longest code."""


@dataclass(frozen=True)
class Line:
    """A line of the script, and what of the source it stands for."""

    depth: int
    code: str
    note: str = ""
    site: Site | None = None
    """Of the collective that it issues."""

    @property
    def text(self) -> str:
        code = "    " * self.depth + self.code
        if not self.note:
            return code
        note = " ".join(self.note.split())
        start = f"{code}  # " if self.code else f"{code}# "
        room = max(WIDTH - len(start), LEAST_NOTE)
        return start + (note if len(note) <= room else note[: room - 3] + "...")


Lines = list[Line]

EMPTY = Line(0, "")


def dedented(lines: Iterable[Line]) -> Lines:
    return [replace(line, depth=line.depth - 1) for line in lines]
