"""Why a text is not analysed."""

from __future__ import annotations

from pathlib import Path


class ParseError(Exception):
    """The text is no Python that libcst can read; ``row`` and ``column`` start at 1."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


class Unplaced(ParseError):
    """libcst cannot tell where the sites of a module are that ``ast`` has read."""

    def __init__(self, path: Path, error: ParseError | None) -> None:
        message, place = (error.message, (error.row, error.column)) if error else ("", (1, 1))
        super().__init__(message or "the file has changed meanwhile", *place)
        self.path = path


class TooDeep(ParseError):
    """The text may be Python, but takes a parser more time or memory than it is worth."""
