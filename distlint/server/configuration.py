"""The settings of the editor: reads them for each folder, and passes them on to the engines."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from distlint.engine.errors import ConfigError
from distlint.server.client import Client, plain
from distlint.server.documents import Documents
from distlint.server.engines import Engines
from distlint.server.messages import Messages
from distlint.server.options import SECTION, FolderOptions, Options
from distlint.server.options import read as read_options
from distlint.server.scheduler import Scheduler


class Configuration:
    """Reads the settings; what is open is analysed again with them."""

    def __init__(
        self,
        client: Client,
        documents: Documents,
        engines: Engines,
        options: FolderOptions,
        messages: Messages,
        scheduler: Scheduler,
    ) -> None:
        self._client = client
        self._documents = documents
        self._engines = engines
        self._options = options
        self._messages = messages
        self._scheduler = scheduler
        self.initial: object = None
        """Those that came with ``initialize``, for an editor that sends no others."""

    async def read(self, pushed: object = None) -> None:
        """Ask the editor for its settings, if it can be asked, else take what it sent."""
        folders = self._client.folders()
        scopes = [self._documents.uri_of(folder) for folder in folders]
        given = await self._client.settings(SECTION, scopes)
        if given is None:
            given = [pushed] * (len(folders) + 1)
        found: dict[Path | None, Options] = {}
        self._messages.forget_errors()
        for folder, table in zip((None, *folders), given, strict=False):
            try:
                found[folder] = read_options(plain(table) or self.initial, folder)
            except ConfigError as error:
                self._messages.error(str(error))
                found[folder] = Options()
        self._options.replace(found)
        self._engines.reset(
            {folder: each.overrides for folder, each in found.items() if folder is not None},
            found.get(None, Options()).overrides,
        )
        self._scheduler.mark_all()


def register(server: LanguageServer, configuration: Configuration) -> None:
    """Have the server handle changes of settings and of the folders that they are for."""

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        await configuration.read(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        await configuration.read()
