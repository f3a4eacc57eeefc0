"""Publication of diagnostics: sends them to the editor, or has it ask for them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from distlint.server.client import Client
from distlint.server.documents import Documents
from distlint.server.engines import Engines
from distlint.server.messages import Messages
from distlint.server.open_files import Analysis
from distlint.server.options import FolderOptions
from distlint.server.translate import Translator


class Publisher:
    """Publishes analyses in the way that the editor supports."""

    def __init__(
        self,
        client: Client,
        documents: Documents,
        engines: Engines,
        options: FolderOptions,
        messages: Messages,
    ) -> None:
        self._client = client
        self._documents = documents
        self._engines = engines
        self._options = options
        self._messages = messages

    @property
    def translator(self) -> Translator:
        return Translator(
            self._client.columns,
            self._documents.uri_of,
            self._engines.read,
            related=self._client.shows_related_information,
        )

    def diagnostics(self, analysis: Analysis, cell: int = 0) -> list[types.Diagnostic]:
        unsafe = self._options.of(analysis.document.path).unsafe_fixes
        return self.translator.diagnostics(analysis, unsafe, cell)

    def publish(self, path: Path, analysis: Analysis) -> None:
        self._messages.report(analysis)
        notebook = self._documents.notebooks.get(path)
        if notebook is not None:  # editors do not ask for the cells of notebooks
            for number, uri in enumerate(notebook.cells, 1):
                self._client.publish(uri, self.diagnostics(analysis, number))
        elif not self._client.pulls:
            uri = self._documents.uri_of(path)
            self._client.publish(uri, self.diagnostics(analysis), analysis.version)

    def clear(self, uris: Iterable[str]) -> None:
        """Remove the diagnostics of texts that are no longer there."""
        for uri in uris:
            self._client.publish(uri, [])

    def clear_closed(self, uri: str) -> None:
        """Remove those of a closed text document; an editor that pulls does so by itself."""
        if not self._client.pulls:
            self.clear([uri])

    def refresh(self) -> None:
        """Have the editor ask for what it pulls again."""
        self._client.refresh()
