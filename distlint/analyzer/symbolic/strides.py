"""Parts of a collection by the rank: ``items[rank::n]``, ``items[rank * n : (rank + 1) * n]``.

Of the former, no rank gets more items than one whose part starts before its own. Of the latter,
the last ranks get fewer where ``n`` is rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import Unknown, Value


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


_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "call", "number"})


def is_rounded_up(base: Value, bounds: Iterable[Value]) -> bool:
    """Are these bounds of a part by the rank, with the length of the whole rounded up?

    The length has to be that of what is cut: what was padded before has another one.
    """
    length = v.unknown("len", base, local=False, clean=True)
    parts = list(_parts(bounds))
    return any(isinstance(each, v.PerRank) for each in parts) and any(
        isinstance(each, Unknown) and _rounds_up(each, length) for each in parts
    )


def _rounds_up(term: Unknown, length: Unknown) -> bool:
    """``math.ceil(n / world)``, ``(n + world - 1) // world`` or ``-(-n // world)``."""
    if term.op == "call" and str(term.args[0]).endswith(".ceil") and len(term.args) == 2:
        return _is_quotient(term.args[1], length)
    if term.op == "//" and isinstance(term.args[1], v.WorldSizeExpr):
        left = term.args[0]
        if not isinstance(left, Unknown) or left.op not in {"+", "-"}:
            return False
        summed = list(_parts([left]))
        is_negative = left.op == "-" and left.args == (v.const(0), length)
        return is_negative or (length in summed and term.args[1] in summed)
    return False


def _is_quotient(value: object, length: Unknown) -> bool:
    return (
        isinstance(value, Unknown)
        and value.op == "/"
        and value.args[0] is length
        and isinstance(value.args[1], v.WorldSizeExpr)
    )


def _parts(values: Iterable[Value]) -> Iterator[Value]:
    """Values and the terms that they are made of by arithmetic."""
    waiting = list(values)
    for each in waiting:  # grows meanwhile
        yield each
        if isinstance(each, Unknown) and each.op in _ARITHMETIC:
            waiting += [arg for arg in each.args if isinstance(arg, Value)]
