"""What a finding says about which places: the labels that are written into the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from distlint.output.table import where
from distlint.source.finding import (
    Confirmation,
    Decision,
    Explanation,
    Finding,
    Lane,
    Place,
    Step,
    is_plural,
    waiting,
)


@dataclass(frozen=True, slots=True)
class Label:
    """A text at a stretch of the source; the primary one is where the finding is."""

    place: Place
    text: str
    is_primary: bool = False


def labels_of(finding: Finding) -> list[Label]:
    """The place of the finding first, then where ranks wait, what they decided, what belongs."""
    texts: dict[Place, list[str]] = {finding.place: []}
    if finding.explanation is not None:
        for place, text in _explained(finding.explanation):
            texts.setdefault(place, []).append(text)
    for related in finding.related:
        if related.place not in texts:
            texts[related.place] = [related.message]
    return [
        Label(place, "; ".join(dict.fromkeys(said)), is_primary=place == finding.place)
        for place, said in texts.items()
    ]


def notes_of(finding: Finding) -> Iterator[tuple[str, str]]:
    """What remains to be said below the source: ``note`` or ``help``, and the text."""
    if finding.confirmation is not None:
        yield "note", _shown(finding.confirmation)
    explanation = finding.explanation
    if explanation is None:
        return
    if explanation.common is not None:
        op = explanation.common.text.partition(": ")[0]
        place = where(explanation.common.place, finding.place.path)
        yield "note", f"last matching collective: {op}{f' ({place})' if place else ''}"
    unplaced = [step for lane in explanation.lanes for step in lane.steps if step.place is None]
    if not explanation.lanes or unplaced or not all(map(_waits, explanation.lanes)):
        yield "note", explanation.effect
    yield "help", explanation.help


def _shown(confirmation: Confirmation) -> str:
    """``confirmed: rank 0 is stuck in barrier (line 7)``"""
    return f"{confirmation.verdict}: {confirmation.reason}"


def _explained(explanation: Explanation) -> Iterator[tuple[Place, str]]:
    ends = [lane.steps[-1] for lane in explanation.lanes if _waits(lane)]
    together = len(ends) > 1 and len({step.place for step in ends}) == 1
    for lane in explanation.lanes:
        for step in lane.steps:
            if step.place is not None:
                # sides that wait in one call are all ranks
                all_ranks = together and step.is_collective and step.place == ends[0].place
                yield step.place, _doing("all ranks" if all_ranks else lane.ranks, step)
    for decision in explanation.decisions:
        if decision.place is not None and decision.outcome:
            yield decision.place, _decided(decision)


def _waits(lane: Lane) -> bool:
    return bool(lane.steps) and lane.steps[-1].is_collective


def _doing(ranks: str, step: Step) -> str:
    if step.is_collective:
        return f"{waiting(ranks)} here"
    verb, _, rest = step.text.partition(" ")
    if verb not in _PLURALS:
        return f"{ranks}: {step.text}"
    return f"{ranks} {_PLURALS[verb] if is_plural(ranks) else verb} {rest}".rstrip()


_PLURALS = {
    "returns": "return",
    "breaks": "break",
    "goes": "go",
    "exits": "exit",
    "reaches": "reach",
    "ends": "end",
    "fails": "fail",
}


def _decided(decision: Decision) -> str:
    if decision.kind == "rank-local value" and decision.outcome in ("true", "false"):
        return f"assumed {decision.outcome} on all ranks"
    if decision.kind == "rank-local value":
        return f"rank-local: {decision.outcome}"
    if decision.kind == "failure path":
        return decision.outcome.replace("true", "raised").replace("false", "not raised")
    return f"assumed {decision.outcome}" if decision.kind == "assumed" else decision.outcome
