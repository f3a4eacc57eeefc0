"""Whether a text is Python, asked in the cheapest way that gives the right answer.

The parser of the running interpreter is ten times as fast as libcst and words its mistakes better;
libcst knows newer grammars. A text is wrong when both say so.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distlint.source.document import Document, DocumentError
from distlint.source.nesting import examine

if TYPE_CHECKING:
    from distlint.analyzer.ir.errors import ParseError

HARMLESS = 20_000
"""Characters in which there is nothing that the interpreter's parser needs much memory for."""


def mistake(document: Document) -> DocumentError | None:
    """Why a document that needs no analysis is no Python, or None."""
    if len(document.text) > HARMLESS and examine(document.text).excess is not None:
        return None
    found = _refusal(document)
    if found is None:
        return None
    from distlint.analyzer.ir.errors import ParseError, TooDeep
    from distlint.analyzer.ir.lower import parse

    try:
        parse(document.text)
    except TooDeep:
        return None
    except ParseError:
        return found
    return None


def explain(document: Document, error: ParseError) -> DocumentError:
    """The best description of a mistake that libcst found, or of what was kept from it."""
    from distlint.analyzer.ir.errors import TooDeep

    found = None if isinstance(error, TooDeep) else _refusal(document)
    place = _inside(document, error.row, error.column)
    return found or DocumentError(error.message, *place)


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
