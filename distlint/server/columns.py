"""Rows and columns of ours in the units that were agreed on with the editor, and back."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from distlint.source.document import NEWLINE
from distlint.source.edits import Lines
from distlint.source.finding import Span

Change = types.TextDocumentContentChangeEvent


class Columns:
    """Positions in one encoding; ``lines`` are those of the document, without their ends."""

    def __init__(self, encoding: types.PositionEncodingKind | str | None) -> None:
        self.encoding = encoding or types.PositionEncodingKind.Utf16

    def position(self, lines: Sequence[str], row: int, column: int) -> types.Position:
        """The protocol's position of a row and a column that start at 1."""
        if row > len(lines):
            return types.Position(len(lines), 0)
        return types.Position(row - 1, self._units(lines[row - 1][: column - 1]))

    def range(self, lines: Sequence[str], span: Span) -> types.Range:
        return types.Range(
            self.position(lines, span.row, span.column),
            self.position(lines, span.end_row, span.end_column),
        )

    def place(self, lines: Sequence[str], position: types.Position) -> tuple[int, int]:
        """The row and the column, from 1, at which a position of the protocol lies.

        One after the last line stands for the end of the text.
        """
        row = position.line
        if row >= len(lines):
            return len(lines), len(lines[-1]) + 1
        units = 0
        for column, character in enumerate(lines[row], 1):
            units += self._units(character)
            if units > position.character:
                return row + 1, column
        return row + 1, len(lines[row]) + 1

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == types.PositionEncodingKind.Utf32:
            return len(text)
        if self.encoding == types.PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(character > "\uffff" for character in text)


def changed(text: str, change: Change, columns: Columns) -> str:
    """A text after a change that the editor reported, of a part or of all of it."""
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return change.text
    lines, offsets = NEWLINE.split(text), Lines(text)
    start = offsets.offset(*columns.place(lines, change.range.start))
    end = offsets.offset(*columns.place(lines, change.range.end))
    return text[:start] + change.text + text[end:]
