"""Check one file: read, analyse, keep what is selected and not suppressed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.analyzer.project.importers import imports_beyond_python
from distlint.engine import documents
from distlint.engine.active_rules import (
    codes_off,
    enabled,
    own_rules,
    passes_prefilter,
    resting_codes,
)
from distlint.engine.discovery import Target, reason
from distlint.engine.reporting import fixable, frame_at, graded, in_cell, reported
from distlint.engine.results import FileResult, State, crash, joined, too_large
from distlint.engine.settings import Resolver, Settings
from distlint.engine.sieve import Sieve
from distlint.rules.prefilter import sharing
from distlint.rules.table import RESERVED, SYNTAX_ERROR
from distlint.source.document import Document, DocumentError, digest
from distlint.source.finding import Finding, Place, Severity, Span
from distlint.source.moves import Moves
from distlint.source.notebook import PYTHON, SUFFIX, Cell, Notebook
from distlint.source.report import Notice, Reported
from distlint.source.requirements import noted
from distlint.source.scan import kind
from distlint.source.settings.kinds import kind_of, may_set
from distlint.source.template import is_template_of_python

if TYPE_CHECKING:
    from distlint.analyzer.project.project import Project
    from distlint.rules.find import Search
    from distlint.rules.found import Found
    from distlint.source.settings.sheet import Sheet

_TEMPLATE = "not checked: the file is a template"

RECURSION_LIMIT = 10_000
"""Enough for the longest chain of ``elif``: each is a block in a block for the analyzer."""


class Session:
    """What the files of a run share: settings and loaded modules.

    ``buffers`` is read in place of the disk: the unsaved files of an editor. ``caching`` results
    tell of what content they are. One that is ``remembering`` can glance at a file.
    """

    def __init__(
        self,
        resolver: Resolver,
        buffers: Mapping[Path, Document] | None = None,
        *,
        caching: bool = False,
        remembering: bool = False,
    ) -> None:
        self.resolver = resolver
        self.caching = caching
        self.remembering = remembering
        self._last: dict[Path, tuple[Document, Found]] = {}
        """What the last analysis of a file has found, and in which text."""
        self._begun: Search | None = None
        """What a glance has begun, which may be gone on with."""
        self.buffers: Mapping[Path, Document] = {} if buffers is None else buffers
        self.proceed: Callable[[], None] | None = None
        """Called now and then during an analysis; it may raise ``Superseded``."""
        self.projects: dict[tuple[Path | None, Path], Project] = {}
        self._apart = False
        """Were programs in the file in hand looked at by themselves?"""

    def check_file(self, target: Target) -> FileResult:
        """Check a file on disk; whatever goes wrong becomes part of the result."""
        self._apart = False
        settings = self.resolver.of_file(target.path)
        try:
            refusal = _refusal(target, settings)
            if refusal is not None:
                return FileResult(target.path, notices=(refusal,), checked=False)
            data = target.path.read_bytes()
        except (OSError, ValueError) as error:
            notice = Notice("failed", f"cannot read file: {reason(error)}", target.path)
            return FileResult(target.path, notices=(notice,), checked=False)
        result = self.check_bytes(data, target.path, settings)
        if not self.caching or self._apart:
            return result
        return replace(result, content=digest(data))

    def check_bytes(self, data: bytes, path: Path, settings: Settings) -> FileResult:
        try:
            document = documents.from_bytes(data, path)
        except DocumentError as error:
            return self._no_python(error, path, None, settings)
        except Exception as error:
            return FileResult(path, notices=(crash(error, path),), checked=False)
        return self.check_source(document, settings)

    def glance(self, document: Document, settings: Settings) -> FileResult | None:
        """What the source alone tells, beside what the last analysis of the file has found.

        None if there was none, and of a notebook.
        """
        if isinstance(document, Notebook) or document.path not in self._last:
            return None
        text, last = self._last[document.path]
        moves = Moves(text, document)
        known = replace(
            last,
            findings=list(moves.findings(last.findings)),
            incomplete=list(moves.incomplete(last.incomplete)),
        )
        return self.check_source(document, settings, known)

    def check_source(
        self, document: Document, settings: Settings, known: Found | None = None
    ) -> FileResult:
        """Check a text; a crash of the analysis is reported and ends nothing but this file.

        ``known`` is taken for what comparing the ranks finds.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of the checked code are for other tools
                with noted() as asked:
                    result = self._result(document, settings, known)
                return replace(result, asked=tuple(dict.fromkeys(asked)))
        except DocumentError as error:
            if is_python(document) and is_template_of_python(document.text, document.path):
                notices = (Notice("skipped", _TEMPLATE, document.path),)
                return FileResult(document.path, notices=notices, checked=False)
            return self._no_python(error, document.path, document, settings)
        except Exception as error:
            notice = crash(error, document.path)
            return FileResult(document.path, notices=(notice,), checked=False)

    def _result(self, document: Document, settings: Settings, known: Found | None) -> FileResult:
        if isinstance(document, Notebook):
            return self._check_notebook(document, settings)
        return self._check(document, settings, known)

    def state_of(self, document: Document, settings: Settings) -> State:
        """What is to be said about a document, before any of it is left out.

        Raises:
            DocumentError: if it is no Python.
        """
        found = list(self._settings_in(document, settings, proving=True))
        asked = is_python(document) and self._has_askers(document, settings)
        if asked:
            found.append(self._find(document, settings, proving=True))
        over_budget = sum(each.over_budget for each in found)
        failed = frozenset(problem.rule.code for each in found for problem in each.problems)
        every = [finding for each in found for finding in each.findings]
        every.sort(key=lambda finding: finding.sort_key)
        findings = tuple(f for f in every if settings.preview or not f.preview)
        sieve = self._sieve(document, settings)
        incomplete = [each for every in found for each in every.incomplete]
        result = sieve.result(findings, over_budget, incomplete=incomplete, complete=not failed)
        told = [*result.reported, *(item for item, _ in result.unused)]
        proposed = sorted((item.finding for item in told), key=lambda finding: finding.sort_key)
        meetings = tuple(meeting for each in found for meeting in each.meetings)
        return State(document, findings, tuple(proposed), over_budget, failed, meetings)

    def proven(self, document: Document, settings: Settings) -> tuple[Search, list[Finding]]:
        """What is reported of a script, and the analysis with the proofs that hangs rest on.

        Raises:
            DocumentError: if it is no Python.
        """
        from distlint.analyzer.ir.errors import ParseError

        try:
            search = self._search(document, settings, codes_off(settings), proving=False)
        except ParseError as error:
            from distlint.engine.syntax import explain

            raise explain(document, error) from None
        self._begun = search
        result = self._check(document, settings)
        return search, [item.finding for item in result.reported]

    def project(self, settings: Settings) -> Project:
        """The project of a configuration, made once."""
        from distlint.analyzer.project.project import Project

        key = (settings.config, settings.root)
        if key not in self.projects:
            self.projects[key] = Project(
                settings.root,
                settings.src,
                settings.catalogue,
                settings.world,
                settings.runtime,
                with_weak=settings.preview,  # what rests on it is preview
                buffers=self.buffers,
            )
        self.projects[key].proceed = self.proceed
        return self.projects[key]

    @property
    def volume(self) -> int:
        """How much text of modules is kept at hand, in characters."""
        return sum(project.volume for project in self.projects.values())

    def shrink(self, limit: int) -> None:
        """Let go of modules that the last files have not needed, down to a number of characters."""
        from distlint.analyzer.static.retention import shrink

        for project in self.projects.values():
            shrink(project, limit)

    def release(self) -> None:
        """Drop the trees of the last file, which take most of the memory of an analysis."""
        if self.projects:
            from distlint.rules.find import forget

            forget(self.projects.values())

    def has_read(self, path: Path) -> bool:
        """Has an analysis looked at a file?"""
        return any(project.has_read(path) for project in self.projects.values())

    def forget(self, path: Path) -> None:
        """Let go of a file whose text has changed."""
        self._begun = None
        for project in self.projects.values():
            project.forget(path)
        self.release()  # what was found out about the old text

    def _check(
        self, document: Document, settings: Settings, known: Found | None = None
    ) -> FileResult:
        if not is_python(document):
            sheet = _sheet_of(document)
            left = _left_alone(document, sheet)
            if left is not None:
                return FileResult(document.path, notices=(left,), checked=False)
            return self._sifted(document, settings, *self._said_of(sheet, settings))
        if not self._has_askers(document, settings):
            problem = _mistake(document)
            if problem is not None:
                raise problem
            return self._sifted(document, settings, *self._settings_in(document, settings))
        found = self._find(document, settings, known)
        return self._sifted(document, settings, found, *self._settings_in(document, settings))

    def _sifted(self, document: Document, settings: Settings, *found: Found) -> FileResult:
        """What is left of the findings, and a notice for each rule that raised."""
        problems = {each.message: each.detail for every in found for each in every.problems}
        result = self._sieve(document, settings).result(
            [finding for each in found for finding in each.findings],
            sum(each.over_budget for each in found),
            sum(each.roots for each in found),
            incomplete=[each for every in found for each in every.incomplete],
            complete=not problems,
        )
        notices = (Notice("failed", each, document.path, problems[each]) for each in problems)
        return replace(result, notices=(*result.notices, *notices))

    def _has_askers(self, document: Document, settings: Settings) -> bool:
        """Is there a rule that could speak about a script, to judge by its bytes?"""
        return (
            self._passes(document, settings)
            or bool(own_rules(document, settings))
            or bool(self._sharing(document, settings))
        )

    def _passes(self, document: Document, settings: Settings) -> bool:
        """May ranks diverge in a script, or in what it runs, to judge by the bytes?"""
        if passes_prefilter(document, settings):
            return True
        if not imports_beyond_python(document.code):  # to look further takes a project
            return False
        return self.project(settings).leads_to_ranks(document.path, document.code)

    def _sharing(self, document: Document, settings: Settings) -> frozenset[str]:
        """The codes of rules that could speak about a script that others run on several ranks."""
        codes = sharing(document.code)
        codes = codes - codes_off(settings) if codes else codes  # which is to know all rules
        if not codes or not self.project(settings).is_led_to(document.path):
            return frozenset()
        return codes

    def _settings_in(
        self, document: Document, settings: Settings, *, proving: bool = False
    ) -> Iterable[Found]:
        return self._said_of(_sheet_of(document), settings, proving=proving)

    def _said_of(
        self, sheet: Sheet | None, settings: Settings, *, proving: bool = False
    ) -> Iterable[Found]:
        """What is said about configurations, variables and launch lines, if there are any."""
        if sheet is None:
            return
        from distlint.rules.settings import find_in

        off = resting_codes(settings) if proving else codes_off(settings)
        found = find_in(sheet, settings.versions, settings.allow_env, off=off)
        found.findings = fixable(found.findings, sheet.document)
        yield found

    def _sieve(self, document: Document, settings: Settings) -> Sieve:
        return Sieve(self.resolver, document, settings, self.buffers)

    def _find(
        self,
        document: Document,
        settings: Settings,
        known: Found | None = None,
        *,
        proving: bool = False,
    ) -> Found:
        from distlint.analyzer.ir.errors import ParseError

        sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION_LIMIT))
        try:
            off = resting_codes(settings) if proving else codes_off(settings)
            project = self.project(settings)
            found = project.placing(
                lambda: self._found(document, settings, off, known, proving=proving)
            )
            found.findings = fixable(found.findings, document)
            return found
        except ParseError as error:
            from distlint.engine.syntax import explain

            raise explain(document, error) from None

    def _found(
        self,
        document: Document,
        settings: Settings,
        off: frozenset[str],
        known: Found | None,
        *,
        proving: bool,
    ) -> Found:
        search = self._search(document, settings, off, proving=proving)
        self._begun = None
        found = search.found(known)
        if proving:
            found.meetings = search.meetings()
        if known is not None:
            self._begun = search
        elif self.remembering:
            self._last[document.path] = document, search.compared
        return found

    def _search(
        self, document: Document, settings: Settings, off: frozenset[str], *, proving: bool
    ) -> Search:
        from distlint.rules.find import Search

        begun = self._begun
        if begun is not None and begun.document is document and begun.off == off:
            if begun.notes_meetings or not proving:
                return begun
        own = own_rules(document, settings)
        passes = self._passes(document, settings)
        shared = frozenset[str]() if passes else self._sharing(document, settings)
        return Search(
            document,
            self.project(settings),
            own,
            off=off,
            distributed=passes or not (own or shared),
            shared=shared,
            notes_meetings=proving,
        )

    def _no_python(
        self, error: DocumentError, path: Path, document: Document | None, settings: Settings
    ) -> FileResult:
        finding = Finding(
            code=SYNTAX_ERROR,
            name=RESERVED[SYNTAX_ERROR],
            message=error.message,
            severity=Severity.ERROR,
            place=Place(path, Span(error.row, error.column, error.row, error.column + 1)),
        )
        if not enabled(finding.code, path, settings):
            return FileResult(path)
        finding = graded(finding, settings)
        frame = frame_at(document, finding.place.span) if document else None
        return FileResult(path, reported=(reported(finding, frame, None, settings),))

    def _check_notebook(self, notebook: Notebook, settings: Settings) -> FileResult:
        """Check the cells as one program, and the files that some write; all is told by cell."""
        path = notebook.path
        if notebook.language != PYTHON:
            what = f"nothing to check: notebook language is {notebook.language}"
            return FileResult(path, notices=(Notice("nothing", what, path),), checked=False)
        if settings.max_file_size and len(notebook.code) > settings.max_file_size:
            notice = too_large(path, len(notebook.code), settings)
            return FileResult(path, notices=(notice,), checked=False)
        run, *files = notebook.programs
        result = self._check_program(run, settings)
        for file in files:
            session = Session(self.resolver, self.buffers)  # modules go by their paths
            session.proceed = self.proceed
            self._apart = True
            result = joined(result, session._check_program(file, settings))
        return result

    def _check_program(self, notebook: Notebook, settings: Settings) -> FileResult:
        """Check one program of a notebook."""
        try:
            result = self._check(notebook, settings)
        except DocumentError as error:  # what each cell passes and all together do not
            result = self._no_python(error, notebook.path, notebook, settings)
        broken = [
            replace(item, finding=replace(item.finding, message=cell.problem.message))
            for cell in notebook.cells
            if cell.problem is not None
            for item in self._broken(cell, cell.problem, notebook, settings)
        ]
        unused = ((in_cell(item, notebook), keys) for item, keys in result.unused)
        return replace(
            result,
            reported=(*(in_cell(item, notebook) for item in result.reported), *broken),
            noted=tuple(in_cell(item, notebook) for item in result.noted),
            unused=tuple(unused) if not broken else (),
        )

    def _broken(
        self, cell: Cell, problem: DocumentError, notebook: Notebook, settings: Settings
    ) -> list[Reported]:
        """The finding about a cell that is no Python; ``problem`` has the rows of the cell."""
        place = DocumentError(problem.message, problem.row + cell.row - 1, problem.column)
        found = self._no_python(place, notebook.path, notebook, settings).reported
        return [in_cell(item, notebook) for item in found]


