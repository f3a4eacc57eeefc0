"""What the two ranks of a divergence have done in a replay, and where that differs."""

from __future__ import annotations

from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.static.hooks import NEXT_STEP
from distlint.analyzer.symbolic.continuations import Continuation
from distlint.analyzer.symbolic.execution_log import (
    Assigned,
    Decided,
    Issued,
    LogEntry,
    decisions_in,
    without_steps,
)
from distlint.analyzer.symbolic.proofs import Proof
from distlint.analyzer.symbolic.state import Frame, Iterations
from distlint.source.finding import Place

Logs = tuple[list[LogEntry], list[LogEntry]]
"""What each of the two sides has done."""


class Sides:
    """The two ranks of a divergence."""

    def __init__(self, proof: Proof, locators: Locators, main: str) -> None:
        self.proof = proof
        self.main = main
        self.locators = locators
        first, second = proof.divergence.ranks
        self.traces = (
            proof.irrelevant.without(proof.traces[first]),
            proof.irrelevant.without(proof.traces[second]),
        )
        self.others = (second, first)
        self.common = tuple(
            [index for index, event in enumerate(trace.events) if other in event.members]
            for trace, other in zip(self.traces, self.others, strict=True)
        )

    def logs_since_alignment(self) -> Logs:
        """The logs since the two ranks last met at the same place in the same iteration."""
        serial = self.proof.divergence.serial
        starts = [0, 0]
        if any(
            event is not None and event.name == NEXT_STEP for event in self.proof.divergence.events
        ):
            serial_from = 0  # what a flag says has been written before the ranks last met
        else:
            serial_from = serial
        for number in range(serial_from - 1, -1, -1):
            pair = [
                (trace, self.common[side][number]) if number < len(self.common[side]) else None
                for side, trace in enumerate(self.traces)
            ]
            if pair[0] is None or pair[1] is None:
                continue
            events = [trace.events[index] for trace, index in pair]  # type: ignore[misc]
            if events[0].site == events[1].site and events[0].frame is events[1].frame:
                if pair[0][0].turns[pair[0][1]] != pair[1][0].turns[pair[1][1]]:
                    continue
                starts = [trace.places[index] for trace, index in pair]  # type: ignore[misc]
                break
        ends = [
            trace.places[self.common[side][serial]]
            if serial < len(self.common[side])
            else len(trace.log)
            for side, trace in enumerate(self.traces)
        ]
        return (
            without_steps(self.traces[0].log[starts[0] : ends[0]]),
            without_steps(self.traces[1].log[starts[1] : ends[1]]),
        )

    def left_to_do(self, side: int) -> Continuation | None:
        """The continuation of a side at the collective where the ranks part."""
        serial = self.proof.divergence.serial
        common = self.common[side]
        return self.traces[side].conts[common[serial]] if serial < len(common) else None

    def differing(self) -> list[Decided]:
        """All decisions, from the start on, that the two ranks took differently."""
        first, second = (
            {entry.question: entry for entry in decisions_in(trace.log)} for trace in self.traces
        )
        return [
            entry
            for question, entry in first.items()
            if question in second and second[question].outcome != entry.outcome
        ]

    def assigned(self) -> list[set[tuple[Frame, int]]]:
        """Where each side has assigned something."""
        return [
            {entry.place for entry in trace.log if isinstance(entry, Assigned)}
            for trace in self.traces
        ]

    def alone(self, entry: Decided, side: int) -> bool:
        """Did the other side come to another answer to this very question?"""
        return any(
            other.question == entry.question and other.outcome != entry.outcome
            for other in decisions_in(self.traces[1 - side].log)
        )

    def located(self, entry: LogEntry) -> Place:
        """Where in its file an entry belongs."""
        return self.locators.of(entry.frame.module.key).place(entry.site)


_EntryKey = tuple[type[LogEntry], Frame, int, Iterations, int]
"""What identifies an entry: kind, activation, site, iteration, collectives so far."""


def last_split(first: list[LogEntry], second: list[LogEntry]) -> tuple[int, int]:
    """Where two logs part for good: the last decision that differs before they lose each other.

    Branches that rejoin with nothing but local work in them are skipped: the logs meet again there.
    """
    left, right = _keys(first), _keys(second)
    i = j = 0
    last: tuple[int, int] | None = None
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            one, other = first[i], second[j]
            if isinstance(one, Decided) and isinstance(other, Decided):
                last = (i, j) if one.outcome != other.outcome else last
            i, j = i + 1, j + 1
            continue
        again = _meeting(left, right, i, j)
        if again is None:
            break
        i, j = again
    return last if last is not None else (i, j)


def _keys(log: list[LogEntry]) -> list[_EntryKey]:
    """What identifies each entry of a log."""
    serial = 0
    found = []
    for entry in log:
        serial += isinstance(entry, Issued)
        turns = entry.turns if isinstance(entry, (Decided, Issued)) else ()
        found.append((type(entry), entry.frame, entry.site, turns, serial))
    return found


def _meeting(
    left: list[_EntryKey], right: list[_EntryKey], i: int, j: int
) -> tuple[int, int] | None:
    """The nearest positions from which two logs say the same."""
    places = {key: index for index, key in reversed(list(enumerate(right[j:], j)))}
    best = None
    for index in range(i, len(left)):
        other = places.get(left[index])
        if other is not None and (best is None or index + other < sum(best)):
            best = (index, other)
    return best
