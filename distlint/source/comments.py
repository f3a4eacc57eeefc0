"""The comments and logical lines of a Python text, and which comment goes with which line."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from distlint.source.document import NEWLINE
from distlint.source.nesting import examine

_LAYOUT = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER)


@dataclass(slots=True)
class Comment:
    """A comment with its place and the rows of the statement it stands on, in or above."""

    text: str
    row: int
    column: int
    rows: range


class Scan:
    """The comments of a text and the rows of each of its statements.

    A compound statement counts up to its colon. A text with a mistake is read up to the mistake.
    """

    def __init__(self, text: str) -> None:
        self.comments: list[Comment] = []
        self.statements: list[range] = []
        self._start: int | None = None
        self._decorator = False
        self._above: list[Comment] = []
        self._inside: list[Comment] = []
        for token in _tokens(text):
            self._feed(token)

    def _feed(self, token: tokenize.TokenInfo) -> None:
        if token.type == tokenize.COMMENT:
            self._comment(token)
        elif token.type == tokenize.NEWLINE:
            self._end(token.start[0])
        elif token.type not in _LAYOUT and self._start is None:
            self._start = token.start[0]
            self._decorator = token.string == "@"

    def _comment(self, token: tokenize.TokenInfo) -> None:
        row, column = token.start
        comment = Comment(token.string, row, column + 1, range(row, row + 1))
        self.comments.append(comment)
        (self._above if self._start is None else self._inside).append(comment)

    def _end(self, row: int) -> None:
        if self._start is None:
            return
        rows = range(self._start, row + 1)
        self.statements.append(rows)
        for comment in self._inside:
            comment.rows = rows
        for comment in self._above:
            comment.rows = range(comment.row, row + 1)
        self._inside.clear()
        if not self._decorator:  # what stands above a decorator is about the function, too
            self._above.clear()
        self._start = None


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    lines = io.StringIO(NEWLINE.sub("\n", examine(text).text))  # long data needs no comments
    try:
        yield from tokenize.generate_tokens(lines.readline)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return
