"""Comments that switch rules off for a statement or a file, and those that are of no use."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from distlint.engine.errors import nearest
from distlint.engine.selection import exact, unknown_rule
from distlint.rules.table import RESERVED, SYNTAX_ERROR, UNUSED_SUPPRESSION
from distlint.source.comments import Comment
from distlint.source.document import Document
from distlint.source.finding import Edit, Finding, Fix, Place, Severity, Span
from distlint.source.scan import scan

VERBS = ("ignore", "file-ignore")

_OWN = re.compile(r"#\s*distlint:\s*(?P<verb>[A-Za-z_-]+)\s*(?:\[(?P<codes>[^\]]*)\])?")
_NOQA = re.compile(
    r"#\s*noqa\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:(?:\s*,\s*|\s+)[A-Z]+[0-9]+)*)", re.IGNORECASE
)
_ITEM = re.compile(r"[^,\s](?:[^,]*[^,\s])?")
_NOQA_ITEM = re.compile(r"[A-Za-z]+[0-9]+")
_REST = re.compile(r"(?:[^#]|#(?=\d))*")  # a reason, up to the next comment; `#12` is an issue
_NEVER_IDLE = frozenset({SYNTAX_ERROR, UNUSED_SUPPRESSION})

Verb = Literal["ignore", "file-ignore", "noqa"]


@dataclass(frozen=True, slots=True)
class Item:
    """A code or name in a comment; ``code`` is None when there is no such rule of ours."""

    text: str
    code: str | None
    start: int
    end: int
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Directive:
    """A suppression comment: the columns ``start`` to ``end`` of ``row``, covering ``rows``."""

    verb: Verb
    items: tuple[Item, ...]
    row: int
    start: int
    end: int
    rows: range

    def covers(self, row: int) -> bool:
        return self.verb == "file-ignore" or row in self.rows

    @property
    def span(self) -> Span:
        return Span(self.row, self.start, self.row, self.end)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A finding about a comment; it is void once one of the items of ``unless_used`` is used."""

    finding: Finding
    unless_used: frozenset[tuple[int, int]] = frozenset()


