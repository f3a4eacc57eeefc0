"""Where a finding is, as each format wants it said: paths, locations, columns."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from distlint.source.document import Document, DocumentError
from distlint.source.finding import Place
from distlint.source.notebook import Notebook
from distlint.source.notebook_file import rows_in_file
from distlint.source.paths import STDIN, printable

Location = dict[str, int]


def location(row: int, column: int) -> Location:
    return {"column": column, "row": row}


def filename(path: Path) -> str:
    """The absolute path; bytes that are no UTF-8 are escaped, as JSON cannot hold them."""
    return _text(str(path) if path == STDIN else os.path.abspath(path))


def in_repository(path: Path) -> str:
    """The path from the top of the repository that we stand in, else the absolute one."""
    if path == STDIN:
        return str(path)
    absolute = Path(os.path.abspath(path))
    root = repository()
    return _text(
        absolute.relative_to(root).as_posix() if root in absolute.parents else str(absolute)
    )


def repository() -> Path:
    """The nearest folder above the working one that git knows, else the working folder."""
    return _repository(Path.cwd())


@lru_cache
def _repository(cwd: Path) -> Path:
    return next((each for each in (cwd, *cwd.parents) if (each / ".git").exists()), cwd)


def place_name(place: Place) -> str:
    """``row:column``, in a notebook with the cell before it."""
    cell = f"cell {place.cell}:" if place.cell else ""
    return f"{cell}{place.span.row}:{place.span.column}"


@lru_cache(maxsize=8)
def source_lines(path: Path, cell: int = 0) -> tuple[str, ...]:
    """The lines of a file, or of a cell of one, as it is now; none when it cannot be read."""
    try:
        if cell:
            return tuple(Notebook.from_bytes(path.read_bytes(), path).lines_of(cell))
        return tuple(Document.read(path).lines)
    except (OSError, ValueError, DocumentError):
        return ()


def file_rows(place: Place) -> tuple[int, int] | None:
    """The first and last row of the file for a place in a cell; None where the span tells them.

    Who reads a report beside the file sees the JSON that the cells are written in.
    """
    if not place.cell:
        return None
    rows = _rows_of_cells(place.path)
    first = rows.get((place.cell, place.span.row), 1)
    return first, rows.get((place.cell, place.span.end_row), first)


@lru_cache(maxsize=8)
def _rows_of_cells(path: Path) -> dict[tuple[int, int], int]:
    try:
        return rows_in_file(path.read_bytes())
    except (OSError, ValueError, DocumentError):
        return {}


def _text(path: str) -> str:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return printable(path)
    return path
