"""Source lines with a stretch of them underlined."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.output.style import Part, visible, width_of
from distlint.source.finding import Span
from distlint.source.report import Frame

_GUTTER = "bold blue"
_MARGIN = 8


def framed(frame: Frame, span: Span, style: str, width: int) -> Iterator[list[Part]]:
    """The lines of a frame, each as parts; long lines are cut around the span."""
    digits = len(str(frame.first_row + len(frame.lines) - 1))
    room = max(20, width - digits - 3)
    blank = f"{'':>{digits}} |"
    yield [(blank, _GUTTER)]
    for row, line in enumerate(frame.lines, frame.first_row):
        start, end = columns(row, line, span)
        line, start, end = _cut(line, start, end, room)
        yield [(f"{row:>{digits}} | ", _GUTTER), visible(line)]
        if end > start:
            indent = width_of(visible(line[:start]))
            marks = max(1, width_of(visible(line[start:end])))
            yield [(f"{blank} ", _GUTTER), " " * indent, ("^" * marks, style)]
    yield [(blank, _GUTTER)]


def columns(row: int, line: str, span: Span) -> tuple[int, int]:
    """The part of a row that belongs to the span, as offsets."""
    if not span.row <= row <= span.end_row:
        return 0, 0
    start = span.column - 1 if row == span.row else len(line) - len(line.lstrip())
    end = span.end_column - 1 if row == span.end_row else len(line.rstrip())
    if row == span.row:  # a place behind the end of its line is shown as one mark
        start = min(start, len(line))
        end = max(min(end, len(line)), start + 1)
    return start, end


def _cut(line: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    if len(line) <= room:
        return line, start, end
    first = max(0, start - _MARGIN) if end > start and end > room else 0
    head, tail = "..." if first else "", "..." if len(line) - first > room else ""
    kept = line[first : first + room - len(head) - len(tail)]
    shift = first - len(head)
    limit = len(head) + len(kept)
    return head + kept + tail, start - shift, min(end - shift, limit)
