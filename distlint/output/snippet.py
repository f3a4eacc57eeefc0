"""Source lines with labels below the stretches that they are about, of one file or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from distlint.output.labels import Label
from distlint.output.style import Part, broken, shortened, visible, width_of, wrapped
from distlint.source.finding import Place, Span
from distlint.source.paths import display

GUTTER = "bold blue"
_SECONDARY = "bold blue"
_MARGIN = 8
_MIN_ROOM = 20
_MOST_ROWS = 5
"""Rows of a long place that are shown: the first ones."""

Lines = Callable[[Path, int, int], "str | None"]
"""The text of a row of a file, or of a cell of it; None where it cannot be read."""

CONTEXT = 2
"""Rows shown before and after a place that is the only one."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A stretch of one row, as offsets, and what is written below it."""

    start: int
    end: int
    text: str
    is_primary: bool


def snippet(labels: Sequence[Label], lines: Lines, style: str, width: int) -> Iterator[list[Part]]:
    """The place of the finding, then the labelled rows, file by file."""
    digits = len(str(max(label.place.span.row + CONTEXT for label in labels)))
    files: dict[tuple[Path, int], list[Label]] = {}
    for label in labels:
        files.setdefault((label.place.path, label.place.cell), []).append(label)
    blank = f"{'':>{digits}} |"
    room = max(_MIN_ROOM, width - digits - 3)
    for number, found in enumerate(files.values()):
        arrow = f"{'':>{digits}}::: " if number else f"{'':>{digits}}--> "
        first, *rest = broken(place_text(found[0].place), max(_MIN_ROOM, width - len(arrow)))
        yield [(arrow, GUTTER), first]
        for part in rest:
            yield [" " * len(arrow), part]
        rows = list(_rows(found, lines, alone=len(labels) == 1))
        if rows:
            yield [(blank, GUTTER)]
        before = 0
        for row, line, marks in rows:
            if before and row > before + 1:
                yield [("...", GUTTER)]
            before = row
            for is_source, parts in _row(line, marks, style, room):
                yield [(f"{row:>{digits}} | " if is_source else f"{blank} ", GUTTER), *parts]
        for label in found:
            if label.text and not rows:
                yield [(f"{'':>{digits}} = ", GUTTER), visible(label.text)]
        if rows:
            yield [(blank, GUTTER)]


def place_text(place: Place) -> str:
    """``path:row:column``, in a notebook with the cell."""
    cell = f":cell {place.cell}" if place.cell else ""
    return f"{display(place.path)}{cell}:{place.span.row}:{place.span.column}"


def columns(row: int, line: str, span: Span) -> tuple[int, int]:
    """The part of a row that belongs to the span, as offsets."""
    if not span.row <= row <= span.end_row:
        return 0, 0
    start = span.column - 1 if row == span.row else len(line) - len(line.lstrip())
    end = span.end_column - 1 if row == span.end_row else len(line.rstrip())
    if row == span.row:  # a place after the end of its line is shown as one mark
        start = min(start, len(line))
        end = max(min(end, len(line)), start + 1)
    return start, end


def _rows(
    labels: Sequence[Label], lines: Lines, *, alone: bool
) -> Iterator[tuple[int, str, list[_Mark]]]:
    """The rows to show, in order, with their marks; a gap of one row is filled."""
    path, cell = labels[0].place.path, labels[0].place.cell
    marks: dict[int, list[_Mark]] = {}
    for label in labels:
        span = label.place.span
        last = min(span.end_row, span.row + _MOST_ROWS - 1) if label.is_primary else span.row
        for row in range(span.row, last + 1):
            line = lines(path, cell, row)
            if line is None:
                continue
            start, end = columns(row, line, span)
            text = label.text if row == last else ""
            if end > start:
                marks.setdefault(row, []).append(_Mark(start, end, text, label.is_primary))
    wanted = set(marks)
    wanted.update(row + 1 for row in marks if row + 2 in marks)
    if alone and marks:
        wanted.update(range(max(1, min(marks) - CONTEXT), max(marks) + CONTEXT + 1))
    for row in sorted(wanted):
        line = lines(path, cell, row)
        if line is not None:
            yield row, line, marks.get(row, [])


def _row(line: str, marks: list[_Mark], style: str, room: int) -> Iterator[tuple[bool, list[Part]]]:
    """A row of source and the lines below it, one for each label; is it the source?"""
    start = min((mark.start for mark in marks), default=0)
    end = max((mark.end for mark in marks), default=0)
    shown, shift = _cut(line, start, end, room)
    yield True, [visible(shown)]
    for mark in sorted(marks, key=lambda mark: (-mark.start, mark.is_primary)):
        first, last = mark.start - shift, min(mark.end - shift, len(shown))
        first = min(max(0, first), len(shown))
        indent = width_of(visible(shown[:first]))
        count = max(1, width_of(visible(shown[first : max(first, last)])))
        count = min(count, max(1, room - indent))
        kind = style if mark.is_primary else _SECONDARY
        yield from _marked(indent, ("^" if mark.is_primary else "-") * count, mark.text, kind, room)


def _marked(
    indent: int, marks: str, text: str, style: str, room: int
) -> Iterator[tuple[bool, list[Part]]]:
    """The marks with the text at their right, or below them where there is no room."""
    text = visible(text)
    at = indent + len(marks) + 1
    if not text or at + width_of(text) <= room:
        yield False, [" " * indent, (f"{marks} {text}".rstrip(), style)]
        return
    yield False, [" " * indent, (marks, style)]
    at = min(indent, max(0, room - max(_MIN_ROOM, width_of(text))))
    for part in wrapped(text, room - at, cut=True):
        yield False, [" " * at, (part, style)]


def _cut(line: str, start: int, end: int, room: int) -> tuple[str, int]:
    """A long line around what is marked, and by how much it was shifted to the left."""
    if width_of(visible(line)) <= room:
        return line, 0
    first = max(0, start - _MARGIN) if end > start and width_of(visible(line[:end])) > room else 0
    head = "..." if first else ""
    return shortened(head + line[first:], room), first - len(head)
