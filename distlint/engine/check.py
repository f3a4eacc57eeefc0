"""Check one file: read, analyse, keep what is selected and not suppressed."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.analyzer.project.importers import imports_beyond_python
from distlint.engine import documents
from distlint.engine.discovery import Target, reason
from distlint.engine.settings import Resolver, Settings
from distlint.engine.suppression import Complaint, Suppressions
from distlint.rules.prefilter import sharing, worth_analysing
from distlint.rules.table import (
    INCOMPLETE_ANALYSIS,
    RESERVED,
    SYNTAX_ERROR,
    UNUSED_SUPPRESSION,
)
from distlint.source.document import Document, DocumentError, digest
from distlint.source.edits import preview
from distlint.source.finding import Finding, Place, Severity, Span
from distlint.source.incomplete import Incomplete
from distlint.source.moves import Moves
from distlint.source.notebook import PYTHON, SUFFIX, Cell, Notebook
from distlint.source.report import CommentKey, Frame, Notice, Reported
from distlint.source.requirements import Asked, noted
from distlint.source.scan import kind, scan, takes_comments
from distlint.source.settings.kinds import kind_of, may_set

if TYPE_CHECKING:
    from distlint.analyzer.project.project import Project
    from distlint.rules.base import Rule
    from distlint.rules.find import Search
    from distlint.rules.found import Found
    from distlint.source.settings.sheet import Sheet

CONTEXT_ROWS = 2
MAX_FRAME_ROWS = 8
RECURSION_LIMIT = 10_000
"""Enough for the longest chain of ``elif``: each is a block in a block for the analyzer."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """What came of one file; ``unused`` are findings void when one of their items is used."""

    path: Path
    reported: tuple[Reported, ...] = ()
    unused: tuple[tuple[Reported, frozenset[CommentKey]], ...] = ()
    used: frozenset[CommentKey] = frozenset()
    notices: tuple[Notice, ...] = ()
    noted: tuple[Reported, ...] = ()
    """Where the analysis is incomplete, unless that is among what is reported."""
    checked: bool = True
    suppressed: int = 0
    over_budget: int = 0
    roots: int = 0
    content: str = ""
    """A digest of the file, if the result may be kept."""
    asked: tuple[Asked, ...] = ()
    """What was asked about the requirements of the file's project."""


