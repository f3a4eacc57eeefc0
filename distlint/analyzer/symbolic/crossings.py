"""Collectives in which ranks meet although each has come to another one in the program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from distlint.analyzer.symbolic.continuations import Continuation, EndOfGenerator, ReturnToCaller
from distlint.analyzer.symbolic.divergence import PathHistory
from distlint.analyzer.symbolic.state import Event, Place

Sites = tuple[tuple[str, int], ...]
"""Modules and sites: the calls that lead to a collective, the outermost first, and its own."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two ranks that meet in collectives of different places.

    It is what a program wants where each rank comes to one of them alone, as in the two arms of a
    branch, or where the others wait until one has done its work.
    """

    ops: tuple[str, str]
    sites: tuple[Sites, Sites]
    places: tuple[Place, Place]
    past: PathHistory
    """How the two ranks got there."""

    @property
    def is_misplaced(self) -> bool:
        """Has one of the ranks been where the other is now, and met it elsewhere?

        Two turns of one call are not told apart: loops that let ranks take turns end so.
        """
        first, second = self.places
        if self.sites[0] == self.sites[1]:
            return False
        return any(
            step.renamed is not None and (step.renamed[0] == first or step.renamed[1] == second)
            for steps, _ in self.past.ways()
            for step in steps
        )


def sites_of(event: Event, k: Continuation | None) -> Sites:
    """The calls that lead to a collective, as its continuation has them."""
    return (*reversed(list(_calls(k))), (event.module, event.site))


def _calls(k: Continuation | None) -> Iterator[tuple[str, int]]:
    while k is not None:
        if isinstance(k, ReturnToCaller):
            yield k.caller.module.key, k.site
        elif isinstance(k, EndOfGenerator):
            yield k.caller.module.key, k.statement.site
        k = k.next
