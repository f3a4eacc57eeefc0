"""What tests share: the engine behind one function, and the marks in example scripts."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from distlint.analyzer.project.project import Project
from distlint.engine.check import Session
from distlint.engine.fix import Repairman
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver
from distlint.engine.trial import unmarked
from distlint.rules.find import find
from distlint.rules.registry import rules
from distlint.rules.settings import find_in
from distlint.source.document import Document
from distlint.source.finding import Finding, Fix
from distlint.source.scan import kind
from distlint.source.settings.sheet import read

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = Path("/nowhere/script.py")


class Lazy:
    """A module that is imported when a test first uses it, so that collection stays fast."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest asks all that a module holds for marks
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def findings(
    source: str, file: str = SCRIPT.name, *, preview: bool = True
) -> list[tuple[int, str]]:
    """The (row, code) pairs that ``distlint check`` reports for a text, in order."""
    return sorted(
        (finding.place.span.row, finding.code)
        for finding in found_in(source, file)
        if preview or not (finding.preview or rules()[finding.code].preview)
    )


def fixes(source: str, file: str = SCRIPT.name, *, code: str = "DST") -> list[Fix]:
    """The fixes that the rules offer for a text, or those of one rule."""
    return [
        finding.fix
        for finding in found_in(source, file)
        if finding.fix is not None and finding.code.startswith(code)
    ]


def repaired(
    source: str,
    file: str = SCRIPT.name,
    *,
    unsafe: bool = True,
    preview: bool = False,
    only: str | None = None,
) -> str:
    """The text after all fixes that prove right, or those of one rule."""
    layer = Layer(select=(only,)) if only is not None else Layer()
    resolver = Resolver(Overrides(layer, isolated=True, preview=preview), SCRIPT.parent)
    session, settings = Session(resolver), resolver.of_folder(SCRIPT.parent)
    document = Document.from_bytes(source.encode(), SCRIPT.with_name(file))
    allowed = frozenset({"safe", "unsafe"} if unsafe else {"safe"})
    proposed = session.state_of(document, settings).proposed
    return Repairman(session, settings, allowed).repaired(document, proposed).text


def found_in(source: str, file: str = SCRIPT.name) -> list[Finding]:
    """The findings in a text under a name, which says what kind of document it is."""
    document = Document.from_bytes(unmarked(source, file).encode(), SCRIPT.with_name(file))
    sheet = read(document)
    found = [find_in(sheet, {}, ())] if sheet is not None else []
    if kind(document) == "python":
        found.append(find(document, Project(SCRIPT.parent)))
    for each in found:
        assert not each.problems, each.problems[0].detail
    every = [finding for each in found for finding in each.findings]
    return sorted(every, key=lambda each: each.sort_key)


def about_hangs(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Those findings that belong to the collectives: family DST1xx and the sharded save."""
    return [(row, code) for row, code in found if code.startswith("DST1") or code == "DST407"]


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
