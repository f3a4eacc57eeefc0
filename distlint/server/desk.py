"""The engine at work on open files: in one thread, but for what only takes note of a change."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from distlint.engine import documents
from distlint.engine.baseline import applied
from distlint.engine.check import Session, is_python
from distlint.engine.config_file import FILE_NAME, PYPROJECT
from distlint.engine.discovery import Discovered
from distlint.engine.errors import ConfigError, Superseded
from distlint.engine.run import merge
from distlint.engine.settings import Overrides, Resolver, Settings
from distlint.server.disk import Disk, Stamp, stamp
from distlint.source.document import Document
from distlint.source.notebook import Notebook
from distlint.source.report import Notice, Report, Reported
from distlint.source.scan import kind
from distlint.source.settings.kinds import is_about_training
from distlint.source.trace import Trace

if TYPE_CHECKING:
    from distlint.analyzer.project import Module, Project

_serials = count(1)
_named: WeakKeyDictionary[Module, tuple[str, ...]] = WeakKeyDictionary()

Content = str | tuple[tuple[int, str], ...]
"""The text of a file, or the code cells of a notebook by their numbers."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found in one version of an open file."""

    document: Document
    version: int
    settings: Settings | None
    session: Session | None
    reported: tuple[Reported, ...] = ()
    notices: tuple[Notice, ...] = ()
    problem: str = ""
    """Why the configuration cannot be used, if so."""
    serial: int = field(default_factory=lambda: next(_serials))

    def says_the_same_as(self, other: Analysis) -> bool:
        mine, theirs = (
            (each.version, each.reported, each.notices, each.problem) for each in (self, other)
        )
        return mine == theirs


@dataclass(slots=True)
class _Open:
    document: Document
    version: int
    content: Content


