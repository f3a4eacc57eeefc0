"""``distlint server`` with the client of pytest-lsp, which checks the protocol, too."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.server.test_server import BUGGY, CLEAN, COLUMN, ROW

pytest.importorskip("pytest_lsp", reason="pytest-lsp is not installed")

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

SERVER = (sys.executable, "-c", "from distlint.cli import main; main()", "server")
PATIENCE = 120.0


def capabilities() -> types.ClientCapabilities:
    """Those of Neovim 0.11, with edits that can create files."""
    found = client_capabilities("neovim@0.11")
    assert found.workspace is not None
    assert found.workspace.workspace_edit is not None
    found.workspace.workspace_edit.document_changes = True
    if found.text_document is not None:
        found.text_document.diagnostic = None  # which it would then ask for
    return found


def new_client() -> LanguageClient:
    """That of pytest-lsp; its library, lsprotocol, takes an action with a command for a command."""

    def structured(given: dict[str, object], _: object) -> types.Command | types.CodeAction:
        is_command = isinstance(given.get("command"), str)
        kind: type[types.Command | types.CodeAction]
        kind = types.Command if is_command else types.CodeAction
        return converter.structure(given, kind)

    converter = default_converter()
    converter.register_structure_hook(types.Command | types.CodeAction, structured)
    client = LanguageClient(converter_factory=lambda: converter)
    register_lsp_features(client)
    return client


async def diagnostics(client: LanguageClient, uri: str) -> Sequence[types.Diagnostic]:
    """The next ones of a file."""
    client.diagnostics.pop(uri, None)
    while uri not in client.diagnostics:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return client.diagnostics[uri]


def edits(action: types.CodeAction) -> list[types.TextEdit]:
    assert action.edit is not None
    (change,) = action.edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    return [edit for edit in change.edits if isinstance(edit, types.TextEdit)]


async def session(script: Path) -> None:
    client = new_client()
    client.set_configuration({"patience": 1e9}, section="distlint")
    await client.start_io(*SERVER)
    try:
        result = await client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities(),
                root_uri=script.parent.as_uri(),
                workspace_folders=[types.WorkspaceFolder(script.parent.as_uri(), "project")],
            )
        )
        assert result.server_info is not None
        assert result.server_info.name == "distlint"
        await questions(client, script.as_uri())
        await client.shutdown_session()
        assert client.error is None
    finally:
        server = client._server
        if server is not None and server.returncode is None:  # the session has failed
            server.kill()
        await client.stop()


async def questions(client: LanguageClient, uri: str) -> None:
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, BUGGY))
    )
    found = await diagnostics(client, uri)
    (diagnostic,) = found
    assert (diagnostic.code, diagnostic.range.start.line) == ("DST101", ROW)
    related = {each.message: each.location for each in diagnostic.related_information or ()}
    barrier = related["rank 0: barrier: dist.barrier()"]
    assert (barrier.uri, barrier.range.start.line) == (uri, ROW + 1)
    document = types.TextDocumentIdentifier(uri)
    hover = await client.text_document_hover_async(
        types.HoverParams(document, types.Position(ROW, COLUMN))
    )
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "rank 0: barrier: dist.barrier()" in hover.contents.value
    offered = await client.text_document_code_action_async(
        types.CodeActionParams(document, diagnostic.range, types.CodeActionContext(found))
    )
    actions = {each.title: each for each in offered or () if isinstance(each, types.CodeAction)}
    await show_ranks(client, actions["Show the ranks"])
    await write_script(client, actions["Write a script that shows this hang"])
    (comment,) = edits(actions["Ignore DST101 (collective-in-rank-branch) on this line"])
    assert comment.new_text.strip() == "# distlint: ignore[DST101]"
    (fix,) = (action for title, action in actions.items() if "unsafe" in title)
    assert edits(fix)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, uri),
            [types.TextDocumentContentChangeWholeDocument(CLEAN)],
        )
    )
    assert not await diagnostics(client, uri)


async def show_ranks(client: LanguageClient, action: types.CodeAction) -> None:
    assert action.command is not None
    await client.workspace_execute_command_async(
        types.ExecuteCommandParams(action.command.command, action.command.arguments)
    )
    (shown,) = client.shown_documents
    assert shown.external
    assert "ranks diverge" in Path(unquote(urlsplit(shown.uri).path)).read_text("utf-8")


async def write_script(client: LanguageClient, action: types.CodeAction) -> None:
    assert action.edit is None
    action = await client.code_action_resolve_async(action)
    assert action.edit is not None
    create, change = action.edit.document_changes or ()
    assert isinstance(create, types.CreateFile)
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.uri == create.uri
    (edit,) = change.edits
    assert isinstance(edit, types.TextEdit)
    compile(edit.new_text, "reproducer", "exec")


def test_a_session_over_the_protocol(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(BUGGY)
    asyncio.run(asyncio.wait_for(session(script), PATIENCE))
