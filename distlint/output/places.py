"""Where a finding is, as each format wants it said: paths, locations, columns."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from distlint.source.document import Document, DocumentError
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


@lru_cache(maxsize=8)
def source_lines(path: Path) -> tuple[str, ...]:
    """The lines of a file as it is now; none when it cannot be read."""
    try:
        return tuple(Document.read(path).lines)
    except (OSError, ValueError, DocumentError):
        return ()


def _text(path: str) -> str:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return printable(path)
    return path
