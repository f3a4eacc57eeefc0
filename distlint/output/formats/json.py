"""Findings as a JSON array in the shape that ruff's consumers read."""

from __future__ import annotations

import json
from collections.abc import Iterable

from distlint.output.formats import Page
from distlint.output.places import filename, location
from distlint.source.finding import Confirmation, Edit, Fix, Related
from distlint.source.report import Report, Reported


def write(report: Report, page: Page) -> None:
    page.stream.write(render(report.listed) + "\n")


def render(items: Iterable[Reported]) -> str:
    return json.dumps([_finding(item) for item in items], indent=2)


def _finding(item: Reported) -> dict[str, object]:
    finding = item.finding
    span = finding.place.span
    return {
        "cell": finding.place.cell or None,
        "code": finding.code,
        "confirmation": _confirmation(finding.confirmation),
        "end_location": location(span.end_row, span.end_column),
        "filename": filename(finding.place.path),
        "fix": _fix(finding.fix),
        "location": location(span.row, span.column),
        "message": finding.message,
        "name": finding.name,
        "noqa_row": item.noqa_row,
        "related": [_related(related) for related in finding.related],
        "severity": finding.severity.value,
        "url": None,
    }


def _confirmation(found: Confirmation | None) -> dict[str, str] | None:
    return None if found is None else {"reason": found.reason, "verdict": found.verdict}


def _fix(fix: Fix | None) -> dict[str, object] | None:
    if fix is None:
        return None
    edits = [_edit(edit) for edit in fix.edits]
    return {"applicability": fix.applicability, "edits": edits, "message": fix.message}


def _edit(edit: Edit) -> dict[str, object]:
    span = edit.span
    return {
        **({"cell": edit.cell} if edit.cell else {}),
        "content": edit.content,
        "end_location": location(span.end_row, span.end_column),
        "location": location(span.row, span.column),
    }


def _related(related: Related) -> dict[str, object]:
    span = related.place.span
    return {
        **({"cell": related.place.cell} if related.place.cell else {}),
        "filename": filename(related.place.path),
        "location": location(span.row, span.column),
        "message": related.message,
    }
