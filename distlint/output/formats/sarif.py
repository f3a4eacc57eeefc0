"""SARIF 2.1.0 for code scanning; each group of ranks is a thread of the flow to a finding."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from distlint import __version__
from distlint.output.formats import Page
from distlint.output.places import file_rows, in_repository, place_name, repository
from distlint.source.finding import Explanation, Finding, Fix, Place, Severity, Step
from distlint.source.identity import fingerprints
from distlint.source.paths import STDIN
from distlint.source.report import Notice, Report, Reported, RuleText

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_NOTICES = {"failed": "error", "warning": "warning", "skipped": "note", "nothing": "note"}

Json = dict[str, object]


def write(report: Report, page: Page) -> None:
    findings = [item.finding for item in report.listed]
    codes = sorted({finding.code: finding.name for finding in findings}.items())
    index = {code: number for number, (code, _) in enumerate(codes)}
    rules = [_rule(page.explain(code) or RuleText(code, name, name, name)) for code, name in codes]
    marks = fingerprints(report.listed, in_repository)
    results = [
        _result(item, index[item.finding.code], mark)
        for item, mark in zip(report.listed, marks, strict=True)
    ]
    run = {
        "tool": {
            "driver": {
                "name": "distlint",
                "rules": rules,
                "semanticVersion": __version__,
                "version": __version__,
            }
        },
        "invocations": [
            {
                "executionSuccessful": not report.failed,
                "toolExecutionNotifications": [_notice(notice) for notice in report.notices],
            }
        ],
        "originalUriBaseIds": {_ROOT: {"uri": f"{_uri(repository())}/"}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    page.stream.write(json.dumps(document, indent=2) + "\n")


def _rule(text: RuleText) -> Json:
    return {
        "id": text.code,
        "name": text.name,
        "shortDescription": {"text": text.summary},
        "fullDescription": {"text": text.summary},
        "help": {"text": text.documentation, "markdown": text.documentation},
        "properties": {"tags": ["distributed training"]},
    }


def _result(item: Reported, index: int, fingerprint: str) -> Json:
    finding = item.finding
    result: Json = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [_location(finding.place)],
        "partialFingerprints": {"distlint/v1": fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [
            {**_location(related.place, related.message), "id": number}
            for number, related in enumerate(finding.related)
        ]
    if finding.explanation is not None and finding.explanation.lanes:
        result["codeFlows"] = [_flow(finding.explanation, finding)]
    if finding.confirmation is not None:
        confirmation = finding.confirmation
        result["properties"] = {
            "confirmation": {"verdict": confirmation.verdict, "reason": confirmation.reason}
        }
    if finding.fix is not None and not finding.place.cell:  # which would be put into the JSON
        result["fixes"] = [_fix(finding.fix, finding.place.path)]
    return result


def _message(finding: Finding) -> str:
    where = f"{place_name(finding.place)}: " if finding.place.cell else ""
    parts = [where + finding.title]
    if finding.explanation is not None:
        parts += [finding.explanation.effect, finding.explanation.help]
    return "\n\n".join(part for part in parts if part)


def _flow(explanation: Explanation, finding: Finding) -> Json:
    """A thread for each group of ranks: what all had in common, the decisions, what it does."""
    return {
        "message": {"text": explanation.effect or finding.message},
        "threadFlows": [
            {
                "id": lane.ranks,
                "message": {"text": lane.ranks},
                "locations": list(_thread(explanation, lane.steps, finding.place)),
            }
            for lane in explanation.lanes
        ],
    }


def _thread(explanation: Explanation, steps: Iterable[Step], otherwise: Place) -> Iterator[Json]:
    if explanation.common is not None:
        yield _visited(f"all ranks: {explanation.common.text}", explanation.common.place, otherwise)
    for decision in explanation.decisions:
        text = f"{decision.text} ({decision.outcome})"
        yield {**_visited(text, decision.place, otherwise), "kinds": ["branch"]}
    for step in steps:
        yield {**_visited(step.text, step.place, otherwise), "importance": "essential"}


def _visited(text: str, place: Place | None, otherwise: Place) -> Json:
    return {"location": _location(place or otherwise, text)}


def _fix(fix: Fix, path: Path) -> Json:
    replacements = [
        {
            "deletedRegion": _region(Place(path, edit.span)),
            "insertedContent": {"text": edit.content},
        }
        for edit in fix.edits
    ]
    change = {"artifactLocation": _artifact(path), "replacements": replacements}
    return {
        "description": {"text": f"{fix.message} ({fix.applicability})"},
        "artifactChanges": [change],
    }


def _notice(notice: Notice) -> Json:
    found: Json = {"level": _NOTICES[notice.kind], "message": {"text": notice.message}}
    if notice.path is not None:
        found["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(notice.path)}}]
    return found


def _location(place: Place, message: str = "") -> Json:
    physical = {"artifactLocation": _artifact(place.path), "region": _region(place)}
    location: Json = {"physicalLocation": physical}
    if message:
        location["message"] = {"text": message}
    return location


def _region(place: Place) -> Json:
    span = place.span
    rows = file_rows(place)
    if rows is not None:
        return {"startLine": rows[0], "endLine": rows[1]}
    return {
        "startLine": span.row,
        "startColumn": span.column,
        "endLine": span.end_row,
        "endColumn": span.end_column,
    }


def _artifact(path: Path) -> Json:
    if path == STDIN:
        return {"uri": "stdin"}
    absolute = Path(os.path.abspath(path))
    root = repository()
    if root in absolute.parents:
        return {"uri": quote(os.fsencode(absolute.relative_to(root))), "uriBaseId": _ROOT}
    return {"uri": _uri(absolute)}


def _uri(path: Path) -> str:
    return "file://" + quote(os.fsencode(path))
