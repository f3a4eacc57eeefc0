"""What of the source a line of a script stands for, on one line."""

from __future__ import annotations

import re

from distlint.source.document import Document
from distlint.source.finding import Span
from distlint.source.tokens import tokens

ROWS_AFTER = 2
"""How far the bracket that ends a text may be from what it holds."""

_NOT_CODE = re.compile(r"\s*(?:(?:#[^\n]*|\\)?\n\s*)+")
_SPACE_IN_BRACKETS = re.compile(r"(?<=[(\[{]) | (?=[)\]}])")


def text_at(document: Document, span: Span) -> str:
    """The source of a span without its comments, with the brackets that end it."""
    rows = document.lines[span.row - 1 : span.end_row + ROWS_AFTER]
    text = "\n".join(rows)
    position = span.column - 1
    end = sum(len(row) + 1 for row in rows[: span.end_row - span.row]) + span.end_column - 1
    found: list[str] = []
    opened = formatted = 0
    for token in tokens(text, position, len(text)):
        if token.start >= end and not (token.kind == "close" and opened):
            break
        between = text[position : token.start]
        found += [between if formatted else _NOT_CODE.sub(" ", between)]
        opened += (token.kind == "open") - (token.kind == "close")
        formatted += (token.kind == "begin") - (token.kind == "end")
        found.append(text[token.start : token.end])
        position = token.end
    return _SPACE_IN_BRACKETS.sub("", " ".join("".join(found).split()))