class Desk:
    """Open files and the projects that they belong to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._posted: dict[Path, tuple[Content, int] | None] = {}
        self._stale: set[Path] = set()
        self._reset = False
        self._folders: Mapping[Path, Overrides] = {}
        self._overrides = Overrides(runs_rules=True)
        self.announcements: list[str] = []
        """What is to be said about rules of projects that are run."""
        self._open: dict[Path, _Open] = {}
        self._buffers: dict[Path, Document] = {}
        self._sessions: dict[Path, Session] = {}
        self._stamps: dict[Path, dict[Path, Stamp]] = {}
        self._traces: dict[tuple[int, str, str | None], list[Trace]] = {}
        self._disks: dict[Path, Disk] = {}
        self._noticed = False
        self._lookers: set[Path] = set()
        self._took: dict[Path, float] = {}
        """Seconds that the last whole analysis of a file has taken."""
        self.watched = False
        """Does the editor tell of files that change on the disk?"""

    def post(self, path: Path, content: Content | None, version: int = 0) -> None:
        """A file was opened or edited, or closed (``content`` is None)."""
        with self._lock:
            self._posted[path] = None if content is None else (content, version)

    def changed_on_disk(self, path: Path) -> None:
        with self._lock:
            self._stale.add(path)

    def is_decided_by(self, path: Path) -> bool:
        """Is it one of the files that decide about the settings of those that are open?"""
        return any(path in stamps for stamps in tuple(self._stamps.values()))

    def reset(
        self, folders: Mapping[Path, Overrides] | None = None, overrides: Overrides | None = None
    ) -> None:
        """Settings, or files that tell about settings, have changed."""
        with self._lock:
            self._reset = True
            self._folders = self._folders if folders is None else folders
            self._overrides = overrides or self._overrides

    def glance(self, path: Path, patience: float) -> Analysis | None:
        """What can be said at once of an open file, if a whole analysis takes longer than that.

        What the source alone tells is said of this text, the rest as it was of an earlier one.

        Raises:
            Superseded: if another edit comes meanwhile.
        """
        self._take()
        if path not in self._open or self._took.get(path, 0.0) <= patience:
            return None
        return self._analysis(path, glancing=True)

    def check(self, path: Path) -> Analysis | None:
        """The findings in an open file; None when it was closed meanwhile.

        Raises:
            Superseded: if another edit comes while the file is analysed.
        """
        self._take()
        if path not in self._open:
            self._took.pop(path, None)
            return None
        start = time.monotonic()
        analysis = self._analysis(path)
        self._took[path] = time.monotonic() - start
        return analysis

    def _analysis(self, path: Path, *, glancing: bool = False) -> Analysis | None:
        opened = self._open[path]
        document, version = opened.document, opened.version
        try:
            session = self._session(path)
            if not self.watched and self._is_outdated(session, path):
                session = self._session(path)
            settings = session.resolver.of_file(path)
            session.proceed = self._look_up
            try:
                report = self._report(document, session, settings, glancing=glancing)
            finally:
                session.proceed = None
        except ConfigError as error:
            return Analysis(document, version, None, None, problem=str(error))
        if report is None:
            return None
        if not self.watched:
            self._disks[self._folder_of(path)].look_at(session)
        return Analysis(document, version, settings, session, report.reported, report.notices)

    def noticed(self) -> bool:
        """Were files found to have changed on the disk, since this was asked last?"""
        noticed, self._noticed = self._noticed, False
        return noticed

    def concerned(self, path: Path) -> list[Path]:
        """The other open files that import a file, at any remove."""
        found: list[Path] = []
        if path in self._open and not is_python(self._open[path].document):
            return found
        for other in self._open:
            if other != path and is_python(self._open[other].document):
                try:
                    session = self._session(other)
                    project = session.project(session.resolver.of_file(other))
                    if path in _imports(project, other):
                        found.append(other)
                except ConfigError:
                    continue
        return found

    def lookers(self, path: Path) -> list[Path]:
        """The other open files whose findings rest on what lies beside them, such as a DeepSpeed
        file that a launch line names."""
        return [other for other in self._open if other != path and other in self._lookers]

    def repaired(self, path: Path) -> tuple[Document, Document, int] | None:
        """An open file before and after all safe fixes that prove right, and its version."""
        from distlint.engine.fix import Repairman

        analysis = self._checked(path)
        if analysis is None or analysis.session is None or analysis.settings is None:
            return None
        repairman = Repairman(analysis.session, analysis.settings, frozenset({"safe"}))
        try:
            proposed = [item.finding for item in analysis.reported]
            after = repairman.repaired(analysis.document, proposed)
        finally:
            analysis.session.forget(path)
        return analysis.document, after, analysis.version

    def traces(self, analysis: Analysis, cell: int, function: str | None) -> list[Trace]:
        """What each group of ranks does in the script, or in one of its functions.

        In a notebook, that is the program of the cell.

        Raises:
            Superseded: if an edit comes meanwhile.
        """
        from distlint.engine.tracing import trace_document

        self._take()
        now = self._buffers.get(analysis.document.path)
        if now is None or not is_python(now):
            return []
        if now.text != analysis.document.text:
            raise Superseded
        document, session = analysis.document, analysis.session
        if isinstance(document, Notebook):
            document = document.program_with(cell) or document
            if document.number and session is not None:
                session = Session(session.resolver, self._buffers)
        key = (analysis.serial, document.text, function)
        if key not in self._traces:
            if len(self._traces) > 32:
                self._traces.clear()
            found: list[Trace] = []
            if session is not None:
                session.proceed = self._look_up
                try:
                    found = trace_document(document, function, None, session)
                except ConfigError:  # it does not parse, or the function is none of the module's
                    found = []
                finally:
                    session.proceed = None
            self._traces[key] = found
        return self._traces[key]

    def read(self, path: Path) -> Document:
        """A file as it is, saved or not.

        Raises:
            OSError, DocumentError: if it cannot be read.
        """
        return self._buffers.get(path) or documents.read(path)

    def _checked(self, path: Path) -> Analysis | None:
        """The findings in an open file, however often it is edited meanwhile."""
        while True:
            try:
                return self.check(path)
            except Superseded:
                continue

    def _look_up(self) -> None:
        """What has changed meanwhile comes first."""
        if self._posted or self._stale or self._reset:
            raise Superseded

    def _is_outdated(self, session: Session, path: Path) -> bool:
        """Has the disk changed so that the session has to begin anew? It forgets single files."""
        folder = self._folder_of(path)
        disk = self._disks[folder]
        changed = disk.changed()
        for each in changed:
            session.forget(each)
        leads_elsewhere = disk.leads_elsewhere(session)
        if leads_elsewhere:
            del self._sessions[folder]
        self._noticed |= bool(changed) or leads_elsewhere
        return leads_elsewhere

    def _report(
        self, document: Document, session: Session, settings: Settings, *, glancing: bool
    ) -> Report | None:
        path = document.path
        if any(pattern.names(path) for pattern in settings.exclude):
            return merge([], Discovered())
        if settings.max_file_size and len(document.code) > settings.max_file_size:
            return merge([], Discovered())
        if not is_python(document) and not _is_about_training(document):
            return merge([], Discovered())
        look = session.glance if glancing else session.check_source
        result = look(document, settings)
        if result is None:
            return None
        looks = any(asked.is_of_a_content for asked in result.asked)
        (self._lookers.add if looks else self._lookers.discard)(path)
        report = merge([result], Discovered())
        return applied(report, session.resolver) if session.resolver.has_baseline() else report

    def _take(self) -> None:
        """Make what was posted since the last time what is read from now on."""
        with self._lock:
            posted, self._posted = self._posted, {}
            stale, self._stale = self._stale, set()
            reset, self._reset = self._reset, False
        for path, content in posted.items():
            known = path in self._open or os.path.exists(path)
            if content is None:
                self._open.pop(path, None)
                self._buffers.pop(path, None)
                reset |= not os.path.exists(path)
            else:
                text, version = content
                document = _document(text, path)
                same = path in self._open and self._open[path].content == text
                self._open[path] = _Open(document, version, text)
                self._buffers[path] = document
                reset |= not known
                if same:
                    continue
            stale.add(path)
        if reset:
            self._sessions.clear()
            self._stamps.clear()
            self._traces.clear()
        for session in self._sessions.values():
            for path in stale:
                session.forget(path)

    def _session(self, path: Path) -> Session:
        folder = self._folder_of(path)
        if any(stamp(file) != was for file, was in self._stamps.get(folder, {}).items()):
            self._sessions.pop(folder, None)
            self._noticed = True
        if folder not in self._sessions:
            overrides = self._folders.get(folder, self._overrides)
            resolver = Resolver(overrides, cwd=folder, announce=self.announcements.append)
            self._sessions[folder] = Session(resolver, self._buffers, remembering=True)
            self._stamps[folder] = {}
            self._disks[folder] = Disk(self._buffers)
        session = self._sessions[folder]
        stamps = self._stamps[folder]
        for file in _decisive(path, None):
            if file not in stamps:
                stamps[file] = stamp(file)
        for file in _decisive(path, session.resolver.of_file(path)):
            if file not in stamps:
                stamps[file] = stamp(file)
        return session

    def _folder_of(self, path: Path) -> Path:
        inside = [folder for folder in self._folders if folder in path.parents]
        return max(inside, key=lambda folder: len(folder.parts), default=path.parent)


def _is_about_training(document: Document) -> bool:
    """Would a file that is no Python be found in its folder?"""
    return is_about_training(kind(document), document.path, document.data)


def _document(content: Content, path: Path) -> Document:
    if isinstance(content, str):
        return Document.of_text(content, path)
    return documents.screened(Notebook.of_cells(path, content))


def _decisive(path: Path, settings: Settings | None) -> Iterator[Path]:
    """The files, there or not, that decide about the settings of a file."""
    if settings is None:
        for folder in path.parents:
            yield folder / FILE_NAME
            yield folder / PYPROJECT
        return
    yield from settings.sources
    if settings.baseline is not None:
        yield settings.baseline
    yield from settings.rules
    yield from (entry for entry in settings.catalogue if isinstance(entry, Path))


def _imports(project: Project, start: Path) -> set[Path]:
    """The files of a project that a file imports, and what these import."""
    found: set[Path] = set()
    pending = [project.by_key(str(start))]
    while pending:
        module = pending.pop()
        for name in _named_in(module) if module is not None else ():
            path = project.find(name, module.path) if module is not None else None
            if path is not None and path not in found:
                found.add(path)
                pending.append(project.module(path))
    return found


def _named_in(module: Module) -> tuple[str, ...]:
    """What could be a module among all that a module imports."""
    from distlint.analyzer import ir

    if module not in _named:
        bindings = [
            binding
            for statement in module.statements()
            if isinstance(statement, ir.Import)
            for binding in statement.bindings
        ]
        names = [dotted for _, dotted, _ in bindings]
        names += [f"{d}{'' if d.endswith('.') else '.'}{attr}" for _, d, attr in bindings if attr]
        _named[module] = tuple(dict.fromkeys(names))
    return _named[module]
