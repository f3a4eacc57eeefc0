"""Where what was found in a text lies in a later one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from distlint.source.document import Document
from distlint.source.finding import Decision, Explanation, Finding, Lane, Place, Related, Step
from distlint.source.incomplete import Incomplete


class Moves:
    """The way from one text of a file to a later one, which differ in one stretch of lines."""

    def __init__(self, before: Document, after: Document) -> None:
        self.path = before.path
        old, new = before.lines, after.lines
        shorter = min(len(old), len(new))
        self.head = _shared(zip(old, new, strict=False), shorter)
        """Lines that both texts begin with."""
        tail = _shared(zip(reversed(old), reversed(new), strict=False), shorter - self.head)
        self.end = len(old) - tail
        """Lines of the earlier text before those that both end with."""
        self.rows = len(new) - len(old)

    def findings(self, found: Iterable[Finding]) -> Iterator[Finding]:
        """Those that do not lie in what has changed, without their fixes."""
        for finding in found:
            place = self.place(finding.place)
            if place is not None:
                yield replace(
                    finding,
                    place=place,
                    related=tuple(self._related(finding.related)),
                    explanation=self._explanation(finding.explanation),
                    moved_from=self.place(finding.moved_from),
                    fix=None,
                )

    def incomplete(self, found: Iterable[Incomplete]) -> Iterator[Incomplete]:
        """The entry points that still stand where they can be found."""
        for each in found:
            place = self.place(each.place)
            if place is not None:
                yield replace(each, place=place)

    def place(self, place: Place | None) -> Place | None:
        """Where a place is now; None for none, and if it lies in what has changed."""
        if place is None or place.path != self.path:
            return place
        span = place.span
        row, end_row = self._row(span.row), self._row(span.end_row)
        if row is None or end_row is None:
            return None
        return replace(place, span=replace(span, row=row, end_row=end_row))

    def _row(self, row: int) -> int | None:
        if row <= self.head:
            return row
        return row + self.rows if row > self.end else None

    def _related(self, related: Iterable[Related]) -> Iterator[Related]:
        for each in related:
            place = self.place(each.place)
            if place is not None:
                yield replace(each, place=place)

    def _explanation(self, told: Explanation | None) -> Explanation | None:
        if told is None:
            return None
        return replace(
            told,
            common=self._step(told.common) if told.common else None,
            lanes=tuple(
                Lane(each.ranks, tuple(map(self._step, each.steps))) for each in told.lanes
            ),
            decisions=tuple(map(self._decision, told.decisions)),
        )

    def _step(self, step: Step) -> Step:
        return replace(step, place=self.place(step.place))

    def _decision(self, decision: Decision) -> Decision:
        return replace(decision, place=self.place(decision.place))


def _shared(pairs: Iterable[tuple[str, str]], most: int) -> int:
    """How many lines are the same before two differ."""
    count = 0
    for one, other in pairs:
        if count == most or one != other:
            break
        count += 1
    return count
