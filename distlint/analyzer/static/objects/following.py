"""Following values to what they were made from, without going in circles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.objects.sites import Origin
from distlint.analyzer.static.reaching_definitions import path_of


def ends(
    start: Iterable[Origin], onward: Callable[[Origin], Iterable[Origin] | None]
) -> Iterator[Origin]:
    """The origins that lead no further, in order; ``onward`` says where the others lead.

    A value that is made from itself, ``model = wrap(model)`` in a loop, is followed once.
    """
    left = [*start][::-1]
    followed: set[object] = set()
    while left:
        origin = left.pop()
        further = onward(origin)
        if further is None:
            yield origin
            continue
        key = (_stands_at(origin), origin.item, origin.attributes[:1])
        if key not in followed:
            followed.add(key)
            left += [*further][::-1]


def _stands_at(origin: Origin) -> object:
    """What tells a value from others: its node, or where a path begins.

    A path may grow in a circle, where a function calls itself with an attribute of what it is
    given: ``x.next``, ``x.next.next``.
    """
    path = path_of(origin.node) if isinstance(origin.node, ir.Attribute) else None
    return origin.node if path is None else (origin.point.around[-1:], path[:2])
