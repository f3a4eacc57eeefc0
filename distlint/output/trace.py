"""The collectives of each group of ranks side by side, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from distlint.output.places import filename, location
from distlint.output.style import Part, Printer, can_encode, visible, width_of, wrapped
from distlint.output.table import DIM, INDENT, LABEL, Row, decision_rows, table, where
from distlint.source.finding import Decision, Place, Step
from distlint.source.paths import display
from distlint.source.trace import Trace

_GAP = 3
_MIN_LANE = 26
_MIN_TEXT = 12
_DIVERGENCE = "bold red"


def render(trace: Trace, out: Printer, width: int) -> None:
    """One entry point: its name, a column for each group of ranks, and why they diverge."""
    out.line(*_headline(trace))
    out.line()
    lane = (width - len(INDENT) + _GAP) // max(1, len(trace.lanes)) - _GAP
    lines = _columns(trace, lane, out) if lane >= _MIN_LANE else _blocks(trace, width)
    for parts in lines:
        out.line(INDENT, *parts)
    rows = list(decision_rows(trace.decisions, trace.path))
    if trace.effect:
        rows.append(Row("effect", trace.effect))
    if not trace.complete:
        reasons = "; ".join(reason.text for reason in trace.incomplete)
        rows.append(Row("note", f"the analysis is incomplete: {reasons}"))
    if rows:
        out.line()
    for parts in table(rows, width):
        out.line(*parts)
    out.line()


def render_json(traces: Iterable[Trace]) -> str:
    return json.dumps([_trace(trace) for trace in traces], indent=2)


def _headline(trace: Trace) -> list[Part]:
    what = f"::{trace.function}" if trace.function else ""
    verdict: Part = ("all ranks issue the same collectives", "green")
    if not trace.aligned:
        verdict = ("ranks diverge", _DIVERGENCE)
    return [(f"{display(trace.path)}{visible(what)}", LABEL), ": ", verdict]


def _columns(trace: Trace, lane: int, out: Printer) -> Iterator[list[Part]]:
    dash, cross = ("\N{BOX DRAWINGS LIGHT HORIZONTAL}", "\N{MULTIPLICATION X}")
    if not can_encode(dash + cross, out.encoding):
        dash, cross = "-", "x"
    yield [(_joined(trace.lanes, lane), LABEL)]
    yield [(_joined([dash * lane for _ in trace.lanes], lane), DIM)]
    for row, count, divergence in folded(trace):
        if divergence:
            total = lane * len(row) + _GAP * (len(row) - 1)
            yield [(f"{cross} divergence ".ljust(total, dash), _DIVERGENCE)]
        cells = [_cell(step, trace, lane, count) for step in row]
        for index in range(max(map(len, cells), default=0)):
            texts = [cell[index] if index < len(cell) else "" for cell in cells]
            yield [(_joined(texts, lane), _DIVERGENCE if divergence else "")]


def _blocks(trace: Trace, width: int) -> Iterator[list[Part]]:
    """One group of ranks below the other, where columns would be too narrow."""
    for index, name in enumerate(trace.lanes):
        yield [(name, LABEL)]
        for row, count, divergence in folded(trace):
            mark = "x " if divergence else "  "
            for line in _cell(row[index], trace, width - 4, count):
                yield [mark, line]


def folded(trace: Trace) -> Iterator[tuple[tuple[Step | None, ...], int, bool]]:
    """The rows, how often each is repeated at once, and whether the ranks diverge in it."""
    rows = [(row, number == trace.divergence) for number, row in enumerate(trace.rows)]
    for (row, divergence), same in groupby(rows):
        yield row, len(list(same)), divergence


def _cell(step: Step | None, trace: Trace, lane: int, count: int) -> list[str]:
    if step is None:
        return [""]
    place = where(step.place, trace.path)
    text = visible(step.text) + (f" x{count}" if count > 1 else "")
    room = lane - width_of(place) - 2 if place else lane
    if room < _MIN_TEXT:
        return [*_code_lines(text, lane), place.rjust(lane)]
    first, *rest = _code_lines(text, room)
    gap = max(2, lane - width_of(first) - width_of(place)) if place else 0
    return [f"{first}{' ' * gap}{place}", *rest]


def _code_lines(text: str, width: int) -> list[str]:
    """Code on lines of at most ``width`` columns: broken between words, or after a bracket."""
    lines = []
    for line in wrapped(text, width):
        while width_of(line) > width:
            at = line.rfind("(", 0, width) + 1 or width
            lines.append(line[:at])
            line = line[at:]
        lines.append(line)
    return lines


def _joined(texts: Sequence[str], lane: int) -> str:
    gap = " " * _GAP
    return gap.join(text + " " * (lane - width_of(text)) for text in texts)


def _trace(trace: Trace) -> dict[str, object]:
    return {
        "aligned": trace.aligned,
        "complete": trace.complete,
        "decisions": [_decision(decision) for decision in trace.decisions],
        "effect": trace.effect or None,
        "filename": filename(trace.path),
        "function": trace.function,
        "incomplete": [
            {"message": reason.text, "reason": reason.value} for reason in trace.incomplete
        ],
        "divergence": trace.divergence,
        "ranks": list(trace.lanes),
        "rows": [[_step(step) for step in row] for row in trace.rows],
    }


def _step(step: Step | None) -> dict[str, object] | None:
    return None if step is None else {"text": step.text, **_place(step.place)}


def _decision(decision: Decision) -> dict[str, object]:
    return {
        "kind": decision.kind,
        "outcome": decision.outcome,
        "text": decision.text,
        **_place(decision.place),
    }


def _place(place: Place | None) -> dict[str, object]:
    if place is None:
        return {"filename": None, "location": None}
    span = place.span
    cell = {"cell": place.cell} if place.cell else {}
    return {**cell, "filename": filename(place.path), "location": location(span.row, span.column)}
