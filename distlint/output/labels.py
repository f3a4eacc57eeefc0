"""What a finding says about which places: the labels that are written into the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from distlint.source.finding import Decision, Explanation, Finding, Lane, Place, Step


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
        Label(place, _joined(said), is_primary=place == finding.place)
        for place, said in texts.items()
    ]


def notes_of(finding: Finding) -> Iterator[tuple[str, str]]:
    """What remains to be said below the source: ``note`` or ``help``, and the text."""
    explanation = finding.explanation
    if explanation is None:
        return
    if explanation.common is not None:
        where = _place_text(explanation.common.place, finding.place)
        op = explanation.common.text.partition(": ")[0]
        yield "note", f"last matching collective: {op}{where}"
    unplaced = [step for lane in explanation.lanes for step in lane.steps if step.place is None]
    if not explanation.lanes or unplaced or not all(map(_waits, explanation.lanes)):
        yield "note", explanation.effect
    yield "help", explanation.help


def is_plural(ranks: str) -> bool:
    """Does a name of some ranks take a verb in the plural?"""
    return ranks.startswith(("ranks ", "the other ", "all "))


def _explained(explanation: Explanation) -> Iterator[tuple[Place, str]]:
    for lane in explanation.lanes:
        for step in lane.steps:
            if step.place is not None:
                yield step.place, _doing(lane.ranks, step)
    for decision in explanation.decisions:
        if decision.place is not None and decision.outcome:
            yield decision.place, _decided(decision)


def _waits(lane: Lane) -> bool:
    return bool(lane.steps) and lane.steps[-1].is_collective


def _doing(ranks: str, step: Step) -> str:
    if step.is_collective:
        return f"{ranks} {'wait' if is_plural(ranks) else 'waits'} here"
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
    if decision.kind == "rank-local value":
        return f"rank-local: {decision.outcome}"
    if decision.kind == "failure path":
        return decision.outcome.replace("true", "raised").replace("false", "not raised")
    return f"assumed {decision.outcome}" if decision.kind == "assumed" else decision.outcome


def _joined(texts: list[str]) -> str:
    """Several texts at one place; two sides that wait in one call are all ranks."""
    waiting = [text for text in texts if text.endswith(("waits here", "wait here"))]
    rest = [text for text in dict.fromkeys(texts) if text not in waiting]
    if len(waiting) > 1:
        waiting = ["all ranks wait here"]
    return "; ".join([*waiting, *rest])


def _place_text(place: Place | None, origin: Place) -> str:
    if place is None:
        return ""
    row = place.span.row
    if (place.path, place.cell) == (origin.path, origin.cell):
        return f" (line {row})"
    from distlint.source.paths import display

    cell = f":cell {place.cell}" if place.cell else ""
    return f" ({display(place.path)}{cell}:{row})"
