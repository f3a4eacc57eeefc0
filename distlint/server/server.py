"""The protocol: what the editor tells and asks, and who does it.

Whatever concerns the engine runs in one thread of its own, one job at a time, so that the protocol
is answered meanwhile. An edit marks its file; when the thread is free it takes the file that was
edited last, in its newest version. What was found in a version that is no longer there is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import Workspace

from distlint import __version__
from distlint.engine.errors import ConfigError, Superseded
from distlint.engine.ignores import comments, document_with
from distlint.engine.writing import NotWritten
from distlint.server import hover, options
from distlint.server.columns import Columns
from distlint.server.columns import changed as changed_text
from distlint.server.desk import Analysis, Desk
from distlint.server.notebooks import SYNCHRONISED, Sheet
from distlint.server.options import Options
from distlint.server.translate import SOURCE, Change, Translator, lines_of, text_edits
from distlint.source.document import Document
from distlint.source.edits import difference
from distlint.source.finding import Edit
from distlint.source.notebook import Notebook, relative
from distlint.source.settings.kinds import kind_of

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.distlint"
FIX_ALL_CELLS = f"notebook.{FIX_ALL}"
WATCHED = ("**/*.toml", "**/*.py", "**/requirements*.txt", "**/*.json")
FILES = "distlint-files"
STACK = 64 * 1024 * 1024
"""Bytes of address space for the thread of the engine, which recurses as deep as programs nest."""
COLLECTED_WHEN_IDLE, MOST_UNCOLLECTED = 8, 40
"""Files that are analysed before garbage is collected: with nothing to do, and with work left."""
PATIENCE = 5.0
"""Seconds that an editor may take to tell its settings."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A file is to be analysed; ``own`` when its own text has changed. Each change makes one."""

    own: bool


