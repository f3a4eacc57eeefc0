"""A finding as it is reported: graded, with its source and what its fix would change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from distlint.engine.settings import Settings
from distlint.source.document import Document
from distlint.source.edits import preview
from distlint.source.finding import Finding, Span
from distlint.source.notebook import Notebook
from distlint.source.report import Frame, Reported

CONTEXT_ROWS = 2

MAX_FRAME_ROWS = 8


def graded(finding: Finding, settings: Settings) -> Finding:
    severity = settings.severities.get(finding.code)
    return finding if severity is None else replace(finding, severity=severity)


def reported(
    finding: Finding, frame: Frame | None, noqa_row: int | None, settings: Settings
) -> Reported:
    fails = finding.severity.weight >= settings.fail_on.weight
    return Reported(finding, frame, noqa_row, fails)


def proposed(finding: Finding, document: Document) -> tuple[str, ...]:
    """What the fix of a finding would change, as the lines of a diff."""
    if finding.fix is None:
        return ()
    if isinstance(document, Notebook):
        return tuple(document.changed_lines(finding.fix.edits, context=1))
    return tuple(preview(document.text, finding.fix.edits, context=1))


def fixable(findings: Iterable[Finding], document: Document) -> list[Finding]:
    """The findings; those in a notebook without the fixes that cannot be made cell by cell."""
    if not isinstance(document, Notebook):
        return list(findings)
    return [
        finding
        if finding.fix is None
        or finding.place.path != document.path
        or document.takes(finding.fix.edits)
        else replace(finding, fix=None)
        for finding in findings
    ]


def in_cell(item: Reported, notebook: Notebook) -> Reported:
    """What is reported, with rows as the cells have them."""
    row = item.noqa_row
    if row is not None and item.finding.place.path == notebook.path:
        row -= notebook.cell_at(row).row - 1
    return replace(item, finding=notebook.located(item.finding), noqa_row=row)


def frame_at(document: Document, span: Span) -> Frame | None:
    if not document.text:
        return None
    first = max(1, span.row - CONTEXT_ROWS)
    last = min(span.end_row, span.row + MAX_FRAME_ROWS - 1) + CONTEXT_ROWS
    if isinstance(document, Notebook):
        return document.frame(span.row, first, last)
    return Frame(first, tuple(document.lines[first - 1 : last]))
