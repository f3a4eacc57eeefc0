"""The decisions that a deadlock needs: each is changed in turn, and the ranks run once more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.divergence import Divergence
from distlint.analyzer.symbolic.execution_log import Decided, LogEntry, decisions_in
from distlint.analyzer.symbolic.matching import difference
from distlint.analyzer.symbolic.rank_execution import Trace
from distlint.analyzer.symbolic.replay import replay
from distlint.analyzer.symbolic.state import Event, Known, OverBudget, State, Stop
from distlint.analyzer.symbolic.values import Unknown, Value
from distlint.analyzer.symbolic.view import SIDES

MAX_CANDIDATES = 12
"""Decisions of one deadlock that are changed."""

DecisionPoint = tuple[str, int]
"""The module and the site of a test of the rank."""


@dataclass(frozen=True, slots=True)
class Irrelevant:
    """Decisions without which the ranks would get stuck at the same place."""

    atoms: frozenset[Unknown] = frozenset()
    spots: frozenset[DecisionPoint] = frozenset()

    def covers(self, entry: LogEntry) -> bool:
        """Is an entry of a log such a decision?"""
        if not isinstance(entry, Decided):
            return False
        if v.is_ranked(entry.value):
            return _spot(entry) in self.spots
        atoms = set(_local_atoms(entry.value))
        return bool(atoms) and atoms <= self.atoms

    def without(self, trace: Trace) -> Trace:
        """A trace that does not mention them."""
        if not (self.atoms or self.spots):
            return trace
        kept = list[LogEntry]()
        before = [0]
        for entry in trace.log:
            if not self.covers(entry):
                kept.append(entry)
            before.append(len(kept))
        places = [before[place] for place in trace.places]
        return replace(trace, log=kept, places=places)


NOTHING = Irrelevant()


@dataclass
class Deadlock:
    """A divergence that has been replayed, and what it shows not to need."""

    divergence: Divergence
    traces: list[Trace]
    irrelevant: Irrelevant = NOTHING


class Minimizer:
    """Finds the decisions that one deadlock needs."""

    def __init__(
        self, context: ExecutionContext, start: State, found: Deadlock, budget: int
    ) -> None:
        self.context = context
        self.start = start
        self.found = found
        self.budget = budget
        self.spent = 0
        self.atoms = set[Unknown]()
        self.forced: dict[DecisionPoint, bool] = {}
        self.place = _where(found.divergence, found.traces)

    def run(self) -> Deadlock:
        """Leave out what is not needed, as far as the budget lasts. A sole decision is needed."""
        own = [each for each in _own_decisions(self.found) if _alternatives(*each)]
        if len(own) + len(_rank_tests(self.found)) < 2:
            return self.found
        with suppress(OverBudget):
            self.leave_out_own()
            self.leave_out_ranks()
        irrelevant = Irrelevant(frozenset(self.atoms), frozenset(self.forced))
        return replace(self.found, irrelevant=irrelevant)

    def leave_out_own(self) -> None:
        """Change what ranks decide for themselves: failures first, and then what parts them."""
        for atom, answers in _own_decisions(self.found):
            if self.changes(atom, answers):
                self.atoms.add(atom)

    def changes(self, atom: Unknown, answers: tuple[bool | None, bool | None]) -> bool:
        """Do the ranks get stuck at the same place when a decision comes out otherwise?"""
        for outcome in _alternatives(atom, answers):
            own: Known = {(side, atom): outcome for side in SIDES}
            divergence = self.found.divergence
            divergence = replace(divergence, assumed={**divergence.assumed, **own})
            traces = self.stuck(divergence)
            if traces is not None:
                self.found = Deadlock(_shown(divergence, traces), traces)
                return True
            if None in answers and self.leaves_the_other_waiting(divergence):
                return True
        return False

    def leaves_the_other_waiting(self, divergence: Divergence) -> bool:
        """Does a rank wait where it did before, and the other one do something else than before?

        What that one decides after the ranks have diverged does not help the one that waits. Of
        the two, a collective that the other comes to says more than that it ends.
        """
        traces = self.replayed(divergence)
        if traces is None or not diverges(self.context, divergence, traces):
            return False
        place = _where(divergence, traces)
        found = zip(place, self.place, strict=True)
        if not any(now is not None and now == before for now, before in found):
            return False
        if None in self.place and None not in place:
            divergence = replace(divergence, events=_events(divergence, traces))
            self.found, self.place = Deadlock(divergence, traces), place
        return True

    def leave_out_ranks(self) -> None:
        """Let all ranks take one arm of what tests the rank."""
        for spot in _rank_tests(self.found):
            for outcome in (False, True):
                trial = {**self.forced, spot: outcome}
                divergence = self.found.divergence
                divergence = replace(
                    divergence, assumed=_mirrored(divergence.assumed), forced=trial
                )
                traces = self.stuck(divergence)
                # a loop over what each rank has of its own is no test that could be forced
                if traces is not None and _obey(traces, spot, outcome):
                    self.forced = trial
                    break

    def stuck(self, divergence: Divergence) -> list[Trace] | None:
        """The traces, if the two ranks get stuck at the same place as before.

        Raises:
            OverBudget: when there is nothing left to spend on explanations.
        """
        traces = self.replayed(divergence)
        same = traces is not None and _where(divergence, traces) == self.place
        return traces if same else None

    def replayed(self, divergence: Divergence) -> list[Trace] | None:
        """The traces, if the ranks get stuck.

        Raises:
            OverBudget: when there is nothing left to spend on explanations.
        """
        if self.spent >= self.budget:
            raise OverBudget
        with self.context.aside(budget=self.budget):
            try:
                traces, shown = replay(self.context, self.start, divergence)
            except OverBudget:
                return None
            finally:
                self.spent += self.context.steps
        return None if shown is None else traces


def _mirrored(assumed: Known) -> Known:
    """Assumptions that answer for both ranks what one of them was asked alone.

    A rank that is led elsewhere is not to part from the other by something else.
    """
    own = {key: outcome for key, outcome in assumed.items() if isinstance(key, tuple)}
    both: Known = {(side, key[1]): outcome for key, outcome in own.items() for side in SIDES}
    return {**both, **assumed}


def _obey(traces: list[Trace], spot: DecisionPoint, outcome: bool) -> bool:
    """Have all tests of the rank at a place come out like this?"""
    return all(
        entry.outcome is outcome
        for trace in traces
        for entry in decisions_in(trace.log)
        if isinstance(entry.value, v.PerRank) and _spot(entry) == spot
    )


def _where(divergence: Divergence, traces: list[Trace]) -> list[tuple[str, int, str] | None]:
    """The collectives of the two ranks at which they part, None at the end."""
    return [
        (event.module, event.site, event.name) if event is not None else None
        for event in _events(divergence, traces)
    ]


def diverges(context: ExecutionContext, divergence: Divergence, traces: list[Trace]) -> bool:
    """Are the two ranks at collectives that do not match when a replay gets stuck?

    Else others are stuck, and the two only wait for them.
    """
    first, second = _events(divergence, traces)
    if first is None and second is None:
        return False
    return (
        difference(context, (first or Stop.END, second or Stop.END), divergence.ranks) is not None
    )


def _events(divergence: Divergence, traces: list[Trace]) -> tuple[Event | None, Event | None]:
    first, second = divergence.ranks
    return _event(traces[first], second, divergence), _event(traces[second], first, divergence)


def _event(trace: Trace, other: int, divergence: Divergence) -> Event | None:
    common = [event for event in trace.events if other in event.members]
    return common[divergence.serial] if divergence.serial < len(common) else None


def _shown(divergence: Divergence, traces: list[Trace]) -> Divergence:
    """The divergence with the collectives of a replay."""
    first, second = (
        new if old is not None else None
        for new, old in zip(_events(divergence, traces), divergence.events, strict=True)
    )
    return replace(divergence, events=(first, second))


def _own_decisions(found: Deadlock) -> Iterator[tuple[Unknown, tuple[bool | None, bool | None]]]:
    """What the two ranks have decided for themselves, and how each did."""
    answers: dict[Unknown, list[bool | None]] = {}
    for side, rank in enumerate(found.divergence.ranks):
        for entry in decisions_in(found.traces[rank].log):
            if not v.is_ranked(entry.value):
                value, outcome = entry.value, entry.outcome
                while isinstance(value, Unknown) and value.op == "not":
                    value, outcome = value.args[0], not outcome
                for atom in _local_atoms(value):
                    row = answers.setdefault(atom, [None, None])
                    row[side] = outcome if atom is value else _assumed(found.divergence, side, atom)
    order = sorted(answers, key=lambda atom: _order(atom, answers[atom]))
    for atom in order[:MAX_CANDIDATES]:
        first, second = answers[atom]
        yield atom, (first, second)


def _assumed(divergence: Divergence, side: int, atom: Unknown) -> bool | None:
    return divergence.assumed.get((SIDES[side], atom))


def _order(atom: Unknown, answers: list[bool | None]) -> int:
    if atom.op == "exception":
        return 0 if True in answers else 3
    return 1 if answers[0] is not answers[1] else 2


def _alternatives(atom: Unknown, answers: tuple[bool | None, bool | None]) -> tuple[bool, ...]:
    """How a decision comes out otherwise: the same for both ranks. Failures only go away."""
    if atom.op == "exception":
        return (False,) if True in answers else ()
    if answers[0] is answers[1]:
        return ()  # it separates no ranks
    known = {answer for answer in answers if answer is not None}
    return tuple(outcome for outcome in (False, True) if known != {outcome})


def _rank_tests(found: Deadlock) -> list[DecisionPoint]:
    """Where the two ranks have tested which rank they are, and differ."""
    seen: list[dict[DecisionPoint, set[bool]]] = [{}, {}]
    for side, rank in enumerate(found.divergence.ranks):
        for entry in decisions_in(found.traces[rank].log):
            if isinstance(entry.value, v.PerRank):
                seen[side].setdefault(_spot(entry), set()).add(entry.outcome)
    spots = dict.fromkeys((*seen[0], *seen[1]))
    return [s for s in spots if seen[0].get(s) != seen[1].get(s)][:MAX_CANDIDATES]


def _spot(entry: Decided) -> DecisionPoint:
    return (entry.frame.module.key, entry.site)


def _local_atoms(value: Value) -> Iterator[Unknown]:
    """The questions about this rank's own that a decision asks."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, v.Phi):
            stack.extend((item.test, item.then, item.orelse))
        elif isinstance(item, Unknown):
            item = v.tested(item)
            if item.op == "not":
                stack.append(item.args[0])
            elif item.local:
                yield item
