"""Findings in their source: where ranks wait, what separated them, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from distlint.output import headline, summary
from distlint.output.diff import numbered
from distlint.output.formats import Page
from distlint.output.labels import labels_of, notes_of
from distlint.output.snippet import GUTTER, Lines, snippet
from distlint.output.style import Part, Printer, printer, visible, wrapped
from distlint.source.finding import Fix
from distlint.source.report import Report, Reported

MOST_CHANGED = 6
"""Lines of a fix that are shown below its finding; ``distlint fix --diff`` shows all."""

_APPLICABILITY = {"safe": "", "unsafe": " (unsafe)", "displayonly": " (not applied)"}


def write(report: Report, page: Page) -> None:
    out = printer(page.stream, color=page.color)
    for item in report.reported:
        render(item, out, page.width, unsafe=page.unsafe, tried=page.tried)
    summary.close(report, out, page, width=page.width)


def render(
    item: Reported, out: Printer, width: int, *, unsafe: bool = False, tried: bool = False
) -> None:
    """One finding: headline, labelled source, notes, and the fix if it is short."""
    finding = item.finding
    for parts in _headline(item, width, headline.mark(finding, unsafe=unsafe, tried=tried)):
        out.line(*parts)
    labels = labels_of(finding)
    for parts in snippet(labels, _lines(item), headline.STYLES[finding.severity], width):
        out.line(*parts)
    digits = len(str(max(label.place.span.row for label in labels)))
    for parts in _notes(item, digits, width):
        out.line(*parts)
    if _changed(item) <= MOST_CHANGED:
        for parts in numbered(item.proposed, width - 2):
            out.line("  ", *parts)
    out.line()


def _headline(item: Reported, width: int, fix: str) -> Iterator[list[Part]]:
    finding = item.finding
    kind = headline.kind(finding)
    indent = len(kind[0]) + 2
    text = f"{headline.message(finding)} {fix}".rstrip()
    first, *rest = wrapped(text, max(20, width - indent), cut=True)
    yield [kind, (f": {first}", "bold")]
    for line in rest:
        yield [" " * indent, (line, "bold")]


def _lines(item: Reported) -> Lines:
    """The rows of files, those around the finding as they were when it was checked."""
    from distlint.output.places import source_lines  # loads json, which a clean file does not need

    here = item.finding.place

    def line(path: Path, cell: int, row: int) -> str | None:
        frame = item.frame
        if frame is not None and (path, cell) == (here.path, here.cell):
            index = row - frame.first_row
            if 0 <= index < len(frame.lines):
                return frame.lines[index]
        lines = source_lines(path, cell)
        return lines[row - 1] if 0 < row <= len(lines) else None

    return line


def _notes(item: Reported, digits: int, width: int) -> Iterator[list[Part]]:
    notes = list(notes_of(item.finding))
    fix = item.finding.fix
    if fix is not None:
        shown = "" if _changed(item) <= MOST_CHANGED else f"; `{_showing(fix)}` shows it"
        notes.append(("fix", f"{fix.message}{_APPLICABILITY[fix.applicability]}{shown}"))
    for label, text in notes:
        start = f"{'':>{digits}} = "
        indent = len(start) + len(label) + 2
        first, *rest = wrapped(visible(text), max(20, width - indent), cut=True)
        yield [(start, GUTTER), (f"{label}: ", "bold"), first]
        for line in rest:
            yield [" " * indent, line]


def _showing(fix: Fix) -> str:
    return "distlint fix --diff" + (" --unsafe-fixes" if fix.applicability == "unsafe" else "")


def _changed(item: Reported) -> int:
    return sum(line[:1] in ("+", "-") for line in item.proposed)
