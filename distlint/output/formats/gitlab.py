"""GitLab's code quality report, which merge requests show beside the changed lines."""

from __future__ import annotations

import json

from distlint.output.formats import Page
from distlint.output.places import in_repository
from distlint.source.finding import Finding, Severity
from distlint.source.identity import fingerprints
from distlint.source.report import Report

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def write(report: Report, page: Page) -> None:
    marks = fingerprints(report.reported, in_repository)
    issues = [_issue(*each) for each in zip(report.findings, marks, strict=True)]
    page.stream.write(json.dumps(issues, indent=2) + "\n")


def _issue(finding: Finding, fingerprint: str) -> dict[str, object]:
    span = finding.place.span
    return {
        "check_name": finding.code,
        "description": f"{finding.code} {finding.name}: {finding.message}",
        "fingerprint": fingerprint,
        "location": {
            "path": in_repository(finding.place.path),
            "positions": {
                "begin": {"column": span.column, "line": span.row},
                "end": {"column": span.end_column, "line": span.end_row},
            },
        },
        "severity": _SEVERITIES[finding.severity],
    }
