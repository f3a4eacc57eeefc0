"""What tests share: the engine behind one function, and the marks in example scripts."""

from __future__ import annotations

from pathlib import Path

from distlint.analyzer.project import Project
from distlint.engine.check import Session
from distlint.engine.fix import Repairman
from distlint.engine.settings import Overrides, Resolver
from distlint.rules.find import find
from distlint.source.document import Document
from distlint.source.finding import Finding, Fix

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = Path("/nowhere/script.py")


def findings(source: str) -> list[tuple[int, str]]:
    """The (row, code) pairs that ``distlint check`` reports for a script, in order."""
    return sorted((finding.place.span.row, finding.code) for finding in _found(source))


def fixes(source: str) -> list[Fix]:
    """The fixes that the rules offer for a script."""
    return [finding.fix for finding in _found(source) if finding.fix is not None]


def repaired(source: str, *, unsafe: bool = True, preview: bool = False) -> str:
    """The script after all fixes that prove right."""
    resolver = Resolver(Overrides(isolated=True, preview=preview), SCRIPT.parent)
    session, settings = Session(resolver), resolver.of_folder(SCRIPT.parent)
    document = Document.from_bytes(source.encode(), SCRIPT)
    allowed = frozenset({"safe", "unsafe"} if unsafe else {"safe"})
    proposed = session.state_of(document, settings).proposed
    return Repairman(session, settings, allowed).repaired(document, proposed).text


def _found(source: str) -> list[Finding]:
    document = Document.from_bytes(source.encode(), SCRIPT)
    found = find(document, Project(SCRIPT.parent))
    assert not found.problems, found.problems[0].detail
    return found.findings


def about_hangs(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Those findings that belong to the collectives: family DST1xx and the sharded save."""
    return [(row, code) for row, code in found if code.startswith("DST1") or code == "DST407"]
