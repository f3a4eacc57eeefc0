"""An analysis that can be told what to find, so that these tests are about the engine."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.engine import active_rules, workers
from distlint.rules import find as find_module
from distlint.rules.found import Found
from distlint.rules.table import RESERVED
from distlint.source.document import Document
from distlint.source.finding import Finding, Meeting, Place, Related, Severity, Span

MARK = "BUG"
RELATED = "RELATED"


def finding(
    path: Path, row: int = 1, code: str = "DST101", severity: Severity = Severity.ERROR
) -> Finding:
    place = Place(path, Span(row, 1, row, 4))
    return Finding(code, RESERVED[code], f"found in row {row}", severity, place)


def marked(document: Document, project: Project) -> Found:
    """DST101 on each line with BUG (DST102 with BUG2), related to the lines with RELATED."""
    rows = range(1, len(document.lines) + 1)
    related = tuple(
        Related("there", Place(document.path, Span(row, 1, row, 2)))
        for row in rows
        if RELATED in document.lines[row - 1]
    )
    found = []
    for row in rows:
        if MARK in document.lines[row - 1]:
            code = "DST102" if "BUG2" in document.lines[row - 1] else "DST101"
            plain = finding(document.path, row, code)
            found.append(
                Finding(plain.code, plain.name, plain.message, plain.severity, plain.place, related)
            )
    return Found(findings=found)


@pytest.fixture
def analysis(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Found]], None]:
    """Replaces the analysis; without a call, lines that hold ``BUG`` are the bugs."""

    def use(find: Callable[..., Found]) -> None:
        class Search:
            compared = Found()

            def __init__(self, document: Document, project: Project, *_: object, **__: object):
                self.document, self.project = document, project

            def found(self, compared: Found | None = None) -> Found:
                return find(self.document, self.project)

            def meetings(self) -> list[Meeting]:
                return []

        monkeypatch.setattr(find_module, "Search", Search)
        monkeypatch.setattr(active_rules, "worth_analysing", lambda data: True)
        # a thread of another test may still run, and workers that begin anew would not inherit this
        monkeypatch.setattr(workers, "_context", lambda: get_context("fork"))

    use(marked)
    return use


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the working folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
