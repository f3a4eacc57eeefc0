"""The protocol: what the editor tells and asks, and who does it.

Analyses run in an engine, one job at a time, so that the protocol is answered meanwhile: in a
thread, or in a process if they take long. An edit marks its file; an engine that is free takes the
file that was edited last, in its newest version. What was found in a version that is no longer
there is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import Workspace

from distlint import __version__
from distlint.engine.errors import ConfigError, Superseded
from distlint.engine.ignores import comments, document_with
from distlint.engine.settings import Overrides
from distlint.engine.writing import NotWritten
from distlint.server import hover, options
from distlint.server.columns import Columns
from distlint.server.columns import changed as changed_text
from distlint.server.engines import LARGE, Engine, Failure, ProcessEngine, ThreadEngine
from distlint.server.notebooks import SYNCHRONISED, NotebookState
from distlint.server.open_files import Analysis, Content, OpenFiles, TooLong, decisive
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
COLLECTED_WHEN_IDLE, MOST_UNCOLLECTED = 8, 40
"""Files that are analysed before garbage is collected: with nothing to do, and with work left."""
PATIENCE = 5.0
"""Seconds that an editor may take to tell its settings."""
ANSWER_WITHIN = 1.0
"""Seconds after which what is asked about a file is answered with what is known so far."""
PAUSE = 0.2
"""Seconds without an edit after which a file is analysed that takes long."""

T = TypeVar("T")

Question = Callable[[Analysis], Callable[[OpenFiles, Path, int], T]]
"""What an engine is to do about a version of a file, which can be sent to a process."""


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
        self.in_thread = ThreadEngine()
        self.in_process = ProcessEngine()
        self.heavy: set[Path] = set()
        """Open files that are analysed in the process."""
        self.options: dict[Path | None, Options] = {None: Options()}
        self.initial: object = None
        self.uris: dict[Path, str] = {}
        self.versions: dict[Path, int] = {}
        self.texts: dict[Path, str] = {}
        """Those of open files."""
        self.notebooks: dict[Path, NotebookState] = {}
        self.cells: dict[str, Path] = {}
        """The notebooks of cells, by the URI of the cell."""
        self.analyses: dict[Path, Analysis] = {}
        self.glances: dict[Path, Analysis] = {}
        """What could be said at once of files whose analysis goes on."""
        self.dirty: dict[Path, Mark] = {}
        """Files to be analysed, the most urgent last."""
        self.working: dict[Engine, asyncio.Task[None]] = {}
        self.spreading: set[asyncio.Task[None]] = set()
        self.unanswered: set[Path] = set()
        """Files of which more was asked than was known then."""
        self.background: dict[Path, asyncio.Task[Any]] = {}
        """Work on questions that were answered before it ended, the last one of each file."""
        self.serials = count(1)
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
            self.in_thread.open_files.read,
            related=self.pulls or bool(publish and publish.related_information),
        )

    def uri_of(self, path: Path, cell: int = 0) -> str:
        if cell and path in self.notebooks and cell <= len(self.notebooks[path].cells):
            return self.notebooks[path].cells[cell - 1]
        return self.uris.get(path) or uris.from_fs_path(str(path)) or ""

    def path_of(self, uri: str) -> Path | None:
        """The file of a text, or the notebook of a cell."""
        return self.cells.get(uri) or _path(uri)

    def cell_of(self, uri: str) -> int:
        """The number of a cell; 0 of a file."""
        path = self.cells.get(uri)
        return self.notebooks[path].number(uri) if path is not None else 0

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
        self.post(path, text, version)

    def post(self, path: Path, content: Content, version: int) -> None:
        """Pass the new text of a file on, and analyse it."""
        size = len(content) if isinstance(content, str) else sum(len(text) for _, text in content)
        if size > LARGE:
            self.heavy.add(path)
        for engine in self.engines:
            engine.post(path, content, version)
        self.mark(path, own=True)

    def arranged(self, path: Path, notebook: NotebookState) -> None:
        """A notebook was opened or changed."""
        self.notebooks[path] = notebook
        self.uris[path] = notebook.uri
        self.cells = {uri: owner for uri, owner in self.cells.items() if owner != path}
        self.cells |= dict.fromkeys(notebook.cells, path)
        self.versions[path] = notebook.version
        self.post(path, notebook.sources, notebook.version)

    def put_away(self, path: Path) -> None:
        """A notebook was closed."""
        notebook = self.notebooks.pop(path)
        self.cells = {uri: owner for uri, owner in self.cells.items() if owner != path}
        self.drop(path)
        self.clear(notebook.cells)

    def clear(self, texts: Iterable[str]) -> None:
        """Take back what was said about texts that are no longer there."""
        for uri in texts:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def closed(self, uri: str) -> None:
        path = _path(uri)
        if path is None or path not in self.texts:
            return
        unsaved = not _on_disk(path, self.texts[path])
        self.drop(path)
        if not self.pulls:
            self.clear([uri])
        if unsaved:  # those who import it get what is on the disk again
            self.mark_all()

    def drop(self, path: Path) -> None:
        """Forget a file that was closed; the process ends with the last file that needs it."""
        tables = (self.uris, self.versions, self.texts, self.analyses, self.glances, self.dirty)
        for table in tables:
            table.pop(path, None)
        self.unanswered.discard(path)
        self.heavy.discard(path)
        if path in self.background:
            self.background.pop(path).cancel()
        for engine in self.engines:
            engine.post(path, None)
        if not self.heavy:
            self.in_process.close()
        self.announce()

    def mark(self, path: Path, *, own: bool) -> None:
        """A file is to be analysed anew: first if its own text has changed, else after others."""
        before = self.dirty.pop(path, None)
        self.glances.pop(path, None)
        mark = Mark(own or (before is not None and before.own))
        if mark.own:
            self.dirty[path] = mark
        else:
            self.dirty = {path: mark, **self.dirty}
        self.start(self.engine_of(path))

    def start(self, engine: Engine) -> None:
        """Have an engine analyse what is to be analysed, if it does not already."""
        if engine not in self.working or self.working[engine].done():
            self.working[engine] = asyncio.get_running_loop().create_task(self.work(engine))

    def mark_all(self, but: Path | None = None) -> None:
        for path in self.uris:
            if path != but:
                self.mark(path, own=False)
        self.ask_to_pull()

    def announce(self) -> None:
        self.news.set()
        self.news = asyncio.Event()

    # --- the work

    @property
    def engines(self) -> tuple[Engine, ...]:
        return (self.in_thread, self.in_process)

    def engine_of(self, path: Path) -> Engine:
        return self.in_process if path in self.heavy else self.in_thread

    async def work(self, engine: Engine) -> None:
        await self.configured.wait()
        while (path := self.next_for(engine)) is not None:
            self.analysed += engine is self.in_thread
            mark = self.dirty[path]
            try:
                await self.analyse(path, mark, engine)
                newer = self.dirty.get(path)
                if mark.own and path in self.uris and not (newer and newer.own):
                    await self.spread(OpenFiles.concerned, path)
            except Superseded:
                continue  # the file is still dirty
            except TooLong:
                self.move(path)
            except Exception as error:  # a mistake of ours ends one analysis and not the server
                self.failed(path, error)
                self.analyses.pop(path, None)
                self.done(path, mark)
            if self.analysed >= (MOST_UNCOLLECTED if self.dirty else COLLECTED_WHEN_IDLE):
                self.analysed = 0
                await self.in_thread.run(gc.collect)

    def next_for(self, engine: Engine) -> Path | None:
        """The file that an engine is to analyse next: the one edited last."""
        own = (path for path in reversed(self.dirty) if self.engine_of(path) is engine)
        return next(own, None)

    def move(self, path: Path) -> None:
        """A file takes too long for the thread."""
        if path in self.versions:
            self.heavy.add(path)
            self.start(self.in_process)

    async def analyse(self, path: Path, mark: Mark, engine: Engine) -> None:
        """Look at a file, unless it is marked anew meanwhile."""
        if engine is self.in_process:
            await asyncio.sleep(PAUSE)
            if self.dirty.get(path) is not mark:
                return
        patience = self.options_of(path).patience
        glance = await engine.ask(OpenFiles.glance, path, patience)
        if self.dirty.get(path) is mark and glance is not None:
            self.glances[path] = glance = self.numbered(glance)
            self.publish(path, glance)
            self.announce()
        analysis = await engine.ask(OpenFiles.check, path)
        for text in await engine.ask(OpenFiles.announced):
            self.inform(text)
        if self.dirty.get(path) is mark and analysis is not None:
            self.analyses[path] = analysis = self.numbered(analysis)
            if glance is None or not glance.says_the_same_as(analysis):
                self.publish(path, analysis)
                if glance is not None or path in self.unanswered:
                    self.ask_to_pull()
            self.unanswered.discard(path)
        self.done(path, mark)
        if await engine.ask(OpenFiles.noticed):
            self.mark_all(but=path)

    def numbered(self, analysis: Analysis) -> Analysis:
        return replace(analysis, serial=next(self.serials))

    def done(self, path: Path, mark: Mark) -> None:
        if self.dirty.get(path) is mark:
            del self.dirty[path]
            self.glances.pop(path, None)
        self.announce()

    async def spread(
        self, among: Callable[[OpenFiles, Path, Collection[Path]], list[Path]], path: Path
    ) -> None:
        """Mark the open files that a change of a file concerns, as ``among`` finds them."""
        heavy = frozenset(self.heavy)
        if heavy - {path}:  # the process may be busy for long
            task = asyncio.get_running_loop().create_task(
                self.spread_to(self.in_process, among, path, heavy)
            )
            self.spreading.add(task)
            task.add_done_callback(self.spreading.discard)
        await self.spread_to(self.in_thread, among, path, frozenset(self.versions) - heavy)

    async def spread_to(
        self,
        engine: Engine,
        among: Callable[[OpenFiles, Path, Collection[Path]], list[Path]],
        path: Path,
        others: Collection[Path],
    ) -> None:
        concerned = await engine.ask(among, path, others)
        for other in concerned:
            if other in self.uris:
                self.mark(other, own=False)
        if concerned:
            self.ask_to_pull()

    def failed(self, path: Path, error: Exception) -> None:
        kind = error.kind if isinstance(error, Failure) else type(error).__name__
        self.say(f"{path}: internal error: {kind}: {error}")
        self.log(error.detail if isinstance(error, Failure) else Failure.of(error).detail)

    async def settled(self, uri: str) -> Analysis | None:
        """What was found in the newest version of a file, as soon as it is known."""
        path = self.path_of(uri)
        if path is None:
            return None
        while path in self.dirty:
            await self.news.wait()
        return self.analyses.get(path)

    def glanced(self, uri: str) -> Analysis | None:
        """What could be said at once of the newest version of a file."""
        path = self.path_of(uri)
        return None if path is None else self.glances.get(path)

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

    async def due(self, path: Path | None) -> float:
        """Seconds after which a question about a file is answered with what is known."""
        await self.configured.wait()
        return ANSWER_WITHIN if path is None else max(ANSWER_WITHIN, self.options_of(path).patience)

    async def by_now(self, uri: str) -> Analysis | None:
        """What is known of the newest version of a file when an answer is due."""
        due = await self.due(self.path_of(uri))
        try:
            return await asyncio.wait_for(self.settled(uri), due)
        except asyncio.TimeoutError:
            return self.glanced(uri)

    async def answer(self, uri: str, question: Question[T]) -> T | None:
        """What an engine says of the newest version of a text.

        Raises:
            asyncio.TimeoutError: when an answer is due; the work continues for the next question.
        """
        path = self.path_of(uri)
        if path is None:
            return None
        due = await self.due(path)
        task = asyncio.get_running_loop().create_task(self.settled_answer(uri, path, question))
        try:
            await asyncio.wait({task}, timeout=due)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return task.result()
        if path not in self.versions:
            task.cancel()
            return None
        earlier = self.background.pop(path, None)
        if earlier is not None:
            earlier.cancel()
        self.background[path] = task
        self.unanswered.add(path)
        raise asyncio.TimeoutError

    async def settled_answer(self, uri: str, path: Path, question: Question[T]) -> T | None:
        while True:
            analysis = await self.settled(uri)
            if analysis is None:
                return None
            try:
                job = question(analysis)
                return await self.engine_of(path).ask(job, path, analysis.version)
            except Superseded:
                continue  # an edit comes first
            except TooLong:
                self.move(path)

    # --- what is told

    def publish(self, path: Path, analysis: Analysis) -> None:
        self.tell(analysis)
        if path in self.notebooks:  # editors do not ask for the cells of notebooks
            for number, uri in enumerate(self.notebooks[path].cells, 1):
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
        self.reset(
            {folder: each.overrides for folder, each in found.items() if folder is not None},
            found.get(None, Options()).overrides,
        )
        self.configured.set()
        self.mark_all()

    def reset(
        self, folders: Mapping[Path, Overrides] | None = None, overrides: Overrides | None = None
    ) -> None:
        """Settings, or files that tell about settings, have changed."""
        for engine in self.engines:
            engine.reset(folders, overrides)

    def decides(self, path: Path) -> bool:
        """Is it one of the files that decide about the settings of those that are open?"""
        return self.in_thread.open_files.is_decided_by(path) or any(
            path in decisive(each, self.analyses[each].settings)
            for each in self.heavy
            if each in self.analyses
        )

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
                for engine in self.engines:
                    engine.watch(any(each.id == FILES for each in wanted))

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
        if not items or analysis.resolver is None:
            return []
        try:
            edits = comments(document, items[:1], analysis.resolver)
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
        result = await self.repaired(path)
        if result is None:
            return None
        before, after, version = result
        if self.versions.get(path) != version:
            return None  # of a text that is no longer there
        edits = list(_differences(before, after))
        return self.edit(version, self.translator.edits(before, edits)) if edits else None

    async def repaired(self, path: Path) -> tuple[Document, Document, int] | None:
        while True:
            try:
                return await self.engine_of(path).ask(OpenFiles.repaired, path)
            except TooLong:
                self.move(path)

    def close(self) -> None:
        """End all work, whatever it is doing."""
        self.dirty.clear()
        for task in self.working.values():
            task.cancel()
        for engine in self.engines:
            engine.close()


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
        server.close()

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
            server.reset()
            server.mark_all()
        elif path is not None:
            await server.spread(OpenFiles.lookers, path)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    async def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        path = _path(params.notebook_document.uri)
        if path is not None:
            server.arranged(path, NotebookState.opened(params))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        path = _path(params.notebook_document.uri)
        if path in server.notebooks:
            notebook = server.notebooks[path]
            server.clear(notebook.change(params, server.translator.columns))
            server.arranged(path, notebook)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    async def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        path = _path(params.notebook_document.uri)
        if path in server.notebooks:
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
            if path.suffix == ".json" and not server.decides(path):
                continue  # jobs write many, and only a baseline matters
            if path.suffix != ".py" or change.type != types.FileChangeType.Changed:
                server.reset()  # also what imports lead to
                concern = True
            elif path not in server.uris:
                for engine in server.engines:
                    engine.changed_on_disk(path)
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

        def where(analysis: Analysis) -> tuple[int, int, int]:
            cell = server.cell_of(uri)
            lines = lines_of(analysis.document, cell)
            row, column = server.translator.columns.place(lines, params.position)
            return cell, row, column

        try:
            text = await server.answer(uri, lambda found: partial(hover.answer, where=where(found)))
        except asyncio.TimeoutError:
            found = server.glanced(uri)
            text = hover.so_far(found, *where(found)) if found else hover.UNFINISHED
        if text is None:
            return None
        markup = types.MarkupContent(types.MarkupKind.Markdown, text)
        return types.Hover(markup) if text else None

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        uri = params.text_document.uri

        path, cell = server.path_of(uri), server.cell_of(uri)
        await server.configured.wait()
        if path is None or not server.options_of(path).inlay_hints:
            return None
        try:
            reached = await server.answer(uri, lambda _: partial(hover.hints, cell=cell))
        except asyncio.TimeoutError:  # the editor is asked to come back
            return None
        analysis = server.analyses.get(path)
        if reached is None or analysis is None:
            return None
        lines = lines_of(analysis.document, cell)
        columns = server.translator.columns
        first, last = params.range.start.line + 1, params.range.end.line + 1
        return [
            types.InlayHint(
                columns.position(lines, span.end_row, span.end_column), who, padding_left=True
            )
            for span, who in sorted(reached.items())
            if first <= span.end_row <= last
        ]


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
        analysis = await server.by_now(uri)
        if analysis is None:
            return None
        found = server.actions(params, analysis)
        fixable = any(
            item.finding.fix and item.finding.fix.applicability == "safe"
            for item in analysis.reported
        )
        kind = FIX_ALL_CELLS if uri in server.cells else FIX_ALL  # one cell is none by itself
        if fixable and _asked(kind, params.context.only):
            action = types.CodeAction("distlint: Apply all safe fixes", kind=kind)
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
