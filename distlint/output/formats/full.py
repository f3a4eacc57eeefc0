"""Findings with their source and the whole story: who does what, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from distlint.output import summary
from distlint.output.diff import numbered
from distlint.output.formats import Page
from distlint.output.frame import framed
from distlint.output.headline import STYLES, headline
from distlint.output.style import Printer, printer
from distlint.output.table import INDENT, Row, decision_rows, once, table, where
from distlint.source.finding import Explanation, Finding, Place
from distlint.source.report import Report, Reported


def write(report: Report, page: Page) -> None:
    out = printer(page.stream, color=page.color)
    for item in report.reported:
        render(item, out, page.width)
    summary.close(report, out, page)


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