def _refusal(target: Target, settings: Settings) -> Notice | None:
    """Why a file is not read, if so."""
    path = target.path
    size = path.stat().st_size
    is_notebook = path.suffix.lower() == SUFFIX  # of which only the code counts
    if settings.max_file_size and size > settings.max_file_size and not is_notebook:
        return too_large(path, size, settings)
    if target.named and not is_notebook:
        with path.open("rb") as file:
            first = file.readline(256)
        if kind_of(path, first) is None:
            message = "nothing to check: unsupported file type"
            return Notice("nothing", message, path)
    return None


def _sheet_of(document: Document) -> Sheet | None:
    """What a document says of settings; None for a script whose bytes promise nothing of it."""
    if is_python(document) and not may_set(document.code):
        return None
    from distlint.source.settings.sheet import read

    return read(document, first=b"#!python" if is_python(document) else b"")


def _left_alone(document: Document, sheet: Sheet | None) -> Notice | None:
    """Why nothing in a document that is no Python was checked, if so."""
    if sheet is not None and sheet.templated:
        return Notice("skipped", _TEMPLATE, document.path)
    if sheet is None or not (sheet.configs or sheet.script.settings or sheet.script.commands):
        message = "nothing to check: the file neither configures nor launches training"
        return Notice("nothing", message, document.path)
    return None


def is_python(document: Document) -> bool:
    """Is a document to be read as Python, as everything is that is not known to be otherwise?"""
    return kind(document) == "python"


def _mistake(document: Document) -> DocumentError | None:
    from distlint.engine.syntax import mistake

    return mistake(document)
