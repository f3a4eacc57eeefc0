"""Which findings of a document are selected and not suppressed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from distlint.engine import documents
from distlint.engine.active_rules import enabled, implemented
from distlint.engine.reporting import frame_at, graded, proposed, reported
from distlint.engine.results import FileResult
from distlint.engine.settings import Resolver, Settings
from distlint.engine.suppression import Complaint, Suppressions
from distlint.rules.table import INCOMPLETE_ANALYSIS, UNUSED_SUPPRESSION
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Finding
from distlint.source.incomplete import Incomplete
from distlint.source.report import CommentKey, Reported
from distlint.source.scan import scan, takes_comments


class Sieve:
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
            findings = [*findings, *map(told, incomplete)]
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
        own = graded(finding, self.settings)
        span = finding.place.span
        frame, end = frame_at(self.document, span), self._end_of(span.row)
        return replace(
            reported(own, frame, end, self.settings), proposed=proposed(finding, self.document)
        )

    def note(self, incomplete: Incomplete) -> Reported | None:
        """What is told in a note, and to programs: by itself it fails no run.

        None if a comment or the configuration ignores it.
        """
        finding, path, settings = told(incomplete), self.document.path, self.settings
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
        codes = implemented(self.settings) if complete else ()
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


def told(incomplete: Incomplete) -> Finding:
    from distlint.rules.general.incomplete_analysis import told

    return told(incomplete)
