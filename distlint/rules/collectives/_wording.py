"""How the rules of this family speak about a witness."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.explanation import EventFact, Witness


def contrast(witness: Witness) -> str:
    """What comes next on each side: ``all_reduce on rank 0, nothing on every other rank``."""
    first, second = witness.ranks
    return f"{_next(witness.first)} on {first}, {_next(witness.second)} on {second}"


def kinds(witness: Witness) -> frozenset[str]:
    """The catalogue kind of the collective that one side alone comes to; both if that is open."""
    if witness.subject is not None:
        return frozenset({witness.subject.kind})
    return frozenset(event.kind for event in (witness.first, witness.second) if event is not None)


def condition(witness: Witness) -> str:
    """The deciding condition as the source has it, short enough for one line."""
    text = " ".join(witness.cause.text.split())
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


def proviso(witness: Witness) -> str:
    """Under which strategies the collective communicates at all, as the end of a sentence."""
    return f" (under {' or '.join(witness.conditional)})" if witness.conditional else ""


def _next(event: EventFact | None) -> str:
    return "nothing" if event is None else f"`{event.op}`"


def steps(witness: Witness) -> bool:
    """Is one of the events the forward or backward of a wrapped model?"""
    return not kinds(witness).isdisjoint({"forward", "backward"})
