"""The one place where the benchmarks meet the analyser.

Everything else under ``benchmarks`` knows nothing of distlint, so that the evidence stays
independent of the thing it judges.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from distlint.analyzer.project.project import Project
from distlint.rules.find import find
from distlint.source.document import Document

SCRIPT = Path("/nowhere/script.py")
ABOUT_RESULTS = frozenset({"DST107", "DST118", "DST119"})
"""Rules about names and results, which no ranks need to part for."""

Verdict = Literal["divergent", "aligned", "over-budget"]


def verdict(source: str) -> Verdict:
    """Say what distlint says of a script: ranks that part make it divergent.

    Of one that is over budget it says nothing as a whole: its functions are looked at by themselves
    then, as if anybody could call them.
    """
    document = Document.from_bytes(source.encode(), SCRIPT)
    found = find(document, Project(SCRIPT.parent))
    assert not found.problems, found.problems[0].detail
    if found.over_budget:
        return "over-budget"
    return "divergent" if any(_parts(each.code) for each in found.findings) else "aligned"


def _parts(code: str) -> bool:
    """Is it a rule about ranks that do different things?"""
    return code == "DST407" or (code.startswith("DST1") and code not in ABOUT_RESULTS)


def codes(source: str) -> list[tuple[int, str]]:
    """Give the row and code of each finding in a script.

    Raises:
        ParseError: if it is no Python.
    """
    document = Document.from_bytes(source.encode(), SCRIPT)
    found = find(document, Project(SCRIPT.parent)).findings
    return [(finding.place.span.row, finding.code) for finding in found]
