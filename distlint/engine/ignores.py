"""Write a suppression comment for every finding of a report."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from distlint.engine import documents
from distlint.engine.errors import ConfigError
from distlint.engine.fix import fixed, not_to_be_written
from distlint.engine.settings import Resolver
from distlint.engine.suppression import Suppressions
from distlint.engine.writing import NotWritten, replace
from distlint.rules.table import SYNTAX_ERROR, UNUSED_SUPPRESSION
from distlint.source.document import NEWLINE, Document, DocumentError
from distlint.source.edits import apply
from distlint.source.finding import Edit, Span
from distlint.source.notebook import Notebook
from distlint.source.report import Fixed, Notice, Report, Reported
from distlint.source.scan import comments_follow, content, kind, scan

MAX_LINE = 100
"""A comment that would make a line longer than this stands on a line of its own above."""

_NEVER = (SYNTAX_ERROR, UNUSED_SUPPRESSION)
_ENDS_A_REASON = re.compile(r"#(?!\d)")
_NO_CODE = (tokenize.COMMENT, tokenize.NL)


@dataclass(slots=True)
class Added:
    """The files that got comments, for how many findings, and what is to be said."""

    files: list[Fixed] = field(default_factory=list)
    count: int = 0
    notices: list[Notice] = field(default_factory=list)


def add_ignores(report: Report, resolver: Resolver, reason: str, *, write: bool) -> Added:
    """Put a comment to every finding that one can suppress.

    Args:
        report: what was found.
        resolver: finds the settings of each file.
        reason: goes into each new comment, unless empty.
        write: replace the files, rather than only tell what would become of them.

    Raises:
        ConfigError: if the reason cannot stand in a comment.
    """
    reason = " ".join(reason.split())
    if _ENDS_A_REASON.search(reason):
        raise ConfigError(
            "--add-ignores: the reason must not contain `#`, which starts another comment"
        )
    added = Added()
    by_file: dict[Path, list[Reported]] = {}
    for item in report.reported:
        if item.finding.code not in _NEVER and item.noqa_row is not None:
            by_file.setdefault(item.finding.place.path, []).append(item)
    for path, items in sorted(by_file.items()):
        if notice := not_to_be_written(path, resolver):
            added.notices.append(notice)
            continue
        try:
            document = documents.read(path)
            commented = _commented(document, items, resolver, reason)
            if write:
                is_notebook = isinstance(commented, Notebook)
                data = commented.data if is_notebook else commented.encode(commented.text)
                replace(path, document.data, data)
        except (OSError, DocumentError, NotWritten, UnicodeEncodeError) as error:
            added.notices.append(Notice("failed", f"no comment added: {error}", path))
            continue
        added.files.append(fixed(document, commented))
        added.count += len(items)
    return added


def _commented(
    document: Document, items: Iterable[Reported], resolver: Resolver, reason: str
) -> Document:
    """The document with the comments.

    Raises:
        NotWritten: if they would change more than comments.
    """
    if not isinstance(document, Notebook):
        return document_with(document, comments(document, items, resolver, reason))
    items = list(items)
    after: Document = document
    for program in document.programs:
        own = [item for item in items if item.finding.place.cell in program.numbers]
        if own and isinstance(after, Notebook):
            now = documents.screened(after).program(program.number)
            after = document_with(now, comments(now, own, resolver, reason))
    return after


def comments(
    document: Document, items: Iterable[Reported], resolver: Resolver, reason: str = ""
) -> list[Edit]:
    """The edits that put comments to findings."""
    statements = {row: rows for rows in scan(document).statements for row in rows}
    wanted: dict[range, list[str]] = {}
    for item in items:
        row = item.noqa_row or 1
        if isinstance(document, Notebook):
            row += document.first_row(item.finding.place.cell) - 1
        codes = wanted.setdefault(statements.get(row, range(row, row + 1)), [])
        if item.finding.code not in codes:
            codes.append(item.finding.code)
    known = resolver.of_file(document.path).known
    suppressions = Suppressions(document, known)
    return [
        _comment(document, suppressions, rows, sorted(codes), reason)
        for rows, codes in wanted.items()
    ]


def document_with(document: Document, edits: Iterable[Edit]) -> Document:
    """The document with edits that are to touch nothing but comments.

    Raises:
        NotWritten: if they would change more than comments.
    """
    edits = list(edits)
    if isinstance(document, Notebook) and not document.takes(edits):
        raise NotWritten("it would change text that is not Python")
    text = apply(document.text, edits)
    changed = Document(document.path, document.data, text, document.encoding, document.newline)
    if kind(document) == "python":
        same = list(_tokens(text)) == list(_tokens(document.text))
    else:
        same = content(changed) == content(document)
    if not same:
        raise NotWritten("it would change more than comments")
    return document.edited(edits) if isinstance(document, Notebook) else changed


def _comment(
    document: Document,
    suppressions: Suppressions,
    rows: range,
    codes: Sequence[str],
    reason: str,
) -> Edit:
    """Add to the comment that covers the statement, or write one behind or above it."""
    for directive in suppressions.directives:
        if directive.verb == "ignore" and rows[-1] in directive.rows:
            end = directive.items[-1].end
            return Edit(Span(directive.row, end, directive.row, end), f", {', '.join(codes)}")
    comment = f"# distlint: ignore[{', '.join(codes)}]" + (f" -- {reason}" if reason else "")
    last = document.lines[rows[-1] - 1]
    fits = len(last.rstrip()) + len(comment) + 2 <= MAX_LINE
    if fits and comments_follow(document):
        span = Span(rows[-1], len(last.rstrip()) + 1, rows[-1], len(last) + 1)
        return Edit(span, f"  {comment}")
    first = document.lines[rows[0] - 1]
    indent = first[: len(first) - len(first.lstrip())]
    return Edit(Span(rows[0], 1, rows[0], 1), f"{indent}{comment}{document.newline}")


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """What Python reads: everything but comments and blank lines."""
    lines = io.StringIO(NEWLINE.sub("\n", text))
    try:
        for token in tokenize.generate_tokens(lines.readline):
            if token.type not in _NO_CODE:
                yield token.type, token.string
    except (tokenize.TokenError, SyntaxError) as error:
        raise NotWritten("the file is not valid Python") from error
