"""The text that fixes make of a document, read back as it would be from the file."""

from __future__ import annotations

from collections.abc import Sequence

from distlint.engine import documents
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Edit
from distlint.source.notebook import Notebook


def rewritten(document: Document, text: str, edits: Sequence[Edit]) -> Document | None:
    """The document with another text, if it reads back as such.

    Raises:
        NotInCells: if the edits of a notebook do not keep to its cells.
        UnicodeEncodeError: if the text cannot be written in the encoding of the file.
    """
    try:
        if isinstance(document, Notebook):
            return _same(documents.screened(document.edited(edits)), document, text)
        data = document.encode(text)
        found = Document.from_bytes(data, document.path)
    except DocumentError:
        return None
    return found if found.text == text and found.encoding == document.encoding else None


def _same(found: Notebook, before: Notebook, text: str) -> Notebook | None:
    """The notebook, if its program is the expected one and no cell is broken that was not."""
    problems = [
        [cell.number for cell in each.cells if cell.problem is not None] for each in (found, before)
    ]
    return found if found.text == text and problems[0] == problems[1] else None


def compiles(text: str) -> bool:
    """Does the running interpreter take the text, ``nonlocal`` and ``break`` included?"""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<text>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
