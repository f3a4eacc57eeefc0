"""Files as documents of whatever kind they are: scripts, and notebooks."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from distlint.source import magics
from distlint.source.document import Document, DocumentError
from distlint.source.notebook import SUFFIX, Cell, Notebook


def read(path: Path) -> Document:
    """The document of a file.

    Raises:
        OSError: if it cannot be read.
        DocumentError: if it is no text, or no notebook.
    """
    return from_bytes(path.read_bytes(), path)


def from_bytes(data: bytes, path: Path) -> Document:
    """The document of some bytes, by the name of their file.

    Raises:
        DocumentError: if they are no text, or no notebook.
    """
    if path.suffix.lower() == SUFFIX:
        return screened(Notebook.from_bytes(data, path))
    return Document.from_bytes(data, path)


def screened(notebook: Notebook) -> Notebook:
    """The notebook without the cells that are no Python, so that the others can be analysed."""
    from distlint.engine.syntax import mistake

    def problem_of(text: str) -> DocumentError | None:
        return mistake(Document(notebook.path, b"", text, "utf-8", "\n"))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the checked code are for other tools
        run, *files = notebook.groups
        screened = [[_screened(cell, problem_of) for cell in run]]
        screened += [_file_screened(cells, problem_of) for cells in files]
        return notebook.with_groups(screened)


def _file_screened(
    cells: Sequence[Cell], problem_of: Callable[[str], DocumentError | None]
) -> list[Cell]:
    """The cells of a file that they write; none is Python if all together are not."""
    problem = problem_of("\n\n".join(cell.python for cell in cells))
    if problem is None:
        return list(cells)
    where = max((cell for cell in cells if cell.row <= problem.row), key=lambda cell: cell.row)
    at = DocumentError(problem.message, problem.row - where.row + 1, problem.column)
    return [
        replace(
            cell,
            python=magics.blank(cell.source),
            problem=at if cell.number == where.number else None,
        )
        for cell in cells
    ]


def _screened(cell: Cell, problem_of: Callable[[str], DocumentError | None]) -> Cell:
    problem = problem_of(cell.python)
    if problem is None:
        return cell
    bare = magics.python_of(cell.source, bare=True) or ""
    if bare != cell.python and problem_of(bare) is None:
        return replace(cell, python=bare)
    text = textwrap.dedent(cell.python)  # IPython moves a cell to the margin
    is_indented = text != cell.python and problem_of(text) is None
    return replace(cell, python=magics.blank(cell.source), problem=None if is_indented else problem)
