"""Of ``items[rank::n]``, no rank gets more items than one whose part starts before its own."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.analyzer.symbolic.values import Unknown


def starts(question: object) -> tuple[int, ...] | None:
    """Where the part of each rank starts, if it is asked about a turn over such a part."""
    if not isinstance(question, Unknown) or question.op != "trip":
        return None
    part = question.args[0]
    if not isinstance(part, Unknown) or part.op != "shard" or not isinstance(part.args[1], tuple):
        return None
    first: tuple[int, ...] = part.args[1]
    return first if all(isinstance(each, int) and each >= 0 for each in first) else None


def last(first: tuple[object, ...]) -> tuple[bool, ...]:
    """The ranks whose part starts last: they alone may get an item less than all others."""
    latest = max((each for each in first if isinstance(each, int)), default=-1)
    return tuple(each == latest for each in first)


def settled(question: object, rank: int, answers: Iterable[tuple[int, bool | None]]) -> bool | None:
    """What other ranks' answers leave to a rank; None if it may be either."""
    first = starts(question)
    for other, outcome in answers if first is not None else ():
        assert first is not None
        if outcome is True and first[rank] <= first[other]:
            return True
        if outcome is False and first[rank] >= first[other]:
            return False
    return None
