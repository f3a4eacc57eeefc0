"""Why the analysis of an entry point may have missed something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from distlint.source.finding import Place


class Reason(Enum):
    """What was cut off. The value is the name in JSON and does not change.

    What is bounded by design is no reason: a loop whose turns are alike is followed for two of
    them, a recursion for two levels, one rank stands for all that do the same, and a call that by
    all its names neither communicates nor tells ranks apart is not looked into.
    """

    BUDGET = "budget"
    STATES = "states"
    CALLS = "calls"
    LOOPS = "loops"
    UNCONFIRMED = "unconfirmed"
    DIVERGENCES = "divergences"
    IMPORTS = "imports"
    CLUSTER_SIZE = "cluster-size"

    @property
    def text(self) -> str:
        return _TEXTS[self]


_TEXTS = {
    Reason.BUDGET: "too many execution paths to compare all of them",
    Reason.STATES: "too many different states reach a statement, and some were dropped",
    Reason.CALLS: "some calls that may communicate are nested too deeply and were not analysed",
    Reason.LOOPS: "the code after a loop with many iterations was not reached",
    Reason.UNCONFIRMED: "a possible divergence could be neither confirmed nor ruled out",
    Reason.DIVERGENCES: "too many divergences; the remaining code was not analysed",
    Reason.IMPORTS: "an imported module is too large or could not be parsed",
    Reason.CLUSTER_SIZE: "it needs more ranks than are simulated",
}


@dataclass(frozen=True, slots=True)
class Incomplete:
    """An entry point that was not analysed in full."""

    function: str
    """Its name, empty for the body of the module."""
    place: Place
    reasons: tuple[Reason, ...]

    @property
    def name(self) -> str:
        return f"{self.function}()" if self.function else "the module body"


def ordered(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Once each, in the order in which they are defined."""
    found = frozenset(reasons)
    return tuple(reason for reason in Reason if reason in found)
