"""The notebooks that an editor shows: which cells there are, in what order, what is in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lsprotocol import types

from distlint.server.columns import Columns, changed

LANGUAGE = "python"

SYNCHRONISED = types.NotebookDocumentSyncOptions(
    # all cells, so that they are counted as people count them
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(
            cells=[types.NotebookCellLanguage("*")], notebook="jupyter-notebook"
        )
    ],
    save=False,
)


@dataclass(slots=True)
class NotebookState:
    """One notebook document: its cells by URI, in order, and the text and language of each."""

    uri: str
    version: int
    cells: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)

    @classmethod
    def opened(cls, params: types.DidOpenNotebookDocumentParams) -> NotebookState:
        notebook = params.notebook_document
        state = cls(notebook.uri, notebook.version, [cell.document for cell in notebook.cells])
        state._take(params.cell_text_documents)
        return state

    def change(self, params: types.DidChangeNotebookDocumentParams, columns: Columns) -> list[str]:
        """Take over what has changed; the cells that are gone."""
        self.version = params.notebook_document.version
        cells = params.change.cells
        if cells is None:
            return []
        gone: list[str] = []
        if cells.structure is not None:
            array = cells.structure.array
            after = [cell.document for cell in array.cells or ()]
            self.cells[array.start : array.start + array.delete_count] = after
            self._take(cells.structure.did_open or ())
            gone = [each.uri for each in cells.structure.did_close or ()]
            gone = [uri for uri in gone if uri not in self.cells]
            for uri in gone:
                self.texts.pop(uri, None)
                self.languages.pop(uri, None)
        for content in cells.text_content or ():
            uri = content.document.uri
            for change in content.changes:
                self.texts[uri] = changed(self.texts.get(uri, ""), change, columns)
        return gone

    @property
    def sources(self) -> tuple[tuple[int, str], ...]:
        """The cells of Python, by their number."""
        return tuple(
            (number, self.texts[uri])
            for number, uri in enumerate(self.cells, 1)
            if self.languages.get(uri) == LANGUAGE and uri in self.texts
        )

    def number(self, uri: str) -> int:
        """The number of a cell; 0 of none."""
        return self.cells.index(uri) + 1 if uri in self.cells else 0

    def _take(self, documents: Iterable[types.TextDocumentItem]) -> None:
        for document in documents:
            self.texts[document.uri] = document.text
            self.languages[document.uri] = str(
                getattr(document.language_id, "value", document.language_id)
            )
