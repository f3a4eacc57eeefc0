"""Check one file: read, analyse, keep what is selected and not suppressed."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.analyzer.screen import worth_analysing
from distlint.engine.discovery import NOTEBOOK, PYTHON_SUFFIXES, Target, reason
from distlint.engine.settings import Resolver, Settings
from distlint.engine.suppression import Complaint, Suppressions
from distlint.rules.table import RESERVED, SYNTAX_ERROR, UNUSED_SUPPRESSION
from distlint.source.comments import Scan
from distlint.source.document import Document, DocumentError, digest
from distlint.source.edits import apply, changed_lines
from distlint.source.finding import Finding, Place, Severity, Span
from distlint.source.nesting import too_deep
from distlint.source.report import CommentKey, Frame, Notice, Reported
from distlint.source.requirements import Asked, noted

if TYPE_CHECKING:
    from distlint.analyzer.project import Project
    from distlint.rules.find import Found

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
    that the user is told of.
    """

    document: Document
    findings: tuple[Finding, ...]
    proposed: tuple[Finding, ...]
    over_budget: int


class Session:
    """What the files of a run share: settings and loaded modules.

    ``buffers`` is read in place of the disk: the unsaved files of an editor. ``caching`` results
    tell of what content they are.
    """

    def __init__(
        self,
        resolver: Resolver,
        buffers: Mapping[Path, Document] | None = None,
        *,
        caching: bool = False,
    ) -> None:
        self.resolver = resolver
        self.caching = caching
        self.buffers: Mapping[Path, Document] = {} if buffers is None else buffers
        self.projects: dict[tuple[Path | None, Path], Project] = {}

    def check_file(self, target: Target) -> FileResult:
        """Check a file on disk; whatever goes wrong becomes part of the result."""
        settings = self.resolver.of_file(target.path)
        try:
            refusal = _refusal(target, settings)
            if refusal is not None:
                return FileResult(target.path, notices=(refusal,), checked=False)
            data = target.path.read_bytes()
        except (OSError, ValueError) as error:
            notice = Notice("failed", f"cannot be read: {reason(error)}", target.path)
            return FileResult(target.path, notices=(notice,), checked=False)
        result = self.check_bytes(data, target.path, settings)
        return replace(result, content=digest(data)) if self.caching else result

    def check_bytes(self, data: bytes, path: Path, settings: Settings) -> FileResult:
        if path.suffix.lower() == NOTEBOOK:
            return self._notebook(data, path, settings)
        try:
            document = Document.from_bytes(data, path)
        except DocumentError as error:
            return self._no_python(error, path, None, settings)
        return self.check_source(document, settings)

    def check_source(self, document: Document, settings: Settings) -> FileResult:
        """Check a text; a crash of the analysis is reported and ends nothing but this file."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of the checked code are for other tools
                return self._check(document, settings)
        except DocumentError as error:
            return self._no_python(error, document.path, document, settings)
        except Exception as error:
            notice = _crash(error, document.path)
            return FileResult(document.path, notices=(notice,), checked=False)

    def state_of(self, document: Document, settings: Settings) -> State:
        """What is to be said about a document, before any of it is left out.

        Raises:
            DocumentError: if it is no Python.
        """
        findings: tuple[Finding, ...] = ()
        over_budget = 0
        if worth_analysing(document.data) and not too_deep(document.text):
            found = self._find(document, settings)
            findings = tuple(f for f in found.findings if settings.preview or not f.preview)
            over_budget = found.over_budget
        result = self._sieve(document, settings).result(findings, over_budget)
        told = [*result.reported, *(item for item, _ in result.unused)]
        proposed = sorted((item.finding for item in told), key=lambda finding: finding.sort_key)
        return State(document, findings, tuple(proposed), over_budget)

    def project(self, settings: Settings) -> Project:
        """The project of a configuration, made once."""
        from distlint.analyzer.project import Project

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
        return self.projects[key]

    @property
    def volume(self) -> int:
        """How much text of modules is kept at hand, in characters."""
        return sum(project.volume for project in self.projects.values())

    def forget(self, path: Path) -> None:
        """Let go of a file whose text has changed."""
        for project in self.projects.values():
            project.forget(path)

    def _check(self, document: Document, settings: Settings) -> FileResult:
        if not worth_analysing(document.data):
            problem = _mistake(document)
            if problem is not None:
                raise problem
            return self._sieve(document, settings).result()
        excess = too_deep(document.text)
        if excess:
            notice = Notice("skipped", f"not analysed: {excess}", document.path)
            return FileResult(document.path, notices=(notice,), checked=False)
        with noted() as asked:
            found = self._find(document, settings)
        result = self._sieve(document, settings).result(
            found.findings, found.over_budget, found.roots
        )
        return replace(result, asked=tuple(dict.fromkeys(asked)))

    def _sieve(self, document: Document, settings: Settings) -> _Sieve:
        return _Sieve(self.resolver, document, settings, self.buffers)

    def _find(self, document: Document, settings: Settings) -> Found:
        from distlint.analyzer.lower import ParseError
        from distlint.rules.find import find

        sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION_LIMIT))
        try:
            return find(document, self.project(settings))
        except ParseError as error:
            from distlint.engine.syntax import explain

            raise explain(document, error.message, error.row, error.column) from None

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

    def _notebook(self, data: bytes, path: Path, settings: Settings) -> FileResult:
        import json

        try:
            json.loads(data)
        except json.JSONDecodeError as error:
            problem = DocumentError(f"not a notebook: {error.msg}", error.lineno, error.colno)
            return self._no_python(problem, path, None, settings)
        except (ValueError, RecursionError):
            problem = DocumentError("not a notebook: it cannot be read as JSON")
            return self._no_python(problem, path, None, settings)
        notice = Notice("skipped", "notebooks are not checked by this version", path)
        return FileResult(path, notices=(notice,), checked=False)


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
        self, findings: Iterable[Finding] = (), over_budget: int = 0, roots: int = 0
    ) -> FileResult:
        kept = [(f, self._view(f.place.path)) for f in findings]
        kept = [(f, view) for f, view in kept if enabled(f.code, f.place.path, view.settings)]
        reported = [
            view.report(f)
            for f, view in kept
            if not view.suppresses(f) and (view.settings.preview or not f.preview)
        ]
        own = self.files[self.document.path]
        return FileResult(
            self.document.path,
            reported=tuple(reported),
            unused=tuple(own.complaints(complete=over_budget == 0)),
            used=frozenset(key for view in self.files.values() for key in view.used()),
            suppressed=len(kept) - len(reported),
            over_budget=over_budget,
            roots=roots,
        )

    def _view(self, path: Path) -> _FileView:
        """Comments and lines of a file; a finding may lie in another one than was analysed."""
        if path not in self.files:
            try:
                document = self.buffers.get(path) or Document.read(path)
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

    def _end_of(self, row: int) -> int:
        """The last row of the statement at a row, where a comment can follow it."""
        if self._ends is None:
            statements = Scan(self.document.text).statements
            self._ends = {row: rows[-1] for rows in statements for row in rows}
        return self._ends.get(row, row)


def _refusal(target: Target, settings: Settings) -> Notice | None:
    """Why a file is not read, if so."""
    path = target.path
    size = path.stat().st_size
    if settings.max_file_size and size > settings.max_file_size:
        message = f"larger than max-file-size ({size:,} of {settings.max_file_size:,} bytes)"
        return Notice("skipped", message, path)
    if target.named and path.suffix.lower() not in {*PYTHON_SUFFIXES, NOTEBOOK}:
        with path.open("rb") as file:
            first = file.readline(256)
        if not (first.startswith(b"#!") and b"python" in first):
            return Notice("nothing", "nothing to check: not a Python file", path)
    return None


def enabled(code: str, path: Path, settings: Settings) -> bool:
    """Is a code to be reported in a file?"""
    preview_rule = not settings.preview and _is_preview(code, settings)
    on = settings.selection.enables(code, preview_rule=preview_rule, preview=settings.preview)
    return on and code not in settings.ignored_in(path)


def _is_preview(code: str, settings: Settings) -> bool:
    if code in (SYNTAX_ERROR, UNUSED_SUPPRESSION):
        return False
    from distlint.rules.registry import own_rules, rules

    rule = rules().get(code) or own_rules(settings.rules).get(code)
    return rule is not None and rule.preview


def _implemented(settings: Settings) -> Iterable[str]:
    from distlint.rules.registry import own_rules, rules

    return (*rules(), *own_rules(settings.rules))


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
    after = apply(document.text, finding.fix.edits)
    return tuple(changed_lines(document.text, after, context=1))


def _frame(document: Document, span: Span) -> Frame | None:
    if not document.text:
        return None
    first = max(1, span.row - CONTEXT_ROWS)
    last = min(span.end_row, span.row + MAX_FRAME_ROWS - 1) + CONTEXT_ROWS
    return Frame(first, tuple(document.lines[first - 1 : last]))


def _crash(error: Exception, path: Path) -> Notice:
    import traceback

    what = str(error).split(os.linesep)[0]
    message = f"internal error: {type(error).__name__}: {what}" if what else type(error).__name__
    detail = "".join(traceback.format_exception(error))
    return Notice("failed", message, path, detail)
