"""Findings in the words of the protocol: diagnostics, edits, and what is shown on hover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from distlint.rules.table import INCOMPLETE_ANALYSIS, UNUSED_SUPPRESSION
from distlint.server.columns import Columns
from distlint.server.open_files import Analysis
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Edit, Explanation, Finding, Place, Severity, Span, Step
from distlint.source.notebook import Notebook
from distlint.source.report import Reported

SOURCE = "distlint"

Change = tuple[str, types.TextEdit]
"""The URI of a text, and what to do to it."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


@dataclass(frozen=True, slots=True)
class Translator:
    """Speaks to one editor: its columns, what it can show, and how it names files."""

    columns: Columns
    uri_of: Callable[[Path, int], str]
    """The URI of a file, or of a cell of a notebook."""
    read: Callable[[Path], Document]
    related: bool
    """Does the editor show related information?"""

    def diagnostics(self, analysis: Analysis, unsafe: bool, cell: int) -> list[types.Diagnostic]:
        """Those of a file, or of a cell of a notebook."""
        return [
            self._diagnostic(item, analysis, unsafe)
            for item in analysis.reported
            if place_in(item.finding, analysis.document).cell == cell
        ]

    def edits(self, document: Document, edits: Iterable[Edit]) -> list[Change]:
        """What to do to the text of a file, or of which cell."""
        return [
            (
                self.uri_of(document.path, edit.cell),
                types.TextEdit(
                    self.columns.range(lines_of(document, edit.cell), edit.span), edit.content
                ),
            )
            for edit in edits
        ]

    def _diagnostic(self, item: Reported, analysis: Analysis, unsafe: bool) -> types.Diagnostic:
        finding = item.finding
        document = analysis.document
        steps = list(_steps(finding))
        message = finding.message
        if not self.related:
            message += "".join(f"\n  {text} ({_row(place)})" for text, place in steps)
        place = place_in(finding, document)
        return types.Diagnostic(
            range=self.columns.range(lines_of(document, place.cell), place.span),
            message=message,
            severity=_severity(finding),
            code=finding.code,
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if _idle(finding) else None,
            related_information=list(self._information(steps, document)) if self.related else None,
            data=self._data(item, analysis, unsafe),
        )

    def _information(
        self, steps: Iterable[tuple[str, Place]], document: Document
    ) -> Iterator[types.DiagnosticRelatedInformation]:
        for text, place in steps:
            try:
                is_here = place.path == document.path
                lines = lines_of(document if is_here else self.read(place.path), place.cell)
            except (OSError, DocumentError):
                continue
            location = types.Location(
                self.uri_of(place.path, place.cell), self.columns.range(lines, place.span)
            )
            yield types.DiagnosticRelatedInformation(location, text)

    def _data(self, item: Reported, analysis: Analysis, unsafe: bool) -> dict[str, object]:
        """What a code action needs, so that nothing has to be analysed again for it."""
        finding = item.finding
        data: dict[str, object] = {
            "version": analysis.version,
            "name": finding.name,
            "row": finding.place.span.row,
            "cell": finding.place.cell,
        }
        fix = finding.fix
        offered = {"safe", "unsafe"} if unsafe else {"safe"}
        if fix is not None and fix.applicability in offered:
            data["fix"] = {
                "message": fix.message,
                "applicability": fix.applicability,
                "edits": [
                    {"uri": uri, "range": _plain_range(edit.range), "newText": edit.new_text}
                    for uri, edit in self.edits(analysis.document, fix.edits)
                ],
            }
        return data


def _severity(finding: Finding) -> types.DiagnosticSeverity:
    """That of the finding; where nothing is wrong with the code, an editor shows a hint."""
    if finding.code == INCOMPLETE_ANALYSIS and finding.severity is Severity.INFO:
        return types.DiagnosticSeverity.Hint
    return _SEVERITIES[finding.severity]


def explanation(finding: Finding) -> str:
    """The ways of the groups of ranks and the decisions, as Markdown."""
    lines = [f"**{finding.code}** {finding.name}: {finding.message}", ""]
    lines += [f"- {text} ({_row(place)})" for text, place in _steps(finding)]
    if isinstance(finding.explanation, Explanation):
        lines += ["", finding.explanation.effect, "", finding.explanation.help]
    return "\n".join(lines)


def place_in(finding: Finding, document: Document) -> Place:
    """Where a finding is shown in a document; it may have been made in a file imported."""
    places = [finding.place, *(related.place for related in finding.related)]
    here = [place for place in places if place.path == document.path]
    first = document.cells[0].number if isinstance(document, Notebook) and document.cells else 0
    return here[0] if here else Place(document.path, Span(1, 1, 1, 1), first)


def lines_of(document: Document, cell: int) -> list[str]:
    """The lines of a document, or of a cell of it."""
    if isinstance(document, Notebook) and cell:
        return document.lines_of(cell)
    return document.lines


def _row(place: Place) -> str:
    row = f"line {place.span.row}"
    return f"cell {place.cell}, {row}" if place.cell else row


def text_edits(data: Mapping[str, object]) -> list[Change]:
    """The edits of a fix that a diagnostic carries.

    Raises:
        KeyError, TypeError, ValueError: if the editor did not keep them as they were.
    """
    edits = data["edits"]
    if not isinstance(edits, list):
        raise TypeError("edits")
    return [
        (
            edit["uri"],
            types.TextEdit(
                types.Range(
                    types.Position(
                        edit["range"]["start"]["line"], edit["range"]["start"]["character"]
                    ),
                    types.Position(edit["range"]["end"]["line"], edit["range"]["end"]["character"]),
                ),
                edit["newText"],
            ),
        )
        for edit in edits
    ]


def _steps(finding: Finding) -> Iterator[tuple[str, Place]]:
    """The path of each group of ranks and what they decided, each with its place."""
    why = finding.explanation
    if why is None or not why.lanes:
        yield from ((related.message, related.place) for related in finding.related)
        return
    steps: list[tuple[str, Step | None]] = [("last matching collective", why.common)]
    steps += [(lane.ranks, step) for lane in why.lanes for step in lane.steps]
    for who, step in steps:
        if step is not None:
            yield f"{who}: {step.text}", step.place or finding.place
    for decision in why.decisions:
        if decision.place is not None:
            yield f"diverges at {decision.text}: {decision.outcome}", decision.place


def _idle(finding: Finding) -> bool:
    return finding.code == UNUSED_SUPPRESSION and "nothing" in finding.message


def _plain_range(range_: types.Range) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": range_.start.line, "character": range_.start.character},
        "end": {"line": range_.end.line, "character": range_.end.character},
    }
