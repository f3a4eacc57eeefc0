"""What each group of ranks does, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from distlint.analyzer.project import Project
from distlint.source.document import Document
from distlint.source.trace import Trace


def trace(
    document: Document, project: Project, function: str | None, ranks: Sequence[int] | None
) -> list[Trace]:
    """The traces of a module's entry points, or of one function.

    Raises:
        ParseError: if the document is no Python.
        LookupError: if it has no such function, or the cluster no such rank.
    """
    raise NotImplementedError
