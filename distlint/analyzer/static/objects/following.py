"""Following values to what they were made from, without going in circles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from distlint.analyzer.static.objects.sites import Origin


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
        key = (origin.node, origin.item, origin.attributes[:1])  # attributes may grow in a circle
        if key not in followed:
            followed.add(key)
            left += [*further][::-1]
