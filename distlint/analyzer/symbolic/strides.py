"""Parts of a collection by the rank: ``items[rank::n]``, ``items[rank * n : (rank + 1) * n]``.

Of the former, no rank gets more items than one whose part starts before its own. Of the latter,
the last ranks get fewer where ``n`` is rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import UNEVEN, Unknown, Value, unknown


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


REST = "rest"
"""What marks a part with at least as many items as those of the ranks that have an even one."""

BLOCK = "block"
"""What stands for the bounds of a part with ``n // world`` items."""


def part(base: Value, bounds: list[Value]) -> Unknown | None:
    """The part that bounds by the rank cut out; None if all ranks may have as many items.

    Uneven are parts whose number of items is rounded up, and those with what is left over. The
    length has to be that of what is cut: what was padded before has another one.
    """
    parts = list(_parts(bounds))
    lengths = list(_lengths(base))
    if not any(isinstance(each, v.PerRank) for each in parts):
        uneven = any(_counts_rest(bounds, length) for length in lengths)
        return unknown("shard", base, "contiguous", UNEVEN) if uneven else None
    for length in lengths:
        if _shares_rest(bounds, length) or _rounds_up_any(parts, length):
            return unknown("shard", base, "contiguous", UNEVEN)
        if _takes_rest(bounds, length) or _is_one_more(bounds, length):
            return unknown("shard", base, REST, UNEVEN)
        if _is_block(bounds, length):
            return _block(base)
    return None


def is_rest(part: Value) -> bool:
    """Is it a part, or a loader of one, that may have more items than those of other ranks?"""
    if isinstance(part, v.Obj):
        return REST in part.marks
    return isinstance(part, Unknown) and part.op in {"shard", "range"} and REST in part.args


def least(part: Value) -> Unknown | None:
    """The part of other ranks that has no more items than this one."""
    if not isinstance(part, Unknown) or not is_rest(part):
        return None
    return _block(part.args[0]) if part.op == "shard" else _numbers_of_block(part.args[-3])


def _block(base: Value) -> Unknown:
    return unknown("slice", base, BLOCK)


def _is_block(bounds: list[Value], length: Unknown) -> bool:
    """``start : start + n // world``, or ``rank * each : (rank + 1) * each``."""
    if not all(isinstance(step, v.Const) and step.value in (None, 1) for step in bounds[2:]):
        return False
    width = [each for each in _width(bounds) if each is not v.const(0)]
    if len(width) == 1:
        return isinstance(width[0], Unknown) and _is_by_world(width[0], "//", length)
    factors = [each.args for each in width if isinstance(each, Unknown) and each.op == "*"]
    if len(width) != 2 or len(factors) != 2:
        return False
    ends, starts = (
        next((each.values for each in pair if isinstance(each, v.PerRank)), ()) for pair in factors
    )
    counts = {each for pair in factors for each in pair if isinstance(each, Unknown)}
    return (
        len(counts) == 1
        and _is_by_world(counts.pop(), "//", length)
        and len(ends) == len(starts)
        and all(end - start == 1 for end, start in zip(ends, starts, strict=True))
    )


def numbers(bounds: list[Value]) -> Unknown | None:
    """The same of the numbers themselves: a range that ends where the collection does."""
    if len(bounds) < 2:
        return None
    parts = list(_parts(bounds))
    lengths = [each for each in parts if isinstance(each, Unknown) and each.op == "len"]
    uneven = unknown("range", *bounds, UNEVEN)
    if not any(isinstance(each, v.PerRank) for each in parts):
        return uneven if any(_counts_rest(bounds, length) for length in lengths) else None
    ends = [each for each in _parts([bounds[1]]) if isinstance(each, Unknown) and each.op == "min"]
    for length in lengths:
        if _shares_rest(bounds, length):
            return uneven
        if _rounds_up_any(parts, length) and any(length in each.args for each in ends):
            return uneven
        if (bounds[1] is length and _takes_rest(bounds, length)) or _is_one_more(bounds, length):
            return unknown("range", *bounds, length, REST, UNEVEN)
        if _is_block(bounds, length):
            return _numbers_of_block(length)
    return None


def _numbers_of_block(length: Value) -> Unknown:
    return unknown("range", BLOCK, length)