@dataclass(frozen=True, slots=True)
class State:
    """A document as a repair sees it.

    ``findings`` are all there are, suppressed and unselected ones included; ``proposed`` are those
    that the user is told of. ``failed`` are the codes of rules that raised.
    """

    document: Document
    findings: tuple[Finding, ...]
    proposed: tuple[Finding, ...]
    over_budget: int
    failed: frozenset[str] = frozenset()


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
            return FileResult(path, notices=(_crash(error, path),), checked=False)
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
            return self._no_python(error, document.path, document, settings)
        except Exception as error:
            notice = _crash(error, document.path)
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
        return State(document, findings, tuple(proposed), over_budget, failed)

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

            forget()

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
            or bool(_own_rules(document, settings))
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
        codes = codes - _off(settings) if codes else codes  # which is to know all rules
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

        off = _resting(settings) if proving else _off(settings)
        found = find_in(sheet, settings.versions, settings.allow_env, off=off)
        found.findings = _fixable(found.findings, sheet.document)
        yield found

    def _sieve(self, document: Document, settings: Settings) -> _Sieve:
        return _Sieve(self.resolver, document, settings, self.buffers)

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
            off = _resting(settings) if proving else _off(settings)
            project = self.project(settings)
            found = project.placing(lambda: self._found(document, settings, off, known))
            found.findings = _fixable(found.findings, document)
            return found
        except ParseError as error:
            from distlint.engine.syntax import explain

            raise explain(document, error) from None

    def _found(
        self, document: Document, settings: Settings, off: frozenset[str], known: Found | None
    ) -> Found:
        search = self._search(document, settings, off)
        self._begun = None
        found = search.found(known)
        if known is not None:
            self._begun = search
        elif self.remembering:
            self._last[document.path] = document, search.compared
        return found

    def _search(self, document: Document, settings: Settings, off: frozenset[str]) -> Search:
        from distlint.rules.find import Search

        begun = self._begun
        if begun is not None and begun.document is document and begun.off == off:
            return begun
        own = _own_rules(document, settings)
        passes = self._passes(document, settings)
        shared = frozenset[str]() if passes else self._sharing(document, settings)
        return Search(
            document,
            self.project(settings),
            own,
            off=off,
            distributed=passes or not (own or shared),
            shared=shared,
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
        finding = _graded(finding, settings)
        frame = _frame(document, finding.place.span) if document else None
        return FileResult(path, reported=(_reported(finding, frame, None, settings),))

    def _check_notebook(self, notebook: Notebook, settings: Settings) -> FileResult:
        """Check the cells as one program, and the files that some write; all is told by cell."""
        path = notebook.path
        if notebook.language != PYTHON:
            what = f"nothing to check: notebook language is {notebook.language}"
            return FileResult(path, notices=(Notice("nothing", what, path),), checked=False)
        if settings.max_file_size and len(notebook.code) > settings.max_file_size:
            notice = _too_large(path, len(notebook.code), settings)
            return FileResult(path, notices=(notice,), checked=False)
        run, *files = notebook.programs
        result = self._check_program(run, settings)
        for file in files:
            session = Session(self.resolver, self.buffers)  # modules go by their paths
            session.proceed = self.proceed
            self._apart = True
            result = _joined(result, session._check_program(file, settings))
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
        unused = ((_in_cell(item, notebook), keys) for item, keys in result.unused)
        return replace(
            result,
            reported=(*(_in_cell(item, notebook) for item in result.reported), *broken),
            noted=tuple(_in_cell(item, notebook) for item in result.noted),
            unused=tuple(unused) if not broken else (),
        )

    def _broken(
        self, cell: Cell, problem: DocumentError, notebook: Notebook, settings: Settings
    ) -> list[Reported]:
        """The finding about a cell that is no Python; ``problem`` has the rows of the cell."""
        place = DocumentError(problem.message, problem.row + cell.row - 1, problem.column)
        found = self._no_python(place, notebook.path, notebook, settings).reported
        return [_in_cell(item, notebook) for item in found]


def _joined(run: FileResult, file: FileResult) -> FileResult:
    """The results of a notebook and of a file that it writes, whose comments nobody else needs."""
    unused = [item for item, keys in file.unused if file.used.isdisjoint(keys)]
    return replace(
        run,
        reported=(*run.reported, *file.reported, *unused),
        noted=(*run.noted, *file.noted),
        notices=(*run.notices, *file.notices),
        suppressed=run.suppressed + file.suppressed,
        over_budget=run.over_budget + file.over_budget,
        roots=run.roots + file.roots,
    )


class _Sieve:
    """Keeps the findings of a document that are selected and not suppressed."""

    def __init__(
        self,
        resolver: Resolver,
        document: Document,
        settings: Settings,
        buffers: Mapping[Path, Document],
    ) -> None:
        self.resolver = resolver
        self.buffers = buffers
        self.document = document
        self.settings = settings
        self.files: dict[Path, _FileView] = {document.path: _FileView(document, settings)}

    def result(
        self,
        findings: Iterable[Finding] = (),
        over_budget: int = 0,
        roots: int = 0,
        *,
        incomplete: Sequence[Incomplete] = (),
        complete: bool = True,
    ) -> FileResult:
        """What is left of the findings; not ``complete`` when a rule gave no answer."""
        if INCOMPLETE_ANALYSIS in self.settings.selection.explicit:
            findings = [*findings, *map(_told, incomplete)]
            aside: Sequence[Incomplete] = ()
        else:
            aside = incomplete
        kept = [(f, self._view(f.place.path)) for f in findings]
        kept = [(f, view) for f, view in kept if enabled(f.code, f.place.path, view.settings)]
        # A comment that suppresses a finding in preview is of use, but the finding would not
        # have been shown: it counts neither as reported nor as suppressed.
        judged = [(f, view, view.suppresses(f)) for f, view in kept]
        shown = [each for each in judged if each[1].settings.preview or not each[0].preview]
        reported = [view.report(f) for f, view, suppressed in shown if not suppressed]
        own = self.files[self.document.path]
        notes = [own.note(each) for each in aside]
        return FileResult(
            self.document.path,
            reported=tuple(reported),
            noted=tuple(note for note in notes if note is not None),
            unused=tuple(own.complaints(complete=complete and not (over_budget or incomplete))),
            used=frozenset(key for view in self.files.values() for key in view.used()),
            suppressed=len(shown) - len(reported),
            over_budget=over_budget,
            roots=roots,
        )

    def _view(self, path: Path) -> _FileView:
        """Comments and lines of a file; a finding may lie in another one than was analysed."""
        if path not in self.files:
            try:
                document = self.buffers.get(path) or documents.read(path)
            except (OSError, DocumentError):
                document = Document(path, b"", "", "utf-8", "\n")
            self.files[path] = _FileView(document, self.resolver.of_file(path))
        return self.files[path]


class _FileView:
    """A file as a finding in it needs it: settings, comments, source lines."""

    def __init__(self, document: Document, settings: Settings) -> None:
        self.document = document
        self.settings = settings
        self.suppressions = Suppressions(document, settings.known)
        self._ends: Mapping[int, int] | None = None

    def suppresses(self, finding: Finding) -> bool:
        """By a comment at the finding, or at a place that belongs to it in the same file."""
        places = [finding.place, *(related.place for related in finding.related)]
        rows = [place.span.row for place in places if place.path == finding.place.path]
        return self.suppressions.suppress(finding.code, rows)

    def report(self, finding: Finding) -> Reported:
        graded = _graded(finding, self.settings)
        span = finding.place.span
        frame, end = _frame(self.document, span), self._end_of(span.row)
        return replace(
            _reported(graded, frame, end, self.settings), proposed=_proposed(finding, self.document)
        )

    def note(self, incomplete: Incomplete) -> Reported | None:
        """What is told in a note, and to programs: by itself it fails no run.

        None if a comment or the configuration ignores it.
        """
        finding, path, settings = _told(incomplete), self.document.path, self.settings
        ignored = settings.selection.ignored | settings.ignored_in(path)
        if finding.code in ignored or self.suppresses(finding):
            return None
        item = self.report(finding)
        is_selected = enabled(finding.code, path, settings)
        return replace(item, fails=False, is_selected=is_selected, entry_point=incomplete.name)

    def used(self) -> Iterable[CommentKey]:
        return ((self.document.path, *item) for item in self.suppressions.used)

    def complaints(self, complete: bool) -> Iterable[tuple[Reported, frozenset[CommentKey]]]:
        """What is wrong with the comments; unused ones only when the analysis was complete."""
        path = self.document.path
        if not self.suppressions.any or not enabled(UNUSED_SUPPRESSION, path, self.settings):
            return
        codes = _implemented(self.settings) if complete else ()
        in_use = {code for code in codes if enabled(code, path, self.settings)}
        for complaint in list(self.suppressions.complaints(in_use)):
            if not self.suppresses(complaint.finding):
                yield self.report(complaint.finding), self._keys(complaint)

    def _keys(self, complaint: Complaint) -> frozenset[CommentKey]:
        return frozenset((self.document.path, *item) for item in complaint.unless_used)

    def _end_of(self, row: int) -> int | None:
        """The last row of the statement at a row, where a comment can follow it."""
        if not takes_comments(self.document):
            return None
        if self._ends is None:
            statements = scan(self.document).statements
            self._ends = {row: rows[-1] for rows in statements for row in rows}
        return self._ends.get(row, row)


def _refusal(target: Target, settings: Settings) -> Notice | None:
    """Why a file is not read, if so."""
    path = target.path
    size = path.stat().st_size
    is_notebook = path.suffix.lower() == SUFFIX  # of which only the code counts
    if settings.max_file_size and size > settings.max_file_size and not is_notebook:
        return _too_large(path, size, settings)
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
        return Notice("skipped", "not checked: the file is a template", document.path)
    if sheet is None or not (sheet.configs or sheet.script.settings or sheet.script.commands):
        message = "nothing to check: the file neither configures nor launches training"
        return Notice("nothing", message, document.path)
    return None


def is_python(document: Document) -> bool:
    """Is a document to be read as Python, as everything is that is not known to be otherwise?"""
    return kind(document) == "python"


def _too_large(path: Path, size: int, settings: Settings) -> Notice:
    message = f"larger than max-file-size ({size:,} of {settings.max_file_size:,} bytes)"
    return Notice("skipped", message, path)


def enabled(code: str, path: Path, settings: Settings) -> bool:
    """Is a code to be reported in a file?"""
    preview_rule = not settings.preview and _is_preview(code, settings)
    on = settings.selection.enables(code, preview_rule=preview_rule, preview=settings.preview)
    return on and code not in settings.ignored_in(path)


def _told(incomplete: Incomplete) -> Finding:
    from distlint.rules.general.incomplete_analysis import told

    return told(incomplete)


def _off(settings: Settings) -> frozenset[str]:
    """The codes of rules that nobody has asked for: what they would find is not told."""
    selection = settings.selection
    unasked = {INCOMPLETE_ANALYSIS} - selection.explicit  # by itself no reason to compare ranks
    return _resting(settings) | unasked | (frozenset(RESERVED) - selection.codes)


def _resting(settings: Settings) -> frozenset[str]:
    """Those in preview that nobody has asked for. A fix answers to all the others."""
    if settings.preview:
        return frozenset()
    from distlint.rules.registry import preview_codes

    return preview_codes() - settings.selection.explicit


def passes_prefilter(document: Document, settings: Settings) -> bool:
    """Could a rule of distlint have something to say about a script, to judge by its bytes?"""
    own = settings.own_packages
    return worth_analysing(document.code) or any(each.encode() in document.code for each in own)


def _is_preview(code: str, settings: Settings) -> bool:
    if code in (SYNTAX_ERROR, UNUSED_SUPPRESSION, INCOMPLETE_ANALYSIS):
        return False
    from distlint.rules.registry import rules

    rule = rules().get(code) or settings.own_rules().get(code)
    return rule is not None and rule.preview


def _implemented(settings: Settings) -> Iterable[str]:
    from distlint.rules.registry import rules

    return (*rules(), *settings.own_rules())


def _own_rules(document: Document, settings: Settings) -> list[Rule]:
    """The rules of the user's own that are to be asked about a document, made anew for it."""
    found = []
    for code, rule in settings.own_rules().items():
        words: Iterable[str] = getattr(rule, "words", ())
        if words and not any(word.encode() in document.code for word in words):
            continue
        if enabled(code, document.path, settings):
            found.append(rule())
    return found


def _mistake(document: Document) -> DocumentError | None:
    from distlint.engine.syntax import mistake

    return mistake(document)


def _graded(finding: Finding, settings: Settings) -> Finding:
    severity = settings.severities.get(finding.code)
    return finding if severity is None else replace(finding, severity=severity)


def _reported(
    finding: Finding, frame: Frame | None, noqa_row: int | None, settings: Settings
) -> Reported:
    fails = finding.severity.weight >= settings.fail_on.weight
    return Reported(finding, frame, noqa_row, fails)


def _proposed(finding: Finding, document: Document) -> tuple[str, ...]:
    """What the fix of a finding would change, as the lines of a diff."""
    if finding.fix is None:
        return ()
    if isinstance(document, Notebook):
        return tuple(document.changed_lines(finding.fix.edits, context=1))
    return tuple(preview(document.text, finding.fix.edits, context=1))


def _fixable(findings: Iterable[Finding], document: Document) -> list[Finding]:
    """The findings; those in a notebook without the fixes that cannot be made cell by cell."""
    if not isinstance(document, Notebook):
        return list(findings)
    return [
        finding
        if finding.fix is None
        or finding.place.path != document.path
        or document.takes(finding.fix.edits)
        else replace(finding, fix=None)
        for finding in findings
    ]


def _in_cell(item: Reported, notebook: Notebook) -> Reported:
    """What is reported, with rows as the cells have them."""
    row = item.noqa_row
    if row is not None and item.finding.place.path == notebook.path:
        row -= notebook.cell_at(row).row - 1
    return replace(item, finding=notebook.located(item.finding), noqa_row=row)


def _frame(document: Document, span: Span) -> Frame | None:
    if not document.text:
        return None
    first = max(1, span.row - CONTEXT_ROWS)
    last = min(span.end_row, span.row + MAX_FRAME_ROWS - 1) + CONTEXT_ROWS
    if isinstance(document, Notebook):
        return document.frame(span.row, first, last)
    return Frame(first, tuple(document.lines[first - 1 : last]))


def _crash(error: Exception, path: Path) -> Notice:
    import traceback

    what = str(error).split(os.linesep)[0]
    message = f"internal error: {type(error).__name__}" + (f": {what}" if what else "")
    detail = "".join(traceback.format_exception(error))
    return Notice("failed", message, path, detail)
