"""The language server: makes its parts, and connects them with the protocol."""

from __future__ import annotations

import gc
import logging

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import Workspace

from distlint import __version__
from distlint.server import configuration, features, synchronisation
from distlint.server.client import Client, plain
from distlint.server.code_actions import CodeActions
from distlint.server.configuration import Configuration
from distlint.server.documents import Documents
from distlint.server.engines import Engines
from distlint.server.messages import Messages
from distlint.server.notebooks import SYNCHRONISED
from distlint.server.options import SECTION, FolderOptions
from distlint.server.publisher import Publisher
from distlint.server.questions import Questions
from distlint.server.results import Results
from distlint.server.scheduler import Scheduler
from distlint.server.synchronisation import Synchronisation
from distlint.server.trace_pages import TracePages


class Server(LanguageServer):
    """distlint as a language server.

    Analyses run in the engines, one job at a time in each, so that the protocol is answered
    meanwhile.
    """

    def __init__(self) -> None:
        super().__init__(
            "distlint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=SYNCHRONISED,
        )
        self.client = Client(self)
        self.documents = Documents()
        self.engines = Engines()
        self.options = FolderOptions()
        self.results = Results()
        self.messages = Messages(self.client)
        self.publisher = Publisher(
            self.client, self.documents, self.engines, self.options, self.messages
        )
        self.scheduler = Scheduler(
            self.documents, self.engines, self.options, self.results, self.publisher, self.messages
        )
        self.questions = Questions(
            self.client,
            self.documents,
            self.engines,
            self.options,
            self.results,
            self.scheduler,
        )
        self.configuration = Configuration(
            self.client,
            self.documents,
            self.engines,
            self.options,
            self.messages,
            self.scheduler,
        )
        self.synchronisation = Synchronisation(
            self.client,
            self.documents,
            self.engines,
            self.messages,
            self.publisher,
            self.questions,
            self.results,
            self.scheduler,
        )
        self.pages = TracePages(self.client, self.documents, self.questions)
        self.code_actions = CodeActions(
            self.client, self.documents, self.publisher, self.questions, self.pages
        )

    def close(self) -> None:
        """End all work, whatever it is doing."""
        self.scheduler.close()
        self.engines.close()
        self.pages.close()


def make() -> Server:
    """The server with all that it can do."""
    server = Server()
    _register_lifecycle(server)
    configuration.register(server, server.configuration)
    synchronisation.register(server, server.synchronisation)
    features.register_diagnostics(server, server.documents, server.questions, server.publisher)
    features.register_hover(server, server.client, server.documents, server.questions)
    features.register_inlay_hints(
        server, server.client, server.documents, server.options, server.questions, server.results
    )
    features.register_code_actions(server, server.code_actions)
    features.register_commands(server, server.pages)
    return server


def _register_lifecycle(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        # it warns of requests that are cancelled after they were answered
        logging.getLogger("pygls.protocol.json_rpc").setLevel(logging.ERROR)
        _keep_no_texts(server.workspace)
        server.configuration.initial = plain(params.initialization_options)
        gc.freeze()
        gc.disable()  # a sixth of the time of an analysis; the scheduler collects in between

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await server.configuration.read()
        server.engines.watch(await server.client.watch(SECTION))

    @server.feature(types.SHUTDOWN)
    def shutdown(*_: object) -> None:
        server.close()


def _keep_no_texts(workspace: Workspace) -> None:
    """The documents are kept here: the library splits lines at form feeds, and then moves the
    ranges that it passes on."""
    for method in ("update_text_document", "update_notebook_document"):
        setattr(workspace, method, lambda *_: None)
