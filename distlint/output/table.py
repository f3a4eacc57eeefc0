"""Rows of a label, a text and a place, in columns that fit the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from distlint.output.style import Part, visible, width_of, wrapped
from distlint.source.finding import Decision, Place
from distlint.source.paths import display

INDENT = "  "
LABEL = "bold"
DIM = "dim"

_GAP = 2
_MAX_LABEL = 28
_MIN_TEXT = 20


@dataclass(frozen=True, slots=True)
class Row:
    """A line of an explanation: what it is about, the text, where."""

    label: str
    text: str
    where: str = ""
    style: str = ""


def table(rows: Sequence[Row], width: int) -> Iterator[list[Part]]:
    """The rows as lines; text wraps in its column, or runs on where nothing stands at its right."""
    if not rows:
        return
    labels = min(max(width_of(row.label) for row in rows), _MAX_LABEL) + _GAP
    full = max(_MIN_TEXT, width - len(INDENT) - labels)
    wheres = max(width_of(row.where) for row in rows)
    located = max((width_of(visible(row.text)) for row in rows if row.where), default=0)
    texts = max(_MIN_TEXT, min(located, full - wheres - _GAP))
    for row in rows:
        label = row.label
        if width_of(label) > _MAX_LABEL:
            yield [INDENT, (label, LABEL)]
            label = ""
        text = visible(row.text)
        indent = " " * (len(text) - len(text.lstrip()))
        room = texts if row.where else full - len(indent)
        place = row.where
        for line in wrapped(text, room):
            left = (label + _pad(label, labels), LABEL)
            gap = max(_GAP, texts + _GAP - width_of(line))  # a word that is too long stays whole
            right = f"{' ' * gap}{place}" if place else ""
            yield [INDENT, left, (indent + line, row.style), (right, DIM)]
            label = place = ""


def decision_rows(decisions: Sequence[Decision], path: Path) -> Iterator[Row]:
    """The conditions that separated the ranks, and what each group made of them."""
    for label, decision in zip(once("diverges at", len(decisions)), decisions, strict=True):
        yield Row(label, decision.text, where(decision.place, path))
        yield Row("", f"  {decision.outcome} [{decision.kind}]", style=DIM)


def once(label: str, count: int) -> list[str]:
    """The label for the first of several rows."""
    return [label, *([""] * (count - 1))][:count]


def where(place: Place | None, path: Path) -> str:
    """A place, as short as it can be said in a report about ``path``."""
    if place is None:
        return ""
    row = place.span.row
    if place.path == path:
        return f"cell {place.cell}, line {row}" if place.cell else f"line {row}"
    return f"{display(place.path)}{f':cell {place.cell}' if place.cell else ''}:{row}"


def _pad(text: str, width: int) -> str:
    return " " * (width - width_of(text))
