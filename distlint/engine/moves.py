"""Where places of a text are after edits."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from distlint.source.document import Document
from distlint.source.edits import Lines, apply, difference
from distlint.source.finding import Edit, Place


class EditMoves:
    """The way from a text to the one that edits make of it."""

    def __init__(self, before: Document, edits: Iterable[Edit]) -> None:
        self.path = before.path
        self.before = before
        self.lines = Lines(before.text)
        self.all = list(edits)
        self.edits = sorted((*self.lines.bounds(edit), len(edit.content)) for edit in self.all)

    @classmethod
    def between(cls, before: Document, after: Document) -> EditMoves:
        return cls(before, difference(before.text, after.text))

    def knows(self, place: Place) -> bool:
        """Is a place in this text, and not in another file that was analysed with it?"""
        return place.path == self.path

    def offset(self, place: Place) -> int:
        """Where a place of the text starts in the new one."""
        return self.moved(self.lines.offset(place.span.row, place.span.column))

    def moved(self, offset: int) -> int:
        """Where an offset of the text is in the new one."""
        moved = offset
        for start, end, length in self.edits:
            if end <= offset:
                moved += length - (end - start)
            elif start < offset:
                moved += min(0, length - (offset - start))
        return moved

    def new_offset(self, place: Place) -> int:
        """Where a place of the new text starts in it."""
        return self._new_lines.offset(place.span.row, place.span.column)

    @cached_property
    def _new_lines(self) -> Lines:
        return Lines(apply(self.before.text, self.all))
