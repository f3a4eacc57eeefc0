"""Files as documents of whatever kind they are: scripts, and notebooks."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

from distlint.source import magics
from distlint.source.document import Document, DocumentError
from distlint.source.notebook import SUFFIX, Notebook


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

    cells = []
    for cell in notebook.cells:
        problem = problem_of(cell.python)
        bare = magics.python_of(cell.source, bare=True) if problem is not None else None
        if bare is not None and bare != cell.python and problem_of(bare) is None:
            cell = replace(cell, python=bare)
        elif problem is not None:
            text = textwrap.dedent(cell.python)  # IPython moves a cell to the margin
            is_indented = text != cell.python and problem_of(text) is None
            blank = magics.blank(cell.source)
            cell = replace(cell, python=blank, problem=None if is_indented else problem)
        cells.append(cell)
    return notebook.with_cells(cells)
