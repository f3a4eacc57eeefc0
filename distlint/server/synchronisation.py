"""Document synchronisation: opened, edited, saved and closed documents, and watched files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from distlint.server.client import Client
from distlint.server.columns import changed as changed_text
from distlint.server.documents import Documents, path_from_uri
from distlint.server.engines import Engines
from distlint.server.messages import Messages
from distlint.server.notebooks import NotebookState
from distlint.server.open_files import Content, OpenFiles, decisive
from distlint.server.publisher import Publisher
from distlint.server.questions import Questions
from distlint.server.results import Results
from distlint.server.scheduler import Scheduler
from distlint.source.document import Document
from distlint.source.settings.kinds import kind_of


class Synchronisation:
    """Brings documents, engines and results up to date, and has analysed what that affects."""

    def __init__(
        self,
        client: Client,
        documents: Documents,
        engines: Engines,
        messages: Messages,
        publisher: Publisher,
        questions: Questions,
        results: Results,
        scheduler: Scheduler,
    ) -> None:
        self._client = client
        self._documents = documents
        self._engines = engines
        self._messages = messages
        self._publisher = publisher
        self._questions = questions
        self._results = results
        self._scheduler = scheduler

    def opened(self, document: types.TextDocumentItem) -> None:
        path = path_from_uri(document.uri)
        if path is not None and _is_ours(document.language_id, path, document.text):
            self._documents.uris[path] = document.uri
            self._edited(path, document.text, document.version)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        path = path_from_uri(params.text_document.uri)
        if path is None or path not in self._documents.texts:  # the JSON of a notebook, perhaps
            return
        text = self._documents.texts[path]
        for change in params.content_changes:
            text = changed_text(text, change, self._client.columns)
        self._edited(path, text, params.text_document.version)

    async def saved(self, uri: str) -> None:
        path = path_from_uri(uri)
        if path is not None and path.suffix == ".toml":
            self._engines.reset()
            self._scheduler.mark_all()
        elif path is not None:
            await self._scheduler.spread(OpenFiles.lookers, path)

    def closed(self, uri: str) -> None:
        path = path_from_uri(uri)
        if path is None or path not in self._documents.texts:
            return
        unsaved = not _on_disk(path, self._documents.texts[path])
        self._documents.remove(path)
        self._drop(path)
        self._publisher.clear_closed(uri)
        if unsaved:  # those who import it get what is on the disk again
            self._scheduler.mark_all()

    def notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        path = path_from_uri(params.notebook_document.uri)
        if path is not None:
            self._arranged(path, NotebookState.opened(params))

    def notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        path = path_from_uri(params.notebook_document.uri)
        if path in self._documents.notebooks:
            notebook = self._documents.notebooks[path]
            self._publisher.clear(notebook.change(params, self._client.columns))
            self._arranged(path, notebook)

    def notebook_closed(self, uri: str) -> None:
        path = path_from_uri(uri)
        if path in self._documents.notebooks:
            notebook = self._documents.remove_notebook(path)
            self._drop(path)
            self._publisher.clear(notebook.cells)

    def changed_on_disk(self, changes: Iterable[types.FileEvent]) -> None:
        concern = False
        for change in changes:
            path = path_from_uri(change.uri)
            if path is None:
                continue
            if path.suffix == ".json" and not self._decides(path):
                continue  # jobs write many, and only a baseline matters
            if path.suffix != ".py" or change.type != types.FileChangeType.Changed:
                self._engines.reset()  # also what imports lead to
                concern = True
            elif path not in self._documents.uris:
                self._engines.changed_on_disk(path)
                concern = True
        if concern:
            self._messages.forget_errors()
            self._scheduler.mark_all()

    def _edited(self, path: Path, text: str, version: int) -> None:
        self._documents.set_text(path, text, version)
        self._post(path, text, version)

    def _arranged(self, path: Path, notebook: NotebookState) -> None:
        self._documents.set_notebook(path, notebook)
        self._post(path, notebook.sources, notebook.version)

    def _post(self, path: Path, content: Content, version: int) -> None:
        """Pass the new text of a file on, and analyse it."""
        self._engines.post(path, content, version)
        self._scheduler.mark(path, own=True)

    def _drop(self, path: Path) -> None:
        """Forget what is known of a file that was closed."""
        self._results.drop(path)
        self._questions.drop(path)
        self._engines.drop(path)
        self._results.announce()

    def _decides(self, path: Path) -> bool:
        """Is it one of the files that decide about the settings of those that are open?"""
        analyses = self._results.analyses
        return self._engines.in_thread.open_files.is_decided_by(path) or any(
            path in decisive(each, analyses[each].settings)
            for each in self._engines.heavy
            if each in analyses
        )


def register(server: LanguageServer, synchronisation: Synchronisation) -> None:
    """Have the server handle the notifications of documents and watched files."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        synchronisation.opened(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        synchronisation.changed(params)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        await synchronisation.saved(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        synchronisation.closed(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    async def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        synchronisation.notebook_opened(params)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        synchronisation.notebook_changed(params)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    async def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        synchronisation.notebook_closed(params.notebook_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files(params: types.DidChangeWatchedFilesParams) -> None:
        synchronisation.changed_on_disk(params.changes)


def _is_ours(language: str, path: Path, text: str) -> bool:
    """Is a text Python, or may it configure or start a training?"""
    if language == "python":
        return True
    found = kind_of(path, text[:256].encode("utf-8", "replace"))
    return found is not None and found != "python"


def _on_disk(path: Path, text: str) -> bool:
    """Is a text saved as it is?"""
    try:
        return path.read_bytes() == Document.of_text(text, path).data
    except OSError:
        return False
