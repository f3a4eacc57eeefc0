"""The engine at work on open files: in one thread, but for what only takes note of a change."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.project.project import Project

_named: WeakKeyDictionary[Module, tuple[str, ...]] = WeakKeyDictionary()

Content = str | tuple[tuple[int, str], ...]
"""The text of a file, or the code cells of a notebook by their numbers."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found in one version of an open file; it can be sent to another process."""

    document: Document
    version: int
    settings: Settings | None
    resolver: Resolver | None
    reported: tuple[Reported, ...] = ()
    notices: tuple[Notice, ...] = ()
    problem: str = ""
    """Why the configuration cannot be used, if so."""
    serial: int = 0
    """Given by the server: what an editor names when it asks again."""

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


class TooLong(BaseException):
    """An analysis exceeded the limit of its engine; no error, and handled by the server alone."""


class OpenFiles:
    """Open files and the projects that they belong to.

    Args:
        limit: CPU seconds that one analysis may take, if there is a limit.
        patient: whether an analysis continues when files change that it has not read.
    """

    def __init__(self, limit: float | None = None, *, patient: bool = False) -> None:
        self.limit = limit
        self.patient = patient
        self._lock = threading.Lock()
        self._posted: dict[Path, tuple[Content, int] | None] = {}
        self._stale: set[Path] = set()
        self._reset = False
        self._folders: Mapping[Path, Overrides] = {}
        self._overrides = Overrides(runs_rules=True)
        self._announcements: list[str] = []
        self._open: dict[Path, _Open] = {}
        self.buffers: dict[Path, Document] = {}
        self._sessions: dict[Path, Session] = {}
        self._stamps: dict[Path, dict[Path, Stamp]] = {}
        self._analyses: dict[Path, Analysis] = {}
        """What the last whole analysis of each open file has found."""
        self._traces: dict[tuple[Path, str, str | None], list[Trace]] = {}
        """By file, text and function; they hold until any file changes."""
        self._in_hand: tuple[Path, Session, float] | None = None
        """What is being analysed, and the CPU time at which that began."""
        self._disks: dict[Path, Disk] = {}
        self._noticed = False
        self._lookers: set[Path] = set()
        self._led_by: dict[Path, set[Path]] = {}
        """The files that the last analysis of an open file has found to lead to it."""
        self._took: dict[Path, float] = {}
        """Seconds that the last whole analysis of a file has taken."""
        self.watched = False

    def post(self, path: Path, content: Content | None, version: int = 0) -> None:
        """A file was opened or edited, or closed (``content`` is None)."""
        with self._lock:
            self._posted[path] = None if content is None else (content, version)

    def changed_on_disk(self, path: Path) -> None:
        with self._lock:
            self._stale.add(path)

    def watch(self, watched: bool) -> None:
        """Does the editor report files that change on the disk?"""
        self.watched = watched

    def is_decided_by(self, path: Path) -> bool:
        """Is it one of the files that decide about the settings of those that are open?"""
        return any(path in stamps for stamps in tuple(self._stamps.values()))

    def reset(
        self, folders: Mapping[Path, Overrides] | None = None, overrides: Overrides | None = None
    ) -> None:
        """Settings, or files that decide about settings, have changed."""
        with self._lock:
            self._reset = True
            self._folders = self._folders if folders is None else folders
            self._overrides = overrides or self._overrides

    def glance(self, path: Path, patience: float) -> Analysis | None:
        """What can be said at once of an open file, if a whole analysis takes longer than that.

        What the source alone shows is said of this text, the rest as it was of an earlier one.

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
            return None
        start = time.monotonic()
        analysis = self._analysis(path)
        self._took[path] = time.monotonic() - start
        if analysis is not None:
            self._analyses[path] = analysis
        return analysis

    def analysis_of(self, path: Path, version: int) -> Analysis:
        """The findings in a version of an open file, analysed again if they are not at hand.

        Raises:
            Superseded: if that is not the version of the file.
        """
        self._take()
        if path not in self._open or self._open[path].version != version:
            raise Superseded
        known = self._analyses.get(path)
        found = known if known is not None and known.version == version else self._analysis(path)
        if found is None:
            raise Superseded
        return found

    def _analysis(self, path: Path, *, glancing: bool = False) -> Analysis | None:
        opened = self._open[path]
        document, version = opened.document, opened.version
        try:
            session = self._session(path)
            if not self.watched and self._is_outdated(session, path):
                session = self._session(path)
            settings = session.resolver.of_file(path)
            with self._working_on(path, session):
                report = self._report(document, session, settings, glancing=glancing)
        except ConfigError as error:
            return Analysis(document, version, None, None, problem=str(error))
        if report is None:
            return None
        if not glancing:
            session.release()
        if not self.watched:
            self._disks[self._folder_of(path)].look_at(session)
        resolver = session.resolver
        return Analysis(document, version, settings, resolver, report.listed, report.notices)

    def noticed(self) -> bool:
        """Were files found to have changed on the disk, since this was asked last?"""
        noticed, self._noticed = self._noticed, False
        return noticed

    def announced(self) -> list[str]:
        """What is to be said about rules of projects that are run, since this was asked last."""
        announced = list(self._announcements)
        self._announcements.clear()
        return announced

    def concerned(self, path: Path, among: Collection[Path]) -> list[Path]:
        """The other open files, of those named, that import a file, at any remove.

        And those that it imports now or did before, where findings rest on what leads to a file.
        """
        found: list[Path] = []
        if path in self._open and not is_python(self._open[path].document):
            return found
        for other in among:
            if other in self._open and other != path and is_python(self._open[other].document):
                try:
                    session = self._session(other)
                    project = session.project(session.resolver.of_file(other))
                    if (
                        path in _imports(project, other)
                        or path in self._led_by.get(other, ())
                        or other in _imports(project, path)
                    ):
                        found.append(other)
                except ConfigError:
                    continue
        return found

    def lookers(self, path: Path, among: Collection[Path]) -> list[Path]:
        """The other open files, of those named, whose findings rest on what lies beside them,
        such as a DeepSpeed file that a launch line names."""
        return [other for other in among if other != path and other in self._lookers]

    def repaired(self, path: Path) -> tuple[Document, Document, int] | None:
        """An open file before and after all safe fixes that prove right, and its version."""
        from distlint.engine.fix import Repairman

        analysis = self.checked(path)
        if analysis is None or analysis.settings is None:
            return None
        session = self._session(path)
        repairman = Repairman(session, analysis.settings, frozenset({"safe"}))
        try:
            proposed = [item.finding for item in analysis.reported]
            after = repairman.repaired(analysis.document, proposed)
        finally:
            session.forget(path)
        return analysis.document, after, analysis.version

    def traces(self, analysis: Analysis, cell: int, function: str | None) -> list[Trace]:
        """What each group of ranks does in the script, or in one of its functions.

        In a notebook, that is the program of the cell.

        Raises:
            Superseded: if an edit comes meanwhile.
        """
        document = analysis.document
        if not is_python(document):
            return []
        if isinstance(document, Notebook):
            document = document.program_with(cell) or document
        key = (document.path, document.text, function)
        if key not in self._traces:
            if len(self._traces) > 32:
                self._traces.clear()
            self._traces[key] = self._traced(document, function)
        return self._traces[key]

    def _traced(self, document: Document, function: str | None) -> list[Trace]:
        from distlint.engine.tracing import trace_document

        path = document.path
        try:
            session = self._session(path)
            if isinstance(document, Notebook) and document.number:
                session = Session(session.resolver, self.buffers)
            with self._working_on(path, session):
                return trace_document(document, function, None, session)
        except ConfigError:  # it does not parse, or the module has no such function
            return []

    def read(self, path: Path) -> Document:
        """A file as it is, saved or not.

        Raises:
            OSError, DocumentError: if it cannot be read.
        """
        with self._lock:
            posted = self._posted.get(path)
        if posted is not None:
            return _document(posted[0], path)
        return self.buffers.get(path) or documents.read(path)

    def checked(self, path: Path) -> Analysis | None:
        """The findings in an open file, however often it is edited meanwhile."""
        while True:
            try:
                return self.check(path)
            except Superseded:
                continue

    @contextmanager
    def _working_on(self, path: Path, session: Session) -> Iterator[None]:
        self._in_hand = path, session, time.thread_time()
        session.proceed = self._look_up
        try:
            yield
        finally:
            session.proceed = None
            self._in_hand = None

    def _look_up(self) -> None:
        """Called by an analysis again and again: may it continue?

        Raises:
            Superseded: after a change.
            TooLong: after the limit.
        """
        if self._reset or ((self._posted or self._stale) and self._is_affected()):
            raise Superseded
        if self.limit is not None and self._in_hand is not None:
            if time.thread_time() - self._in_hand[2] > self.limit:
                raise TooLong

    def _is_affected(self) -> bool:
        """May what has changed affect what is being analysed?"""
        if not self.patient or self._in_hand is None:
            return True
        path, session, _ = self._in_hand
        with self._lock:
            changed = {*self._posted, *self._stale}
        return path in changed or any(session.has_read(each) for each in changed)

    def _is_outdated(self, session: Session, path: Path) -> bool:
        """Has the disk changed so that the session has to begin again? It forgets single files."""
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
        self._led_by[path] = session.project(settings).leading_to(path)
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
                for table in (self._open, self.buffers, self._analyses, self._took, self._led_by):
                    table.pop(path, None)
                reset |= not os.path.exists(path)
            else:
                text, version = content
                document = _document(text, path)
                same = path in self._open and self._open[path].content == text
                self._open[path] = _Open(document, version, text)
                self.buffers[path] = document
                reset |= not known
                if same:
                    continue
            stale.add(path)
        if reset:
            self._sessions.clear()
            self._stamps.clear()
            self._analyses.clear()
        if reset or stale:
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
            resolver = Resolver(overrides, cwd=folder, announce=self._announcements.append)
            self._sessions[folder] = Session(resolver, self.buffers, remembering=True)
            self._stamps[folder] = {}
            self._disks[folder] = Disk(self.buffers)
        session = self._sessions[folder]
        stamps = self._stamps[folder]
        for file in decisive(path, None):
            if file not in stamps:
                stamps[file] = stamp(file)
        for file in decisive(path, session.resolver.of_file(path)):
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


def decisive(path: Path, settings: Settings | None) -> Iterator[Path]:
    """The files, existing or not, that decide about the settings of a file."""
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
