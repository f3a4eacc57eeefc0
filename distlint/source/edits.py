"""Edits put into a text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from distlint.source.document import NEWLINE
from distlint.source.finding import Edit, Span


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


@lru_cache(maxsize=2)
def _lines_of(text: str) -> Lines:
    return Lines(text)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits in it, which must not overlap; insertions at one place keep order."""
    lines = _lines_of(text)
    parts = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        start, end = lines.bounds(edit)
        parts += [text[at:start], edit.content]
        at = end
    return "".join([*parts, text[at:]])


def difference(before: str, after: str) -> Iterator[Edit]:
    """Edits of whole lines that make one text another."""
    old, new = _lines(before), _lines(after)
    last_row = len(NEWLINE.split(before))
    for tag, start, end, first, last in difflib.SequenceMatcher(
        a=old, b=new, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            close = (end + 1, 1) if end < last_row else (end, len(old[-1]) + 1)
            yield Edit(Span(start + 1, 1, *close), "".join(new[first:last]))


def changed_lines(before: str, after: str, context: int) -> Iterator[str]:
    """The lines of a unified diff, ends included: ``@@``, then each with a space, ``-`` or ``+``.

    What both texts begin and end with is passed over before any search, so that this is cheap.
    """
    old, new = _lines(before), _lines(after)
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    first = max(0, head - context)
    end = max(0, tail - context)
    hunks = difflib.unified_diff(
        old[first : len(old) - end], new[first : len(new) - end], n=context, lineterm=""
    )
    for line in list(hunks)[2:]:
        yield _shifted(line, first) if line.startswith("@@") else line


def preview(text: str, edits: Iterable[Edit], context: int) -> Iterator[str]:
    """The same for what edits would change, without a look at the rest of the text."""
    edits = list(edits)
    starts = _lines_of(text).starts
    above = max(0, min(edit.span.row for edit in edits) - 1 - context)
    below = min(len(starts), max(edit.span.end_row for edit in edits) + context)
    window = text[starts[above] : starts[below] if below < len(starts) else len(text)]
    after = apply(window, [replace(edit, span=_raised(edit.span, above)) for edit in edits])
    for line in changed_lines(window, after, context):
        yield _shifted(line, above) if line.startswith("@@") else line


def _raised(span: Span, rows: int) -> Span:
    return replace(span, row=span.row - rows, end_row=span.end_row - rows)


def _lines(text: str) -> list[str]:
    """With their ends; a form feed ends none."""
    ends = [match.end() for match in NEWLINE.finditer(text)]
    starts = [0, *ends]
    found = [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]
    return found if found[-1] else found[:-1]


def _shared(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _shifted(header: str, rows: int) -> str:
    """The header of a hunk of texts whose first rows were left out."""
    parts = []
    for part in header.split():
        if part[0] in "+-":
            start, comma, count = part[1:].partition(",")
            part = f"{part[0]}{int(start) + rows}{comma}{count}"
        parts.append(part)
    return " ".join(parts)
