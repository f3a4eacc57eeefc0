"""Reviewdog's diagnostic format."""

from __future__ import annotations

import json

from distlint.output.formats import Page
from distlint.output.places import file_rows, filename, place_name, source_lines
from distlint.source.finding import Finding, Place, Severity
from distlint.source.report import Report

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def write(report: Report, page: Page) -> None:
    document = {
        "source": {"name": "distlint"},
        "severity": "WARNING",
        "diagnostics": [_diagnostic(item.finding) for item in report.listed],
    }
    page.stream.write(json.dumps(document, indent=2) + "\n")


def _diagnostic(finding: Finding) -> dict[str, object]:
    where = f"{place_name(finding.place)}: " if finding.place.cell else ""
    diagnostic: dict[str, object] = {
        "code": {"value": finding.code},
        "location": _location(finding.place),
        "message": f"{finding.name}: {where}{finding.title}",
        "severity": _SEVERITIES[finding.severity],
    }
    path = finding.place.path
    if finding.fix is not None and not finding.place.cell:  # which would be put into the JSON
        diagnostic["suggestions"] = [
            {"range": _range(Place(path, edit.span)), "text": edit.content}
            for edit in finding.fix.edits
        ]
    if finding.related:
        diagnostic["relatedLocations"] = [
            {"location": _location(related.place), "message": related.message}
            for related in finding.related
        ]
    return diagnostic


def _location(place: Place) -> dict[str, object]:
    return {"path": filename(place.path), "range": _range(place)}


def _range(place: Place) -> dict[str, object]:
    span = place.span
    rows = file_rows(place)
    if rows is not None:
        return {"end": {"line": rows[1]}, "start": {"line": rows[0]}}
    return {
        "end": {"column": _bytes(place, span.end_row, span.end_column), "line": span.end_row},
        "start": {"column": _bytes(place, span.row, span.column), "line": span.row},
    }


def _bytes(place: Place, row: int, column: int) -> int:
    """The column counted in bytes of UTF-8, as reviewdog has it."""
    lines = source_lines(place.path)
    if row > len(lines):
        return column
    before = lines[row - 1][: column - 1]
    return column - len(before) + len(before.encode("utf-8", "surrogatepass"))
