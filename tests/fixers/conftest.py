"""Texts with drafts over them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import libcst as cst
import pytest

from distlint.analyzer.ir.positions import Locator
from distlint.analyzer.project.project import Project
from distlint.fixers.draft import Draft
from distlint.fixers.statements import Statement
from distlint.source.document import Document
from distlint.source.edits import apply

Edited = Callable[..., str]


class Bench(Draft):
    """A draft that finds what a test speaks of by its text."""

    def find(self, text: str) -> Statement:
        """The outermost statement whose source is (or begins with) a text."""
        found = [
            node
            for node in self._layout.parents
            if isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement))
            and self.text(node).startswith(text)
        ]
        assert found, f"no statement {text!r}"
        return min(found, key=lambda node: self.bounds(node)[0])

    def call(self, text: str) -> cst.Call:
        return next(
            node
            for node in self._layout.parents
            if isinstance(node, cst.Call) and self.text(node.func) == text
        )

    def result(self) -> str:
        return apply(self.source, self.fix("safe", "Test").edits)


@pytest.fixture
def bench() -> Callable[[str], Bench]:
    def made(text: str) -> Bench:
        document = Document.from_bytes(text.encode(), Path("/nowhere/script.py"))
        project = Project(Path("/nowhere"))
        module = project.add(document)
        return Bench(Locator(document), module, project.catalogue_of(module))

    return made
