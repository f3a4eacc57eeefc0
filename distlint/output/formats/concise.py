"""Findings on one line each."""

from __future__ import annotations

from distlint.output import summary
from distlint.output.formats import Page
from distlint.output.headline import headline
from distlint.output.style import Printer, printer
from distlint.source.report import Report, Reported


def write(report: Report, page: Page) -> None:
    out = printer(page.stream, color=page.color)
    for item in report.reported:
        render(item, out)
    summary.close(report, out, page)


def render(item: Reported, out: Printer) -> None:
    out.line(*headline(item.finding))
