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


_ARITHMETIC = frozenset(
    {"+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "min", "max", "call", "number"}
)


def is_uneven_part(base: Value, bounds: list[Value]) -> bool:
    """Do these bounds by the rank give some ranks more items of a collection than others?

    The number of items is rounded up, or what is left over goes to some ranks. The length has to be
    that of what is cut: what was padded before has another one.
    """
    parts = list(_parts(bounds))
    if not any(isinstance(each, v.PerRank) for each in parts):
        return False
    return any(
        _shares_rest(bounds, length) or _rounds_up_any(parts, length) for length in _lengths(base)
    )


def is_uneven_range(bounds: list[Value]) -> bool:
    """The same of the numbers themselves, which end where the collection does."""
    parts = list(_parts(bounds))
    if len(bounds) < 2 or not any(isinstance(each, v.PerRank) for each in parts):
        return False
    ends = [each for each in _parts([bounds[1]]) if isinstance(each, Unknown) and each.op == "min"]
    lengths = [each for each in parts if isinstance(each, Unknown) and each.op == "len"]
    return any(
        _shares_rest(bounds, length)
        or (_rounds_up_any(parts, length) and any(length in each.args for each in ends))
        for length in lengths
    )


def is_dealt_out(base: Value) -> bool:
    """Is it ``array_split(items, world_size)``, of which the first parts may be longer?"""
    if not isinstance(base, Unknown) or base.op != "call" or len(base.args) < 3:
        return False
    return str(base.args[0]).endswith(".array_split") and isinstance(base.args[2], v.WorldSizeExpr)


def _lengths(base: Value) -> Iterator[Unknown]:
    """The lengths of a collection, and the number that a range goes up to."""
    yield v.unknown("len", base, local=False, clean=True)
    if isinstance(base, Unknown) and base.op == "range" and len(base.args) == 1:
        if isinstance(base.args[0], Unknown):
            yield base.args[0]


def _shares_rest(bounds: list[Value], length: Unknown) -> bool:
    """Does what is left over, ``n % world``, play a role in how many items a rank gets?"""
    parts = _parts(_width(bounds))
    return any(isinstance(each, Unknown) and _is_by_world(each, "%", length) for each in parts)


def _width(bounds: list[Value]) -> Iterator[Value]:
    """The terms of the sums that the end is and the start is not, or the other way round."""
    start = list(_addends(bounds[0]))
    for each in _addends(bounds[1]):
        if each in start:
            start.remove(each)
        else:
            yield each
    yield from start


def _addends(value: Value) -> Iterator[Value]:
    """The terms of a sum, also of one that is limited by something else: ``min(a + b, n)``."""
    waiting = [value]
    for each in waiting:  # grows meanwhile
        parts: list[Value] = []
        if isinstance(each, Unknown) and each.op in {"+", "min"}:
            parts = [arg for arg in each.args if isinstance(arg, Value)]
            if each.op == "min":
                parts = [arg for arg in parts if isinstance(arg, Unknown) and arg.op == "+"]
        waiting += parts
        if not parts:
            yield each


def _is_by_world(term: Unknown, op: str, length: Unknown) -> bool:
    return term.op == op and term.args[0] is length and isinstance(term.args[1], v.WorldSizeExpr)


def _rounds_up_any(parts: list[Value], length: Unknown) -> bool:
    return any(isinstance(each, Unknown) and _rounds_up(each, length) for each in parts)


def _rounds_up(term: Unknown, length: Unknown) -> bool:
    """``ceil(n / world)``, ``(n + world - 1) // world``, ``-(-n // world)``, ``n // world + 1``."""
    if term.op == "call" and str(term.args[0]).endswith(".ceil") and len(term.args) == 2:
        value = term.args[1]
        return isinstance(value, Unknown) and _is_by_world(value, "/", length)
    if term.op == "+":
        more = [each for each in term.args if isinstance(each, v.Const) and each.value == 1]
        whole = [each for each in term.args if isinstance(each, Unknown)]
        return bool(more) and any(_is_by_world(each, "//", length) for each in whole)
    if term.op == "//" and isinstance(term.args[1], v.WorldSizeExpr):
        left = term.args[0]
        if not isinstance(left, Unknown) or left.op not in {"+", "-"}:
            return False
        summed = list(_parts([left]))
        is_negative = left.op == "-" and left.args == (v.const(0), length)
        return is_negative or (length in summed and term.args[1] in summed)
    return False


def _parts(values: Iterable[Value]) -> Iterator[Value]:
    """Values and the terms that they are made of by arithmetic; ``n - n % world`` is one."""
    waiting = list(values)
    for each in waiting:  # grows meanwhile
        yield each
        if isinstance(each, Unknown) and each.op in _ARITHMETIC and not _is_cut(each):
            waiting += [arg for arg in each.args if isinstance(arg, Value)]


def _is_cut(term: Unknown) -> bool:
    right = term.args[1] if term.op == "-" else None
    return isinstance(right, Unknown) and right.op == "%" and right.args[0] is term.args[0]
