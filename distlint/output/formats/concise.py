"""Findings on one line each."""

from __future__ import annotations

from distlint.output import headline, summary
from distlint.output.formats import Page
from distlint.output.style import Printer, printer
from distlint.source.report import Report, Reported


def write(report: Report, page: Page) -> None:
    out = printer(page.stream, color=page.color)
    for item in report.reported:
        render(item, out, unsafe=page.unsafe, tried=page.tried)
    summary.close(report, out, page)


def render(item: Reported, out: Printer, *, unsafe: bool = False, tried: bool = False) -> None:
    out.line(*headline.line(item.finding, unsafe=unsafe, tried=tried))
