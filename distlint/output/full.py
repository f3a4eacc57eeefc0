"""Findings with their source and the whole story: who does what, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from distlint.output.diff import numbered
from distlint.output.frame import framed
from distlint.output.style import Part, Printer, visible
from distlint.output.table import DIM, INDENT, LABEL, Row, decision_rows, once, table, where
from distlint.source.finding import Explanation, Finding, Place, Severity
from distlint.source.paths import display
from distlint.source.report import Reported

STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFO: "bold cyan",
}


def render(item: Reported, out: Printer, width: int) -> None:
    """One finding: headline, source, explanation."""
    finding = item.finding
    style = STYLES[finding.severity]
    out.line(*headline(finding))
    if item.frame is not None:
        for parts in framed(item.frame, finding.place.span, style, width):
            out.line(INDENT, *parts)
    for parts in table(list(_rows(finding)), width):
        out.line(*parts)
    for parts in numbered(item.proposed):
        out.line(INDENT, *parts)
    out.line()


def headline(finding: Finding) -> list[Part]:
    """``path:row:column: severity[code] name: message``."""
    place = finding.place
    return [
        (display(place.path), "bold"),
        (f":{place.span.row}:{place.span.column}: ", DIM),
        (f"{finding.severity.value}[{finding.code}]", STYLES[finding.severity]),
        (f" {finding.name}: ", LABEL),
        visible(" ".join(finding.message.split())),
    ]


def _rows(finding: Finding) -> Iterator[Row]:
    shown: set[Place | None] = {finding.place}
    path = finding.place.path
    if finding.explanation is not None:
        yield from _explained(finding.explanation, path, shown)
    rest = [related for related in finding.related if related.place not in shown]
    for label, related in zip(once("see also", len(rest)), rest, strict=True):
        yield Row(label, related.message, where(related.place, path))
    if finding.explanation is not None:
        yield Row("effect", finding.explanation.effect)
        yield Row("advice", finding.explanation.advice)
    if finding.fix is not None:
        unsafe = {"safe": "", "unsafe": " (unsafe)", "displayonly": " (not applied)"}
        yield Row("fix", finding.fix.message + unsafe[finding.fix.applicability])


def _explained(explanation: Explanation, path: Path, shown: set[Place | None]) -> Iterator[Row]:
    steps = []
    if explanation.common is not None:
        steps.append(("last in common", explanation.common))
    for lane in explanation.lanes:
        steps += zip(once(lane.ranks, len(lane.steps)), lane.steps, strict=True)
    for label, step in steps:
        yield Row(label, step.text, where(step.place, path))
    yield from decision_rows(explanation.decisions, path)
    shown.update(step.place for _, step in steps)
    shown.update(decision.place for decision in explanation.decisions)
