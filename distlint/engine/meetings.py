"""Whether a fix lets ranks meet in collectives that do not belong together.

Ranks may meet in collectives of different places: each in its arm of a branch, or one when its work
is done and the others where they wait for that. But

- a collective that both come to, they meet in, and
- a collective that met another one before the fix meets no third one after it.

What was otherwise before the fix may stay so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from distlint.engine.moves import EditMoves
from distlint.source.finding import Meeting, Place

Spot = tuple[Path, int, int]
"""Where a call is in the new text: an offset, or, in files that stay, row and column."""

End = tuple[str, tuple[Spot, ...]]
"""A collective by its name and the calls that lead to it: a fix moves it where it stands."""

Pair = frozenset[End]


class Meetings:
    """Compares where ranks meet before and after edits of some files."""

    def __init__(self, moves: Sequence[EditMoves]) -> None:
        self.moves: Mapping[Path, EditMoves] = {each.path: each for each in moves}

    def misplaced(self, before: Sequence[Meeting], after: Sequence[Meeting]) -> Meeting | None:
        """Where ranks meet after the edits, did not before, and should not."""
        wrong = {_pair(each, self._moved) for each in before if each.is_misplaced}
        known = {_pair(each, self._moved) for each in before}
        taken = {end for pair in known for end in pair}
        for meeting in after:
            pair = _pair(meeting, self._spot)
            if pair not in (wrong if meeting.is_misplaced else known):
                if meeting.is_misplaced or not pair.isdisjoint(taken):
                    return meeting
        return None

    def lost(self, before: Iterable[Meeting], after: Iterable[Meeting]) -> Meeting | None:
        """Where ranks met before the edits, one waiting for the other, and do not any more."""
        left = {_pair(each, self._spot) for each in after}
        return next((each for each in before if _pair(each, self._moved) not in left), None)

    def _moved(self, place: Place) -> Spot:
        moves = self.moves.get(place.path)
        return _fixed(place) if moves is None else (place.path, moves.offset(place), 0)

    def _spot(self, place: Place) -> Spot:
        moves = self.moves.get(place.path)
        return _fixed(place) if moves is None else (place.path, moves.new_offset(place), 0)


def _pair(meeting: Meeting, spot: Callable[[Place], Spot]) -> Pair:
    return frozenset(
        (op, tuple(map(spot, path[:-1])))
        for op, path in zip(meeting.ops, meeting.paths, strict=True)
    )


def _fixed(place: Place) -> Spot:
    return place.path, place.span.row, place.span.column
