"""Rows and columns of ours in the units that were agreed on with the editor, and back."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from distlint.source.finding import Span


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
        """The row and the column, from 1, at which a position of the protocol lies."""
        row = min(position.line, len(lines) - 1)
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
            return len(text.encode("utf-8", "replace"))
        return len(text) + sum(character > "\uffff" for character in text)
