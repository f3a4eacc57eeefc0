"""Everything that a run found out, for ``distlint merge``."""

from __future__ import annotations

from distlint.output.formats import Page
from distlint.output.places import repository
from distlint.source.exchange import dumps
from distlint.source.report import Report


def write(report: Report, page: Page) -> None:
    page.stream.write(dumps(report, repository()) + "\n")
