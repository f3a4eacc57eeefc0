"""What the fixes of a file do to the files that import it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from distlint.engine import documents
from distlint.engine.check import Session, is_python
from distlint.engine.meetings import Meetings
from distlint.engine.moves import EditMoves
from distlint.engine.results import State
from distlint.engine.settings import Resolver
from distlint.rules.table import UNUSED_SUPPRESSION
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Finding, Meeting, Place
from distlint.source.notebook import relative
from distlint.source.paths import display
from distlint.source.report import Report

_NUMBERS = re.compile(r"\d+")


class Change(Protocol):
    """A document before and after fixes."""

    @property
    def before(self) -> Document: ...

    @property
    def after(self) -> Document: ...


class Importers:
    """The files of a run that may import repaired ones."""

    def __init__(self, report: Report, resolver: Resolver) -> None:
        self.files = report.files
        self.resolver = resolver
        self._unchanged: dict[Path, State] = {}

    def harm(
        self, changes: Mapping[Path, Change], repaired: Collection[Path] = ()
    ) -> dict[Path, str]:
        """The repaired files that bring findings to files which import them, and which.

        Files that are ``repaired``, too, are not looked at.
        """
        harm: dict[Path, str] = {}
        for file in self.files:
            if file in changes or file in repaired:
                continue
            left = {path: each for path, each in changes.items() if path not in harm}
            named, problem = self._problem_in(file, left)
            harm.update(dict.fromkeys(named, problem))
        return harm

    def _problem_in(self, file: Path, changes: Mapping[Path, Change]) -> tuple[list[Path], str]:
        """What is new in a file that names repaired modules, and these, to which it is laid."""
        try:
            document = documents.read(file)
            named = [path for path in changes if _module_name(path).encode() in document.code]
            if not named:
                return [], ""
            if file not in self._unchanged:
                self._unchanged[file] = self._state(document, {})
            before = self._unchanged[file]
            after = self._state(document, {path: each.after for path, each in changes.items()})
        except (OSError, DocumentError):
            return [], ""
        for new in _news(before, after):
            where = relative(document, new).place
            return named, f"it would introduce {new.code} in {display(where.path)}, {_where(where)}"
        moves = [EditMoves.between(each.before, each.after) for each in changes.values()]
        problem = _problem_of_meetings(Meetings(moves), before, after)
        return (named, f"in {display(file)}, {problem}") if problem else ([], "")

    def _state(self, document: Document, changed: Mapping[Path, Document]) -> State:
        """What is to be said about a file alone, so that it counts what others do when it runs."""
        buffers = {path: each for path, each in changed.items() if is_python(each)}
        session = Session(self.resolver, buffers)
        return session.state_of(document, self.resolver.of_file(document.path))


def _news(before: State, after: State) -> Iterator[Finding]:
    """What is found in a file that stays, or in what it calls, and was not found before."""
    known = Counter(map(loose, before.proposed))
    for finding in after.proposed:
        known[loose(finding)] -= 1
        if known[loose(finding)] < 0 and finding.code != UNUSED_SUPPRESSION:
            yield finding


def _problem_of_meetings(meetings: Meetings, before: State, after: State) -> str:
    """Why ranks should not meet as they do in a file that stays, if so."""
    meeting = meetings.misplaced(before.meetings, after.meetings)
    if meeting is not None:
        return said_of(meeting, after.document)
    if any(finding.explanation is not None for finding in before.findings):
        return ""  # the ranks did not come through: what has met may have been what is wrong
    meeting = meetings.lost(before.meetings, after.meetings)
    return "" if meeting is None else f"ranks would not wait for each other in {meeting.ops[0]}"


def _where(place: Place) -> str:
    row = f"line {place.span.row}"
    return f"cell {place.cell}, {row}" if place.cell else row


def _module_name(path: Path) -> str:
    return path.parent.name if path.stem == "__init__" else path.stem


def loose(finding: Finding) -> tuple[str, str]:
    """What a finding says, whatever line it speaks of."""
    return finding.code, _NUMBERS.sub("", finding.message)


def said_of(meeting: Meeting, document: Document) -> str:
    """Why ranks should not meet so."""
    (one, other), (path, other_path) = meeting.ops, meeting.paths
    first, second = told(path[-1], document), told(other_path[-1], document)
    return f"{one} ({first}) would meet another call of {other} ({second})"


def told(place: Place, document: Document) -> str:
    row = place.span.row
    return document.where(row) if place.path == document.path else f"line {row}"
