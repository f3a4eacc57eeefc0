"""The model cluster: a few concrete ranks on which rank predicates are evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

JOBS = ((2, 1), (2, 2), (3, 3), (4, 2), (8, 8), (16, 4), (64, 8), (64, 64))
"""Nodes times ranks on each, as (ranks, ranks of a node), that a comparison of such numbers alone
is tried on; never one rank.

Numbers of the same job go together: what a node has divides what all have.
"""

MAX_AXES = 3

_WITHIN: dict[object, tuple[str, ...]] = {"mp": ("tp", "pp")}
"""Axes that are planes: all ranks with one model are those of its tensors and of its pipeline."""

MOST_RANKS = 16
"""Ranks of the largest cluster that is simulated."""

MOST_MEMBERS = 4096
"""Members of a group, or ranks of a condition, that are looked at one by one."""


class NeedBiggerCluster(Exception):
    """The code tells more ranks or mesh axes apart than the cluster has."""

    def __init__(self, nodes: int, local: int) -> None:
        super().__init__(f"{nodes} x {local}")
        self.nodes = nodes
        self.local = local


@dataclass
class Cluster:
    """``nodes`` times ``local`` ranks, numbered node by node, with mesh axes of two ranks each.

    Axes are laid over the ranks on first use: the first is the fastest-running one. The size is a
    power of two when axes are in use, so each combination of coordinates exists.
    """

    nodes: int = 2
    local: int = 2
    axes: dict[object, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return self.nodes * self.local

    @cached_property
    def everyone(self) -> frozenset[int]:
        return frozenset(range(self.size))

    def coordinates(self, scope: str) -> tuple[int, ...]:
        """The coordinate of each rank: ``global``, ``local`` or ``node``."""
        if scope == "global":
            return tuple(range(self.size))
        if scope == "node":
            return tuple(rank // self.local for rank in range(self.size))
        return tuple(rank % self.local for rank in range(self.size))

    def last(self, scope: str) -> int:
        """The highest coordinate of a scope."""
        return max(self.coordinates(scope))

    def axis(self, key: object) -> tuple[int, ...] | None:
        """The coordinate of each rank on a mesh axis; None when too many axes are named.

        Raises:
            NeedBiggerCluster: when the axis needs more ranks than there are.
        """
        bits = self._bits(key)
        if bits is None:
            return None
        return tuple(
            sum((rank >> bit & 1) << place for place, bit in enumerate(bits))
            for rank in range(self.size)
        )

    def _bits(self, key: object) -> tuple[int, ...] | None:
        """The bits of a rank's number that are its coordinate on an axis."""
        bits = [self._bit(part) for part in _WITHIN.get(key, (key,))]
        return None if None in bits else tuple(bit for bit in bits if bit is not None)

    def _bit(self, key: object) -> int | None:
        bit = self.axes.get(key)
        if bit is None:
            bit = len(self.axes)
            if bit >= MAX_AXES:
                return None
            if 2 ** (bit + 1) > self.size:
                raise NeedBiggerCluster(self.nodes * 2, self.local)
            self.axes[key] = bit
        return bit

    def line(self, key: object, rank: int) -> frozenset[int] | None:
        """The group of ``rank`` on an axis: the ranks that share all its other coordinates."""
        bits = self._bits(key)
        if bits is None:
            return None
        others = ~sum(1 << bit for bit in bits)
        return frozenset(each for each in self.everyone if each & others == rank & others)

    def within(self, ranks: Iterable[int]) -> frozenset[int]:
        """Ranks by their numbers, where the last rank stands for those that no cluster here has.

        The first so many ranks, if these are more, are all but the last.
        """
        numbers = frozenset(ranks)
        named = frozenset(number for number in numbers if number < MOST_RANKS)
        if named == numbers:
            return numbers
        if self.everyone <= named:
            return self.everyone - {self.size - 1}
        return named | {self.size - 1}

    def require(self, ranks: int) -> None:
        """Make sure that rank ``ranks - 1`` exists.

        Raises:
            NeedBiggerCluster: when it does not and a cluster of sensible size would have it.
        """
        if self.size < ranks <= MOST_RANKS:
            nodes = self.nodes
            while nodes * self.local < ranks:
                nodes *= 2
            raise NeedBiggerCluster(nodes, self.local)