def spread(bounds: list[Value], base: Value | None = None) -> tuple[Unknown, Value] | None:
    """``n`` and ``world`` of ``rank * n // world : (rank + 1) * n // world``.

    Where ``world`` does not divide ``n``, some of these parts are one longer than others.
    """
    shares = [_share(bound) for bound in bounds[:2]]
    if len(shares) != 2 or shares[0] is None or shares[0] != shares[1]:
        return None
    length = shares[0][0]
    if base is None:
        return shares[0] if length.op == "len" and not is_evened_out(length) else None
    return shares[0] if length in _lengths(base) and not is_evened_out(base) else None


def _share(bound: Value) -> tuple[Unknown, Value] | None:
    if not isinstance(bound, Unknown) or bound.op != "//":
        return None
    product, world = bound.args[:2]
    if not isinstance(product, Unknown) or product.op != "*":
        return None
    by_rank = any(isinstance(each, v.PerRank) for each in product.args)
    counts = [each for each in product.args if isinstance(each, Unknown)]
    if not by_rank or len(counts) != 1 or not isinstance(world, v.WorldSizeExpr):
        return None
    return counts[0], world


def is_strided_range(bounds: list[Value]) -> bool:
    """Is it ``range(rank, len(items), world_size)``, of items that nothing has made even?"""
    if len(bounds) != 3 or not isinstance(bounds[0], v.PerRank):
        return False
    _, end, step = bounds
    is_whole = isinstance(end, Unknown) and end.op == "len" and not is_evened_out(end)
    return is_whole and isinstance(step, v.WorldSizeExpr)


def is_evened_out(base: Value) -> bool:
    """Has something been padded or cut with the world size in mind: ``x + x[: -len(x) % n]``?"""
    waiting: dict[Value, None] = dict.fromkeys([base])
    for each in (found := list(waiting)):  # grows meanwhile
        if isinstance(each, v.WorldSizeExpr):
            return True
        parts = each.args if isinstance(each, Unknown) else getattr(each, "items", ())
        for part in parts:
            if isinstance(part, Value) and part not in waiting:
                waiting[part] = None
                found.append(part)
    return False


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
    if any(isinstance(each, Unknown) and _is_by_world(each, "%", length) for each in parts):
        return True
    # or has a test of the rank against it been tried out?
    is_tried = any(isinstance(each, v.PerRank) for each in _width(bounds))
    return is_tried and _begins_after_rest(bounds, length)


def _takes_rest(bounds: list[Value], length: Unknown) -> bool:
    """Does a part that begins at ``rank * (n // world)`` go up to the end, on the last rank?"""
    start, end, *steps = bounds
    is_open = end is length or (isinstance(end, v.Const) and end.value is None)
    return (
        is_open
        and all(isinstance(step, v.Const) and step.value in (None, 1) for step in steps)
        and any(isinstance(each, Unknown) and _is_by_world(each, "//", length)
                for each in _parts([start]))
    )  # fmt: skip


def _is_one_more(bounds: list[Value], length: Unknown) -> bool:
    """Is it ``n // world + 1`` on this rank, with what is left over in where it begins?"""
    width = list(_width(bounds))
    return (
        any(isinstance(each, v.Const) and each.value == 1 for each in width)
        and any(isinstance(each, Unknown) and _is_by_world(each, "//", length) for each in width)
        and _begins_after_rest(bounds, length)
    )


def _begins_after_rest(bounds: list[Value], length: Unknown) -> bool:
    parts = _parts(bounds[:1])
    return any(isinstance(each, Unknown) and _is_by_world(each, "%", length) for each in parts)


def _counts_rest(bounds: list[Value], length: Unknown) -> bool:
    """Is it ``n // world + (i < n % world)`` with the number of the rank for ``i``?"""
    return any(
        isinstance(each, Unknown)
        and each.op == "<"
        and any(isinstance(arg, Unknown) and _is_by_world(arg, "%", length) for arg in each.args)
        for each in _parts(_width(bounds))
    )


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
        if isinstance(each, Unknown) and each.op in {"+", "min", "sum"}:
            parts = [arg for arg in each.args if isinstance(arg, Value)]
            if each.op == "min":
                parts = [
                    arg for arg in parts if isinstance(arg, Unknown) and arg.op in {"+", "sum"}
                ]
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