class Suppressions:
    """The suppression comments of a file.

    ``used`` collects row and column of the items that had something to suppress.
    """

    def __init__(self, document: Document, known: Mapping[str, str] = RESERVED) -> None:
        self.document = document
        self.known = known
        self.directives: list[Directive] = []
        self.used: set[tuple[int, int]] = set()
        self._malformed: list[Complaint] = []
        lowered = document.code.lower()
        if b"distlint:" in lowered or (b"noqa" in lowered and self._may_name_ours(document.text)):
            for comment in scan(document).comments:
                comment.rows = document.within(comment.rows)
                self._read_own(comment)
                self._read_noqa(comment)

    @property
    def any(self) -> bool:
        return bool(self.directives or self._malformed)

    def suppress(self, code: str, rows: Iterable[int]) -> bool:
        """Is a finding of this code at one of these rows switched off?"""
        wanted = list(rows)
        hit = False
        for directive in self.directives:
            if any(directive.covers(row) for row in wanted):
                for item in directive.items:
                    if item.code == code:
                        self.used.add((directive.row, item.start))
                        hit = True
        return hit

    def complaints(self, enabled: Collection[str]) -> Iterator[Complaint]:
        """Comments that cannot work, and those for a rule in ``enabled`` that had no use so far."""
        yield from self._malformed
        for directive in self.directives:
            yield from self._misspelt(directive)
            unused = [
                item
                for item in directive.items
                if item.code in enabled
                and item.code not in _NEVER_IDLE
                and (directive.row, item.start) not in self.used
            ]
            if unused:
                yield self._unused(directive, unused)

    def _read_own(self, comment: Comment) -> None:
        for match in _OWN.finditer(comment.text):
            if match.start() > 0 and match["codes"] is None:
                continue  # prose that mentions us
            verb = match["verb"]
            span = _span(comment, match)
            if verb not in VERBS:
                self._malformed.append(self._unknown_verb(match, comment, span))
            elif not (match["codes"] or "").strip():
                example = f"`# distlint: {verb}[DST101]`"
                message = f"`{verb}` without a rule; write {example}"
                self._malformed.append(self._complaint(message, span))
            else:
                base = comment.column + match.start("codes")
                items = tuple(
                    Item(m[0], exact(m[0], self.known), base + m.start(), base + m.end())
                    for m in _ITEM.finditer(match["codes"])
                )
                kind: Verb = "ignore" if verb == "ignore" else "file-ignore"
                self._add(kind, items, comment, span)

    def _may_name_ours(self, text: str) -> bool:
        """Is there a ``noqa`` with codes of ours, in a comment or elsewhere?"""
        return any(
            not self._noqa_item(item[0], 0).foreign
            for match in _NOQA.finditer(text)
            for item in _NOQA_ITEM.finditer(match["codes"])
        )

    def _read_noqa(self, comment: Comment) -> None:
        """``# noqa`` with codes of ours; a bare one speaks to other tools and hides no hang."""
        for match in _NOQA.finditer(comment.text):
            base = comment.column + match.start("codes")
            items = tuple(
                self._noqa_item(m[0], base + m.start()) for m in _NOQA_ITEM.finditer(match["codes"])
            )
            if not all(item.foreign for item in items):
                self._add("noqa", items, comment, _span(comment, match))

    def _noqa_item(self, text: str, start: int) -> Item:
        code = text.upper() if text.upper() in self.known else None
        foreign = code is None and not text.upper().startswith("DST")
        return Item(text, code, start, start + len(text), foreign)

    def _add(self, verb: Verb, items: tuple[Item, ...], comment: Comment, span: Span) -> None:
        self.directives.append(
            Directive(verb, items, comment.row, span.column, span.end_column, comment.rows)
        )

    def _unknown_verb(self, match: re.Match[str], comment: Comment, span: Span) -> Complaint:
        verb = match["verb"]
        meant = nearest(verb, VERBS)
        hint = f"did you mean `{meant}`?" if meant else "use `ignore[...]` or `file-ignore[...]`"
        fix = None
        if meant and match["codes"]:
            start = comment.column + match.start("verb")
            place = Span(comment.row, start, comment.row, start + len(verb))
            fix = Fix("unsafe", f"Replace with `{meant}`", (Edit(place, meant),))
        return self._complaint(f"unknown directive `{verb}`; {hint}", span, fix)

    def _misspelt(self, directive: Directive) -> Iterator[Complaint]:
        for item in directive.items:
            if item.code is None and not item.foreign:
                span = Span(directive.row, item.start, directive.row, item.end)
                meant = None if directive.verb == "noqa" else self._meant(item.text)
                fix = (
                    Fix("unsafe", f"Replace with `{meant}`", (Edit(span, meant),))
                    if meant
                    else None
                )
                yield self._complaint(unknown_rule(item.text, self.known), span, fix)

    def _meant(self, text: str) -> str | None:
        return nearest(text, [*self.known, *self.known.values()])

    def _unused(self, directive: Directive, unused: list[Item]) -> Complaint:
        names = ", ".join(item.text for item in unused)
        if len(unused) == len(directive.items):
            fix = Fix("safe", "Remove the comment", (self._removal(directive),))
        else:
            fix = Fix("safe", f"Remove {names} from the comment", tuple(_cut(directive, unused)))
        where = "in this file" if directive.verb == "file-ignore" else "here"
        verb = "reports" if len(unused) == 1 else "report"
        complaint = self._complaint(f"{names} {verb} nothing {where}", directive.span, fix)
        keys = frozenset((directive.row, item.start) for item in unused)
        return Complaint(complaint.finding, keys)

    def _removal(self, directive: Directive) -> Edit:
        """Remove the comment with the space before it, or the line if it holds nothing else."""
        row, lines = directive.row, self.document.lines
        line = lines[row - 1]
        before = line[: directive.start - 1]
        after = line[directive.end - 1 :]
        if after.strip():  # the comment of another tool
            end = directive.end + len(after) - len(after.lstrip())
            return Edit(Span(row, directive.start, row, end), "")
        if before.strip() or row == len(lines):
            return Edit(Span(row, len(before.rstrip()) + 1, row, len(line) + 1), "")
        return Edit(Span(row, 1, row + 1, 1), "")

    def _complaint(self, message: str, span: Span, fix: Fix | None = None) -> Complaint:
        return Complaint(
            Finding(
                code=UNUSED_SUPPRESSION,
                name=RESERVED[UNUSED_SUPPRESSION],
                message=message,
                severity=Severity.WARNING,
                place=Place(self.document.path, span),
                fix=fix,
            )
        )


def _span(comment: Comment, match: re.Match[str]) -> Span:
    """The directive with the reason that follows it, without what another tool may read."""
    rest = _REST.match(comment.text, match.end())
    end = comment.column + len(comment.text[: rest.end() if rest else match.end()].rstrip())
    return Span(comment.row, comment.column + match.start(), comment.row, end)


def _cut(directive: Directive, unused: list[Item]) -> Iterator[Edit]:
    """Remove items together with the comma that belongs to each."""
    items = directive.items
    for index, item in enumerate(items):
        if item in unused:
            kept_before = any(other not in unused for other in items[:index])
            start = items[index - 1].end if kept_before else item.start
            end = item.end if kept_before else items[index + 1].start
            yield Edit(Span(directive.row, start, directive.row, end), "")
