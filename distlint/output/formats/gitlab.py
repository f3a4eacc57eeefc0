"""GitLab's code quality report, which merge requests show beside the changed lines."""

from __future__ import annotations

import json

from distlint.output.formats import Page
from distlint.output.places import file_rows, in_repository, place_name
from distlint.source.finding import Finding, Place, Severity
from distlint.source.identity import fingerprints
from distlint.source.report import Report

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def write(report: Report, page: Page) -> None:
    items = report.listed
    marks = fingerprints(items, in_repository)
    issues = [_issue(item.finding, mark) for item, mark in zip(items, marks, strict=True)]
    page.stream.write(json.dumps(issues, indent=2) + "\n")


def _issue(finding: Finding, fingerprint: str) -> dict[str, object]:
    place = finding.place
    where = f"{place_name(place)}: " if place.cell else ""
    return {
        "check_name": finding.code,
        "description": f"{finding.code} {finding.name}: {where}{finding.title}",
        "fingerprint": fingerprint,
        "location": {"path": in_repository(place.path), **_lines(place)},
        "severity": _SEVERITIES[finding.severity],
    }


def _lines(place: Place) -> dict[str, object]:
    rows = file_rows(place)
    if rows is not None:
        return {"lines": {"begin": rows[0], "end": rows[1]}}
    span = place.span
    begin = {"column": span.column, "line": span.row}
    return {"positions": {"begin": begin, "end": {"column": span.end_column, "line": span.end_row}}}
