"""What functions have together with all that they may call; and sets of names as numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from distlint.analyzer import ir

Bits = int
"""A set of names, as a number with a bit for each: united at once, and small."""


class Numbering:
    """Which bit stands for which name."""

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}

    def of(self, names: Collection[str]) -> Bits:
        """The bits of a set of names."""
        bits = self._bits
        numbers = [bits.setdefault(name, len(bits)) for name in names]
        octets = bytearray(max(numbers, default=0) // 8 + 1)
        for number in numbers:
            octets[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(octets, "little")

    def has(self, names: Bits, name: str) -> bool:
        """Is a name in the set?"""
        number = self._bits.get(name)
        return number is not None and bool(names >> number & 1)


def close(
    function: ir.Function,
    callees: Callable[[ir.Function], Iterable[ir.Function]],
    own: Callable[[ir.Function], Bits],
    known: Callable[[ir.Function], Bits | None],
    keep: Callable[[ir.Function, Bits], None],
) -> Bits:
    """The bits of a function and of all that it may call.

    Found for a whole component of functions that call each other at once (Tarjan 1972), and kept
    for each function on the way.
    """
    found = known(function)
    if found is not None:
        return found
    order: dict[ir.Function, int] = {}
    low: dict[ir.Function, int] = {}
    mine: dict[ir.Function, Bits] = {}
    path: list[ir.Function] = []
    work: list[tuple[ir.Function, Iterator[ir.Function]]] = []

    def enter(item: ir.Function) -> None:
        order[item] = low[item] = len(order)
        mine[item] = own(item)
        path.append(item)
        work.append((item, iter(callees(item))))

    enter(function)
    while work:
        item, rest = work[-1]
        for callee in rest:
            finished = known(callee)
            if finished is not None:
                mine[item] |= finished
            elif callee not in order:
                enter(callee)
                break
            else:
                low[item] = min(low[item], order[callee])
        else:
            work.pop()
            if work:
                above = work[-1][0]
                low[above] = min(low[above], low[item])
            if low[item] == order[item]:
                found = 0
                members: list[ir.Function] = []
                while not members or members[-1] is not item:
                    members.append(path.pop())
                    found |= mine[members[-1]]
                for member in members:
                    keep(member, found)
                if work:
                    mine[work[-1][0]] |= found
    assert found is not None
    return found
