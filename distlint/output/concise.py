"""Findings on one line each."""

from __future__ import annotations

from distlint.output.full import headline
from distlint.output.style import Printer
from distlint.source.report import Reported


def render(item: Reported, out: Printer) -> None:
    out.line(*headline(item.finding))
