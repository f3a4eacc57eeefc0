"""The documents that the editor has open, text documents and notebook documents, by their path."""

from __future__ import annotations

import os
from pathlib import Path

from pygls import uris

from distlint.server.notebooks import NotebookState


class Documents:
    """URIs, versions and texts of the open documents, and the cells of notebook documents."""

    def __init__(self) -> None:
        self.uris: dict[Path, str] = {}
        self.versions: dict[Path, int] = {}
        self.texts: dict[Path, str] = {}
        """Those of text documents."""
        self.notebooks: dict[Path, NotebookState] = {}
        self.cells: dict[str, Path] = {}
        """The notebook documents of cells, by the URI of the cell."""

    def set_text(self, path: Path, text: str, version: int) -> None:
        self.texts[path] = text
        self.versions[path] = version

    def set_notebook(self, path: Path, notebook: NotebookState) -> None:
        self.notebooks[path] = notebook
        self.uris[path] = notebook.uri
        self.versions[path] = notebook.version
        self._forget_cells(path)
        self.cells |= dict.fromkeys(notebook.cells, path)

    def remove(self, path: Path) -> None:
        for table in (self.uris, self.versions, self.texts):
            table.pop(path, None)

    def remove_notebook(self, path: Path) -> NotebookState:
        notebook = self.notebooks.pop(path)
        self._forget_cells(path)
        self.remove(path)
        return notebook

    def uri_of(self, path: Path, cell: int = 0) -> str:
        if cell and path in self.notebooks and cell <= len(self.notebooks[path].cells):
            return self.notebooks[path].cells[cell - 1]
        return self.uris.get(path) or uris.from_fs_path(str(path)) or ""

    def path_of(self, uri: str) -> Path | None:
        """The file of a text document, or the notebook of a cell."""
        return self.cells.get(uri) or path_from_uri(uri)

    def cell_of(self, uri: str) -> int:
        """The number of a cell; 0 of a file."""
        path = self.cells.get(uri)
        return self.notebooks[path].number(uri) if path is not None else 0

    def _forget_cells(self, path: Path) -> None:
        self.cells = {uri: owner for uri, owner in self.cells.items() if owner != path}


def path_from_uri(uri: str | None) -> Path | None:
    """The file of a URI; None for what is no file."""
    if not uri or not uri.startswith("file:"):
        return None
    name = uris.to_fs_path(uri)
    return Path(os.path.abspath(name)) if name else None
