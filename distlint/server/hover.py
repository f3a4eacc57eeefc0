"""What is said about the place under the cursor: rules, and which ranks come there."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from distlint.engine.explain import rule_text
from distlint.engine.settings import Resolver, Settings
from distlint.engine.suppression import Suppressions
from distlint.server.open_files import Analysis, OpenFiles
from distlint.server.translate import explanation
from distlint.source.document import Document
from distlint.source.finding import Finding, Span
from distlint.source.nesting import examine
from distlint.source.notebook import Notebook
from distlint.source.trace import Trace

UNFINISHED = "distlint is still analysing this file."

_NAME = re.compile(r"[\w.]+(?=\s*\()")

Tracer = Callable[[str | None], Iterable[Trace]]
"""The traces of a script, or of one of its functions."""


def answer(open_files: OpenFiles, path: Path, version: int, where: tuple[int, int, int]) -> str:
    """Markdown about a place (cell, row and column) in an open file, or nothing.

    Raises:
        Superseded: after an edit.
    """
    analysis = open_files.analysis_of(path, version)
    cell = where[0]
    return text(analysis, *where, lambda function: open_files.traces(analysis, cell, function))


def hints(open_files: OpenFiles, path: Path, version: int, cell: int) -> dict[Span, str]:
    """The collectives that are traced in an open file, or in a cell, and the ranks of each.

    Raises:
        Superseded: after an edit.
    """
    analysis = open_files.analysis_of(path, version)
    return reached(open_files.traces(analysis, cell, None), path, cell)


def so_far(analysis: Analysis, cell: int, row: int, column: int) -> str:
    """Markdown about a place in a file whose analysis is not finished."""
    found = _findings(analysis, cell, row, column)
    return "\n\n---\n\n".join([*map(explanation, found), UNFINISHED])


def text(analysis: Analysis, cell: int, row: int, column: int, traces: Tracer) -> str:
    """Markdown about a place in a file, or in a cell of a notebook, or nothing."""
    document: Document | None = analysis.document
    if isinstance(document, Notebook):
        document = document.program_with(cell)
    if document is None:  # a cell that is no Python
        return ""
    in_text = row + (document.first_row(cell) - 1 if isinstance(document, Notebook) else 0)
    parts = [*_ranks(document, cell, row, column, in_text, traces)]
    codes = []
    for finding in _findings(analysis, cell, row, column):
        parts.append(explanation(finding))
        codes.append(finding.code)
    codes += _commented(document, analysis.settings, in_text, column)
    resolver = analysis.resolver or Resolver()
    for code in dict.fromkeys(codes):
        rule = rule_text(code, resolver)
        if rule is not None:
            parts.append(f"### {rule.name} ({rule.code})\n\n{rule.documentation}")
    return "\n\n---\n\n".join(parts)


def reached(traces: Iterable[Trace], path: Path, cell: int) -> dict[Span, str]:
    """The collectives of a file, or of a cell, that are traced, and which ranks come to each."""
    found: dict[Span, str] = {}
    for trace in traces:
        for cells in trace.rows:
            for place in {cell.place for cell in cells if cell and cell.place}:
                if place.path == path and place.cell == cell:
                    lanes = [
                        lane
                        for lane, cell in zip(trace.lanes, cells, strict=True)
                        if cell and cell.place == place
                    ]
                    found.setdefault(place.span, _who(lanes, trace.lanes))
    return found


def _who(lanes: Sequence[str], every: Sequence[str]) -> str:
    others = ", ".join(lane for lane in every if lane not in lanes)
    return f"{', '.join(lanes)}, not {others}" if others else "all ranks"


def _findings(analysis: Analysis, cell: int, row: int, column: int) -> Iterator[Finding]:
    """Those reported at a place."""
    for item in analysis.reported:
        place = item.finding.place
        is_here = place.path == analysis.document.path and place.cell == cell
        if is_here and _holds(place.span, row, column):
            yield item.finding


def _ranks(
    document: Document, cell: int, row: int, column: int, in_text: int, traces: Tracer
) -> Iterator[str]:
    """Which ranks come to the collective under the cursor, ``in_text`` being its row there."""
    line = document.lines[in_text - 1]
    name = next((m[0] for m in _NAME.finditer(line) if m.start() < column <= m.end() + 1), None)
    if name is None:
        return
    inner = function_at(document.text, in_text)
    for function in (None, inner):
        places = reached(traces(function), document.path, cell)
        spans = [span for span in places if _holds(span, row, column)]
        if spans:
            span = max(spans)
            where = "the script" if function is None else f"`{function}`"
            yield f"`{name}` is reached by **{places[span]}** (trace of {where})"
            return
        if inner is None:
            return


def function_at(text: str, row: int) -> str | None:
    """The function of the module, or the method, that a row lies in."""
    if examine(text).excess is not None:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        for member in members:
            if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if member.lineno <= row <= (member.end_lineno or member.lineno):
                    owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                    return owner + member.name
    return None


def _commented(document: Document, settings: Settings | None, row: int, column: int) -> list[str]:
    """The code in a suppression comment under the cursor."""
    if settings is None:
        return []
    found = Suppressions(document, settings.known)
    return [
        item.code
        for directive in found.directives
        if directive.row == row
        for item in directive.items
        if item.code is not None and item.start <= column <= item.end
    ]


def _holds(span: Span, row: int, column: int) -> bool:
    start, end = (span.row, span.column), (span.end_row, span.end_column)
    return start <= (row, column) < end or start == end == (row, column)