class Server(LanguageServer):
    """distlint as a language server."""

    def __init__(self) -> None:
        super().__init__(
            "distlint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=SYNCHRONISED,
        )
        self.desk = Desk()
        self.engine = _one_thread()
        self.options: dict[Path | None, Options] = {None: Options()}
        self.initial: object = None
        self.uris: dict[Path, str] = {}
        self.versions: dict[Path, int] = {}
        self.texts: dict[Path, str] = {}
        """Those of open files."""
        self.sheets: dict[Path, Sheet] = {}
        self.cells: dict[str, Path] = {}
        """The notebooks of cells, by the URI of the cell."""
        self.analyses: dict[Path, Analysis] = {}
        self.glances: dict[Path, Analysis] = {}
        """What could be said at once of files whose analysis goes on."""
        self.dirty: dict[Path, Mark] = {}
        """Files to be analysed, the most urgent last."""
        self.working: asyncio.Task[None] | None = None
        self.news = asyncio.Event()
        self.configured = asyncio.Event()
        self.told: set[str] = set()
        self.informed: set[str] = set()
        self.analysed = 0
        """Files since garbage was last collected."""

    @property
    def pulls(self) -> bool:
        """Does the editor ask for diagnostics, rather than wait for them?"""
        text = self.client_capabilities.text_document
        return text is not None and text.diagnostic is not None

    @property
    def translator(self) -> Translator:
        text = self.client_capabilities.text_document
        publish = text.publish_diagnostics if text else None
        return Translator(
            Columns(self.server_capabilities.position_encoding),
            self.uri_of,
            self.desk.read,
            related=self.pulls or bool(publish and publish.related_information),
        )

    def uri_of(self, path: Path, cell: int = 0) -> str:
        if cell and path in self.sheets and cell <= len(self.sheets[path].cells):
            return self.sheets[path].cells[cell - 1]
        return self.uris.get(path) or uris.from_fs_path(str(path)) or ""

    def path_of(self, uri: str) -> Path | None:
        """The file of a text, or the notebook of a cell."""
        return self.cells.get(uri) or _path(uri)

    def cell_of(self, uri: str) -> int:
        """The number of a cell; 0 of a file."""
        path = self.cells.get(uri)
        return self.sheets[path].number(uri) if path is not None else 0

    def folders(self) -> list[Path]:
        named = [_path(uri) for uri in self.workspace.folders]
        root = _path(self.workspace.root_uri) if self.workspace.root_uri else None
        found = [path for path in named if path is not None]
        return found or ([root] if root is not None else [])

    def options_of(self, path: Path) -> Options:
        inside = [folder for folder in self.options if folder and folder in path.parents]
        return self.options[max(inside, key=lambda each: len(each.parts), default=None)]

    # --- what changes

    def edited(self, path: Path, text: str, version: int) -> None:
        """A file was opened or changed."""
        self.texts[path] = text
        self.versions[path] = version
        self.desk.post(path, text, version)
        self.mark(path, own=True)

    def arranged(self, path: Path, sheet: Sheet) -> None:
        """A notebook was opened or changed."""
        self.sheets[path] = sheet
        self.uris[path] = sheet.uri
        self.cells = {uri: owner for uri, owner in self.cells.items() if owner != path}
        self.cells |= dict.fromkeys(sheet.cells, path)
        self.versions[path] = sheet.version
        self.desk.post(path, sheet.sources, sheet.version)
        self.mark(path, own=True)

    def put_away(self, path: Path) -> None:
        """A notebook was closed."""
        sheet = self.sheets.pop(path)
        self.desk.post(path, None)
        self.cells = {uri: owner for uri, owner in self.cells.items() if owner != path}
        for table in (self.uris, self.versions, self.analyses, self.glances, self.dirty):
            table.pop(path, None)
        self.announce()
        self.clear(sheet.cells)

    def clear(self, texts: Iterable[str]) -> None:
        """Take back what was said about texts that are no longer there."""
        for uri in texts:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def closed(self, uri: str) -> None:
        path = _path(uri)
        if path is None or path not in self.texts:
            return
        self.desk.post(path, None)
        unsaved = not _on_disk(path, self.texts[path])
        tables = (self.uris, self.versions, self.texts, self.analyses, self.glances, self.dirty)
        for table in tables:
            table.pop(path, None)
        self.announce()
        if not self.pulls:
            self.clear([uri])
        if unsaved:  # those who import it get what is on the disk again
            self.mark_all()

    def mark(self, path: Path, *, own: bool) -> None:
        """A file is to be analysed anew: first if its own text has changed, else after others."""
        before = self.dirty.pop(path, None)
        self.glances.pop(path, None)
        mark = Mark(own or (before is not None and before.own))
        if mark.own:
            self.dirty[path] = mark
        else:
            self.dirty = {path: mark, **self.dirty}
        if self.working is None or self.working.done():
            self.working = asyncio.get_running_loop().create_task(self.work())

    def mark_all(self, but: Path | None = None) -> None:
        for path in self.uris:
            if path != but:
                self.mark(path, own=False)
        self.ask_to_pull()

    def announce(self) -> None:
        self.news.set()
        self.news = asyncio.Event()

    # --- the work

    async def work(self) -> None:
        await self.configured.wait()
        while self.dirty:
            self.analysed += 1
            path, mark = next(reversed(self.dirty.items()))
            try:
                await self.analyse(path, mark)
                if mark.own and path not in self.dirty and path in self.uris:
                    await self.spread(self.desk.concerned, path)
            except Superseded:
                continue  # the file is still dirty
            except Exception as error:  # a mistake of ours ends one analysis and not the server
                self.failed(path, error)
                self.analyses.pop(path, None)
                self.done(path, mark)
            if self.analysed >= (MOST_UNCOLLECTED if self.dirty else COLLECTED_WHEN_IDLE):
                self.analysed = 0
                await self.run(gc.collect)

    async def analyse(self, path: Path, mark: Mark) -> None:
        """Look at a file, unless it is marked anew meanwhile."""
        patience = self.options_of(path).patience
        glance = await self.run(lambda: self.desk.glance(path, patience))
        if self.dirty.get(path) is mark and glance is not None:
            self.glances[path] = glance
            self.publish(path, glance)
            self.announce()
        analysis = await self.run(lambda: self.desk.check(path))
        if self.dirty.get(path) is mark and analysis is not None:
            self.analyses[path] = analysis
            if glance is None or not glance.says_the_same_as(analysis):
                self.publish(path, analysis)
                if glance is not None:
                    self.ask_to_pull()
        self.done(path, mark)
        if self.desk.noticed():
            self.mark_all(but=path)

    def done(self, path: Path, mark: Mark) -> None:
        if self.dirty.get(path) is mark:
            del self.dirty[path]
            self.glances.pop(path, None)
        self.announce()

    async def spread(self, among: Callable[[Path], list[Path]], path: Path) -> None:
        """Mark the open files that a change of a file concerns, as ``among`` tells."""
        concerned = await self.run(partial(among, path))
        for other in concerned:
            if other in self.uris:
                self.mark(other, own=False)
        if concerned:
            self.ask_to_pull()

    def failed(self, path: Path, error: Exception) -> None:
        self.say(f"{path}: internal error: {type(error).__name__}: {error}")
        self.log("".join(traceback.format_exception(error)))

    async def run(self, job: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self.engine, job)
        finally:
            while self.desk.announcements:
                self.inform(self.desk.announcements.pop(0))

    async def settled(self, uri: str) -> Analysis | None:
        """What was found in the newest version of a file, as soon as it is known."""
        path = self.path_of(uri)
        if path is None:
            return None
        while path in self.dirty:
            await self.news.wait()
        return self.analyses.get(path)

    async def at_once(self, uri: str) -> Analysis | None:
        """What is known of the newest version of a file, if only by a glance at it.

        Not for an editor that cannot be asked to come back when more is known.
        """
        path = self.path_of(uri)
        if path is None or not self.can_be_asked_to_pull:
            return await self.settled(uri)
        while path in self.dirty and path not in self.glances:
            await self.news.wait()
        return self.glances.get(path) or self.analyses.get(path)

    async def told_of(self, uri: str, tell: Callable[[Analysis], T]) -> T | None:
        """What is to be said of the newest version of a text; an edit meanwhile comes first."""
        while True:
            analysis = await self.settled(uri)
            if analysis is None:
                return None
            with contextlib.suppress(Superseded):
                return await self.run(partial(tell, analysis))

    # --- what is told

    def publish(self, path: Path, analysis: Analysis) -> None:
        self.tell(analysis)
        if path in self.sheets:  # editors do not ask for the cells of notebooks
            for number, uri in enumerate(self.sheets[path].cells, 1):
                found = self.diagnostics(analysis, number)
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))
        elif not self.pulls:
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    self.uri_of(path), self.diagnostics(analysis), analysis.version
                )
            )

    def diagnostics(self, analysis: Analysis, cell: int = 0) -> list[types.Diagnostic]:
        unsafe = self.options_of(analysis.document.path).unsafe_fixes
        return self.translator.diagnostics(analysis, unsafe, cell)

    def tell(self, analysis: Analysis) -> None:
        """A configuration that cannot be used, or a failure of ours, is said once."""
        if analysis.problem:
            self.say(analysis.problem)
        for notice in analysis.notices:
            text = f"{notice.path}: {notice.message}" if notice.path else notice.message
            if notice.kind == "failed" and text not in self.told:
                self.say(text)
                self.log(notice.detail)

    def say(self, text: str) -> None:
        if text not in self.told:
            self.told.add(text)
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Error, f"distlint: {text}")
            )

    def inform(self, text: str) -> None:
        if text not in self.informed:
            self.informed.add(text)
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Info, f"distlint: {text}")
            )

    def log(self, text: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    @property
    def can_be_asked_to_pull(self) -> bool:
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.diagnostics and workspace.diagnostics.refresh_support)

    def ask_to_pull(self) -> None:
        workspace = self.client_capabilities.workspace
        if self.can_be_asked_to_pull:
            self.workspace_diagnostic_refresh(None)
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    # --- settings

    async def read_settings(self, pushed: object = None) -> None:
        """Ask the editor for its settings, if it can be asked, else take what it sent."""
        folders = self.folders()
        workspace = self.client_capabilities.workspace
        given: list[object] = [pushed] * (len(folders) + 1)
        if workspace and workspace.configuration:
            items = [types.ConfigurationItem(section=options.SECTION)]
            items += [
                types.ConfigurationItem(scope_uri=self.uri_of(folder), section=options.SECTION)
                for folder in folders
            ]
            with contextlib.suppress(Exception):  # an editor that says it can and then cannot
                request = self.workspace_configuration_async(types.ConfigurationParams(items))
                given = list(await asyncio.wait_for(request, PATIENCE))
        found: dict[Path | None, Options] = {}
        self.told.clear()
        for folder, table in zip((None, *folders), given, strict=False):
            try:
                found[folder] = options.read(_raw(table) or self.initial, folder)
            except ConfigError as error:
                self.say(str(error))
                found[folder] = Options()
        self.options = found
        self.desk.reset(
            {folder: each.overrides for folder, each in found.items() if folder is not None},
            found.get(None, Options()).overrides,
        )
        self.configured.set()
        self.mark_all()

    async def register(self) -> None:
        """Ask to be told of files and settings that change."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        configuring = workspace.did_change_configuration if workspace else None
        wanted = []
        if watching is not None and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            wanted.append(
                types.Registration(
                    FILES,
                    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                    types.DidChangeWatchedFilesRegistrationOptions(watchers),
                )
            )
        if configuring is not None and configuring.dynamic_registration:
            wanted.append(
                types.Registration(
                    "distlint-settings",
                    types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                    types.DidChangeConfigurationRegistrationOptions(section=options.SECTION),
                )
            )
        if wanted:
            with contextlib.suppress(Exception):
                await self.client_register_capability_async(types.RegistrationParams(wanted))
                self.desk.watched = any(each.id == FILES for each in wanted)

    # --- code actions

    def actions(self, params: types.CodeActionParams, analysis: Analysis) -> list[types.CodeAction]:
        wanted = params.context.only
        found: list[types.CodeAction] = []
        if _asked(types.CodeActionKind.QuickFix.value, wanted):
            for diagnostic in params.context.diagnostics:
                if diagnostic.source == SOURCE:
                    found += self.quick_fixes(diagnostic, analysis)
        return found

    def quick_fixes(
        self, diagnostic: types.Diagnostic, analysis: Analysis
    ) -> list[types.CodeAction]:
        """The fix that a diagnostic carries, and a comment that switches it off."""
        data = _raw(diagnostic.data)
        if not isinstance(data, Mapping) or data.get("version") != analysis.version:
            return []  # of a text that is no longer there
        found = []
        fix = data.get("fix")
        if isinstance(fix, Mapping):
            with contextlib.suppress(KeyError, TypeError, ValueError):
                safe = fix["applicability"] == "safe"
                found.append(
                    types.CodeAction(
                        f"{fix['message']}{'' if safe else ' (unsafe)'}",
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic],
                        is_preferred=safe,
                        edit=self.edit(analysis.version, text_edits(fix)),
                    )
                )
        comment = self.comment(diagnostic, data, analysis)
        if comment:
            found.append(
                types.CodeAction(
                    f"Ignore {diagnostic.code} ({data.get('name')}) on this line",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    edit=self.edit(analysis.version, comment),
                )
            )
        return found

    def comment(
        self, diagnostic: types.Diagnostic, data: Mapping[str, object], analysis: Analysis
    ) -> list[Change]:
        """The edit that writes a suppression comment; none where no comment can."""
        document = analysis.document
        if isinstance(document, Notebook):
            document = document.program_with(_number(data.get("cell"))) or document
        items = [
            item
            for item in analysis.reported
            if item.finding.code == diagnostic.code
            and item.finding.place.span.row == data.get("row")
            and item.finding.place.cell == data.get("cell")
            and item.finding.place.path == document.path
            and item.finding.code not in ("DST000", "DST001")
            and item.noqa_row is not None
        ]
        if not items or analysis.session is None:
            return []
        try:
            edits = comments(document, items[:1], analysis.session.resolver)
            document_with(document, edits)
        except (NotWritten, ConfigError):
            return []
        return self.translator.edits(document, [relative(document, edit) for edit in edits])

    def edit(self, version: int, changes: Iterable[Change]) -> types.WorkspaceEdit:
        """An edit of a version of a file, or of the cells of a notebook, which have their own."""
        by_text: dict[str, list[types.TextEdit]] = {}
        for uri, change in changes:
            by_text.setdefault(uri, []).append(change)
        workspace = self.client_capabilities.workspace
        if workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes:
            return types.WorkspaceEdit(
                document_changes=[
                    types.TextDocumentEdit(
                        types.OptionalVersionedTextDocumentIdentifier(
                            uri, None if uri in self.cells else version
                        ),
                        list(edits),
                    )
                    for uri, edits in by_text.items()
                ]
            )
        return types.WorkspaceEdit(changes=by_text)

    async def fix_all(self, uri: str) -> types.WorkspaceEdit | None:
        """All safe fixes together, proven as ``distlint fix`` proves them."""
        path = self.path_of(uri)
        if path is None:
            return None
        result = await self.run(lambda: self.desk.repaired(path))
        if result is None:
            return None
        before, after, version = result
        if self.versions.get(path) != version:
            return None  # of a text that is no longer there
        edits = list(_differences(before, after))
        return self.edit(version, self.translator.edits(before, edits)) if edits else None


def make() -> Server:
    """The server with all that it can do."""
    server = Server()
    _synchronise(server)
    _report(server)
    _explain(server)
    _act(server)
    return server


def _synchronise(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        # it warns of questions that are taken back when they have been answered
        logging.getLogger("pygls.protocol.json_rpc").setLevel(logging.ERROR)
        _keep_no_texts(server.workspace)
        server.initial = _raw(params.initialization_options)
        gc.freeze()
        gc.disable()  # a sixth of the time of an analysis; `work` collects in between

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await server.read_settings()
        await server.register()

    @server.feature(types.SHUTDOWN)
    def shutdown(*_: object) -> None:
        server.dirty.clear()
        if server.working is not None:
            server.working.cancel()
        server.engine.shutdown(wait=False, cancel_futures=True)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = _path(document.uri)
        if path is not None and _is_ours(document.language_id, path, document.text):
            server.uris[path] = document.uri
            server.edited(path, document.text, document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        path = _path(params.text_document.uri)
        if path is None or path not in server.texts:  # the JSON of a notebook, perhaps
            return
        text = server.texts[path]
        for change in params.content_changes:
            text = changed_text(text, change, server.translator.columns)
        server.edited(path, text, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        path = _path(params.text_document.uri)
        if path is not None and path.suffix == ".toml":
            server.desk.reset()
            server.mark_all()
        elif path is not None:
            await server.spread(server.desk.lookers, path)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    async def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        path = _path(params.notebook_document.uri)
        if path is not None:
            server.arranged(path, Sheet.opened(params))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        path = _path(params.notebook_document.uri)
        if path in server.sheets:
            sheet = server.sheets[path]
            server.clear(sheet.change(params, server.translator.columns))
            server.arranged(path, sheet)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    async def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        path = _path(params.notebook_document.uri)
        if path in server.sheets:
            server.put_away(path)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        await server.read_settings(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        await server.read_settings()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files(params: types.DidChangeWatchedFilesParams) -> None:
        concern = False
        for change in params.changes:
            path = _path(change.uri)
            if path is None:
                continue
            if path.suffix == ".json" and not server.desk.is_decided_by(path):
                continue  # jobs write many, and only a baseline matters
            if path.suffix != ".py" or change.type != types.FileChangeType.Changed:
                server.desk.reset()  # also what imports lead to
                concern = True
            elif path not in server.uris:
                server.desk.changed_on_disk(path)
                concern = True
        if concern:
            server.told.clear()
            server.mark_all()


def _report(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier=SOURCE
        ),
    )
    async def diagnostic(
        params: types.DocumentDiagnosticParams,
    ) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
        uri = params.text_document.uri
        analysis = None if uri in server.cells else await server.at_once(uri)
        if analysis is None:  # what is in cells is pushed
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        result = str(analysis.serial)
        if result == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result)
        return types.RelatedFullDocumentDiagnosticReport(
            items=server.diagnostics(analysis), result_id=result
        )


def _explain(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri

        def text_of(analysis: Analysis) -> str:
            cell = server.cell_of(uri)
            lines = lines_of(analysis.document, cell)
            row, column = server.translator.columns.place(lines, params.position)
            tracer = partial(server.desk.traces, analysis, cell)
            return hover.text(analysis, cell, row, column, tracer)

        text = await server.told_of(uri, text_of)
        if text is None:
            return None
        markup = types.MarkupContent(types.MarkupKind.Markdown, text)
        return types.Hover(markup) if text else None

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        uri = params.text_document.uri

        def hints_of(analysis: Analysis) -> list[types.InlayHint] | None:
            path, cell = analysis.document.path, server.cell_of(uri)
            if not server.options_of(path).inlay_hints:
                return None
            lines = lines_of(analysis.document, cell)
            columns = server.translator.columns
            reached = hover.reached(server.desk.traces(analysis, cell, None), path, cell)
            first, last = params.range.start.line + 1, params.range.end.line + 1
            return [
                types.InlayHint(
                    columns.position(lines, span.end_row, span.end_column), who, padding_left=True
                )
                for span, who in sorted(reached.items())
                if first <= span.end_row <= last
            ]

        return await server.told_of(uri, hints_of)


def _act(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(
            code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL, FIX_ALL_CELLS],
            resolve_provider=True,
        ),
    )
    async def act(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        uri = params.text_document.uri
        analysis = await server.settled(uri)
        if analysis is None:
            return None
        found = server.actions(params, analysis)
        fixable = any(
            item.finding.fix and item.finding.fix.applicability == "safe"
            for item in analysis.reported
        )
        kind = FIX_ALL_CELLS if uri in server.cells else FIX_ALL  # one cell is none by itself
        if fixable and _asked(kind, params.context.only):
            action = types.CodeAction("distlint: apply all safe fixes", kind=kind)
            if _resolves(server.client_capabilities):
                action.data = {"uri": uri}
            else:
                action.edit = await server.fix_all(uri)
            if action.data or action.edit:
                found.append(action)
        return found

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        data = _raw(action.data)
        if action.edit is None and isinstance(data, Mapping):
            action.edit = await server.fix_all(str(data.get("uri")))
        return action


def _keep_no_texts(workspace: Workspace) -> None:
    """Leave what is edited to us: the library parts lines at form feeds, and then moves the ranges
    that it hands on to where it takes them to be."""
    for method in ("update_text_document", "update_notebook_document"):
        setattr(workspace, method, lambda *_: None)


def _resolves(capabilities: types.ClientCapabilities) -> bool:
    """Does the editor ask for the edit of an action only once it was chosen?"""
    text = capabilities.text_document
    support = text.code_action.resolve_support if text and text.code_action else None
    return support is not None and "edit" in support.properties


def _asked(kind: str, only: object) -> bool:
    """Is a kind of action wanted? A kind stands for all below it."""
    if not isinstance(only, (list, tuple)) or not only:
        return True
    kinds = [getattr(each, "value", each) for each in only]
    return any(kind == each or kind.startswith(f"{each}.") for each in kinds)


def _path(uri: str | None) -> Path | None:
    """The file of a URI; None for what is no file."""
    if not uri or not uri.startswith("file:"):
        return None
    name = uris.to_fs_path(uri)
    return Path(os.path.abspath(name)) if name else None


def _is_ours(language: str, path: Path, text: str) -> bool:
    """Is a text Python, or may it configure or start a training?"""
    if language == "python":
        return True
    found = kind_of(path, text[:256].encode("utf-8", "replace"))
    return found is not None and found != "python"


def _differences(before: Document, after: Document) -> Iterator[Edit]:
    """What makes one document another: edits of its lines, of a notebook in each cell."""
    if isinstance(before, Notebook) and isinstance(after, Notebook):
        for cell, other in zip(before.every_cell, after.every_cell, strict=True):
            for edit in difference(cell.source, other.source):
                yield replace(edit, cell=cell.number)
    else:
        yield from difference(before.text, after.text)


def _on_disk(path: Path, text: str) -> bool:
    """Is a text saved as it is?"""
    try:
        return path.read_bytes() == Document.of_text(text, path).data
    except OSError:
        return False


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _raw(value: object) -> object:
    """JSON as plain tables and lists, in whatever shape the protocol's library hands it on."""
    if hasattr(value, "_asdict"):
        return {key: _raw(item) for key, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: _raw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_raw(item) for item in value]
    return value


def _one_thread() -> ThreadPoolExecutor:
    before = threading.stack_size(STACK)
    try:
        engine = ThreadPoolExecutor(max_workers=1, thread_name_prefix="distlint")
        engine.submit(lambda: None).result()  # it is made now, with this stack
    finally:
        threading.stack_size(before)
    return engine
