"""Whether a text is Python, asked in the cheapest way that gives the right answer.

The parser of the running interpreter is ten times as fast as libcst and words its mistakes better;
libcst knows newer grammars. A text is wrong when both say so.
"""

from __future__ import annotations

import ast

from distlint.source.document import Document, DocumentError
from distlint.source.nesting import too_deep


def mistake(document: Document) -> DocumentError | None:
    """Why a document that needs no analysis is no Python, or None."""
    found = _refusal(document)
    if found is None or too_deep(document.text):
        return None
    from distlint.analyzer.lower import ParseError, parse

    try:
        parse(document.text)
    except ParseError:
        return found
    return None


def explain(document: Document, message: str, row: int, column: int) -> DocumentError:
    """The best description of a mistake that libcst found."""
    return _refusal(document) or DocumentError(message, *_inside(document, row, column))


def _refusal(document: Document) -> DocumentError | None:
    """What the running interpreter says against the text."""
    try:
        compile(document.text, "<text>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        place = _inside(document, error.lineno or 1, error.offset or 1)
        return DocumentError(error.msg or "invalid syntax", *place)
    except (ValueError, MemoryError, RecursionError):
        return None
    return None


def _inside(document: Document, row: int, column: int) -> tuple[int, int]:
    """The place, moved back into the text when it lies behind its end."""
    row = min(max(row, 1), len(document.lines))
    return row, min(max(column, 1), len(document.lines[row - 1]) + 1)
