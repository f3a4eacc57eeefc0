"""The editor as the protocol presents it: what it supports, and what it is sent and asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from distlint.server.columns import Columns
from distlint.server.documents import path_from_uri

PATIENCE = 5.0
"""Seconds that an editor may take to send its settings."""
WATCHED = ("**/*.toml", "**/*.py", "**/requirements*.txt", "**/*.json")
FILES = "distlint-files"
SETTINGS = "distlint-settings"


class Client:
    """An editor; what it supports is known after ``initialize``."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server

    # --- what it supports

    @property
    def columns(self) -> Columns:
        return Columns(self._server.server_capabilities.position_encoding)

    @property
    def pulls(self) -> bool:
        """Does the editor ask for diagnostics, rather than wait for them?"""
        return self._text is not None and self._text.diagnostic is not None

    @property
    def refreshes_diagnostics(self) -> bool:
        """Can it be asked to ask for diagnostics again?"""
        workspace = self._workspace
        return bool(workspace and workspace.diagnostics and workspace.diagnostics.refresh_support)

    @property
    def shows_related_information(self) -> bool:
        publish = self._text.publish_diagnostics if self._text else None
        return self.pulls or bool(publish and publish.related_information)

    @property
    def resolves_edits(self) -> bool:
        """Does the editor ask for the edit of an action only once it was chosen?"""
        action = self._text.code_action if self._text else None
        support = action.resolve_support if action else None
        return support is not None and "edit" in support.properties

    @property
    def creates_files(self) -> bool:
        """Can the edit of an action create a file, and is it made once the action was chosen?"""
        edit = self._workspace.workspace_edit if self._workspace else None
        operations = edit.resource_operations if edit else None
        can_create = types.ResourceOperationKind.Create in (operations or ())
        return can_create and self.takes_document_changes and self.resolves_edits

    @property
    def runs_commands(self) -> bool:
        """Can an action be a command that the server executes? Neovim can, and does not say so."""
        return self.opens_pages or bool(self._workspace and self._workspace.execute_command)

    @property
    def opens_pages(self) -> bool:
        window = self._server.client_capabilities.window
        return bool(window and window.show_document and window.show_document.support)

    @property
    def takes_document_changes(self) -> bool:
        """Can an edit name the version of the document that it is for?"""
        edit = self._workspace.workspace_edit if self._workspace else None
        return bool(edit and edit.document_changes)

    def folders(self) -> list[Path]:
        workspace = self._server.workspace
        named = [path_from_uri(uri) for uri in workspace.folders]
        root = path_from_uri(workspace.root_uri) if workspace.root_uri else None
        found = [path for path in named if path is not None]
        return found or ([root] if root is not None else [])

    @property
    def _text(self) -> types.TextDocumentClientCapabilities | None:
        return self._server.client_capabilities.text_document

    @property
    def _workspace(self) -> types.WorkspaceClientCapabilities | None:
        return self._server.client_capabilities.workspace

    # --- what it is sent

    def publish(
        self, uri: str, diagnostics: Sequence[types.Diagnostic], version: int | None = None
    ) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, version)
        )

    def refresh(self) -> None:
        """Have the editor ask for diagnostics and inlay hints again."""
        if self.refreshes_diagnostics:
            self._server.workspace_diagnostic_refresh(None)
        workspace = self._workspace
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self._server.workspace_inlay_hint_refresh(None)

    def show(self, kind: types.MessageType, text: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(kind, text))

    def log(self, text: str) -> None:
        self._server.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    # --- what it is asked

    async def settings(self, section: str, scopes: Iterable[str]) -> list[object] | None:
        """Those of the user and of each scope; None if the editor cannot be asked."""
        if not self._workspace or not self._workspace.configuration:
            return None
        items = [types.ConfigurationItem(section=section)]
        items += [types.ConfigurationItem(scope_uri=uri, section=section) for uri in scopes]
        with contextlib.suppress(Exception):  # an editor that says it can and then cannot
            request = self._server.workspace_configuration_async(types.ConfigurationParams(items))
            return list(await asyncio.wait_for(request, PATIENCE))
        return None

    async def opens(self, page: Path) -> bool:
        """Ask for a page to be opened in the browser; False if the editor cannot."""
        if not self.opens_pages:
            return False
        with contextlib.suppress(Exception):
            params = types.ShowDocumentParams(page.as_uri(), external=True)
            return (await self._server.window_show_document_async(params)).success
        return False

    async def watch(self, section: str) -> bool:
        """Ask for reports of changed files and settings; True if those of files will come."""
        workspace = self._workspace
        files = workspace.did_change_watched_files if workspace else None
        settings = workspace.did_change_configuration if workspace else None
        wanted = []
        if files is not None and files.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            wanted.append(
                types.Registration(
                    FILES,
                    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                    types.DidChangeWatchedFilesRegistrationOptions(watchers),
                )
            )
        if settings is not None and settings.dynamic_registration:
            wanted.append(
                types.Registration(
                    SETTINGS,
                    types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                    types.DidChangeConfigurationRegistrationOptions(section=section),
                )
            )
        if not wanted:
            return False
        with contextlib.suppress(Exception):
            await self._server.client_register_capability_async(types.RegistrationParams(wanted))
            return any(each.id == FILES for each in wanted)
        return False


def plain(value: object) -> object:
    """JSON as plain tables and lists, in whatever shape the protocol's library hands it on."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
