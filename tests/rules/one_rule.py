"""One rule on one text, without comparing ranks."""

from __future__ import annotations

from pathlib import Path

from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.project.project import Project
from distlint.rules.base import SettingsRule, SourceRule
from distlint.rules.registry import rules
from distlint.rules.settings import Page
from distlint.source.document import Document
from distlint.source.finding import Finding
from distlint.source.settings.sheet import read
from tests.support import SCRIPT


def asked(source: str, code: str, path: Path = SCRIPT) -> list[Finding]:
    """What one rule finds in a text, in order."""
    rule = rules()[code]()
    document = Document.from_bytes(source.encode(), path)
    if isinstance(rule, SettingsRule):
        sheet = read(document)
        assert sheet is not None
        return sorted(rule.check(Page(sheet)), key=lambda finding: finding.sort_key)
    assert isinstance(rule, SourceRule)
    project = Project(path.parent)
    module = project.add(document)
    locators = Locators()
    locators.add(document)
    catalogue = project.catalogue(module.imported_roots)
    found = rule.check(document, module, catalogue, locators)
    return sorted(found, key=lambda finding: finding.sort_key)


def reported(source: str, code: str, path: Path = SCRIPT) -> list[tuple[int, str]]:
    """The (row, code) pairs that one rule reports for a text, in order."""
    return [(finding.place.span.row, finding.code) for finding in asked(source, code, path)]
