"""Edits put into a text."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.source.document import NEWLINE
from distlint.source.finding import Edit


class Lines:
    """Where the lines of a text start, to tell offsets from rows and columns."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in NEWLINE.finditer(text))]

    def offset(self, row: int, column: int) -> int:
        """The offset of a row and a column, both from 1."""
        return self.starts[row - 1] + column - 1

    def bounds(self, edit: Edit) -> tuple[int, int]:
        """Where the text that an edit replaces begins and ends."""
        span = edit.span
        return self.offset(span.row, span.column), self.offset(span.end_row, span.end_column)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits in it, which must not overlap; insertions at one place keep order."""
    lines = Lines(text)
    parts = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        start, end = lines.bounds(edit)
        parts += [text[at:start], edit.content]
        at = end
    return "".join([*parts, text[at:]])
