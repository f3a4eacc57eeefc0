"""The lock-step walk of two ranks from one common collective to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer import values as v
from distlint.analyzer.machine import ABORT, END, Machine, Place
from distlint.analyzer.rehearsal import Rehearsal
from distlint.analyzer.state import OPAQUE, Cut, Emit, Enter, Event, Frame, Key, Need, State
from distlint.analyzer.values import Value, unknown


@dataclass(frozen=True, slots=True)
class Assumed:
    """A decision that was assumed, linked to the earlier ones."""

    key: Any
    outcome: bool
    before: Assumed | None

    def items(self) -> dict[Any, bool]:
        found: dict[Any, bool] = {}
        step: Assumed | None = self
        while step is not None:
            found.setdefault(step.key, step.outcome)
            step = step.before
        return found


@dataclass(frozen=True, slots=True)
class Parting:
    """Two ranks that do different things next: ``differs`` names an argument, or is empty."""

    ranks: tuple[int, int]
    events: tuple[Event | None, Event | None]
    assumed: dict[Any, bool]
    serial: int
    differs: str = ""
    common: int = -1
    """Site of the last common collective."""
    names: dict[Place, Place] = field(default_factory=dict)
    """Collectives that the second rank has met elsewhere than the first, by the first's place."""

    @property
    def kind(self) -> tuple[Any, ...]:
        """What makes two partings alike: where the ranks were last together, and where they are."""
        sites = [event and (event.module, event.site) for event in self.events]
        return (*sites, self.differs, self.common)


@dataclass(slots=True)
class _Pair:
    states: tuple[State, State]
    known: dict[Any, bool]
    assumed: Assumed | None
    names: dict[Place, Place]
    serial: int
    common: int = -1
    recent: frozenset[Any] = frozenset()
    """What has been decided since the last common collective: it is asked again on this way."""


def walk(rehearsal: Rehearsal, start: State, first: int, second: int) -> Iterator[Parting]:
    """Every way (within the bounds) in which two ranks come to different collectives.

    Raises:
        OverBudget: when there are too many states.
    """
    machines = (Machine(rehearsal, first, "A"), Machine(rehearsal, second, "B"))
    liveness = rehearsal.liveness
    work = [_Pair((start, start), {}, None, {}, 0)]
    seen: set[Any] = set()
    while work:
        pair = work.pop()
        identity, pair.known = liveness.identity(pair.states, pair.known, pair.recent)
        if identity in seen:
            continue
        seen.add(identity)
        try:
            events = _next_common(machines, pair)
        except Need as need:
            _note_assumptions(machines, pair)
            work.extend(_split(machines, pair, need))
            continue
        except Cut:
            continue
        _note_assumptions(machines, pair)
        if ABORT in events or events == (END, END):
            continue
        differs = _difference(rehearsal, events, (first, second))
        if differs is not None and _is_open(events):
            continue
        if differs is not None:
            yield Parting(
                (first, second),
                (_event(events[0]), _event(events[1])),
                pair.assumed.items() if pair.assumed else {},
                pair.serial,
                differs,
                pair.common,
                pair.names,
            )
            continue
        first_event, second_event = events
        assert isinstance(first_event, Event)
        assert isinstance(second_event, Event)
        names = pair.names
        place, other = machines[0].place(first_event), machines[1].place(second_event)
        if other != place:
            names = {**names, other: place}
        resume(machines[0], first_event, place)
        resume(machines[1], second_event, place)
        states = (machines[0].save(), machines[1].save())
        work.append(
            _Pair(states, pair.known, pair.assumed, names, pair.serial + 1, first_event.site)
        )


def _is_open(events: tuple[Event | str, Event | str]) -> bool:
    """Is one of them a call that is not looked into? It may hold what the other rank does."""
    return any(isinstance(event, Event) and event.kind == OPAQUE for event in events)


def resume(machine: Machine, event: Event, place: Place) -> None:
    """Go on behind a matched collective; a result that has no simple place is left alone."""
    try:
        machine.resume(event, place)
    except (Need, Emit, Enter):
        machine.results[event.result_key] = unknown("sync", place, fresh=True)


def _event(found: Event | str) -> Event | None:
    return found if isinstance(found, Event) else None


def _split(machines: tuple[Machine, Machine], pair: _Pair, need: Need) -> Iterator[_Pair]:
    """Go on from where the question came up, once for each answer."""
    states = []
    recent = set(pair.recent)
    for machine, before in zip(machines, pair.states, strict=True):
        reached = machine.save() if machine.reached else before
        if (reached.k, reached.it) != (before.k, before.it):
            # what this side alone was asked on the way is not asked again
            recent = {key for key in recent if not _is_own(key, machine.side)}
        states.append(reached)
    recent.add(need.key)
    for outcome in (True, False):
        yield _Pair(
            (states[0], states[1]),
            {**pair.known, need.key: outcome},
            Assumed(need.key, outcome, pair.assumed),
            pair.names,
            pair.serial,
            pair.common,
            frozenset(recent),
        )


def _note_assumptions(machines: tuple[Machine, Machine], pair: _Pair) -> None:
    """Keep what was assumed on the way for the replay."""
    for machine in machines:
        for key, outcome in machine.assumptions:
            pair.assumed = Assumed(key, outcome, pair.assumed)
        machine.assumptions = []


def _is_own(key: Any, side: str) -> bool:
    return isinstance(key, tuple) and key[0] == side


def _next_common(machines: tuple[Machine, Machine], pair: _Pair) -> tuple[Event | str, Event | str]:
    found: list[Event | str] = []
    machines[1].reached = False
    for index, machine in enumerate(machines):
        machine.load(pair.states[index])
        machine.known = pair.known
        machine.assumptions = []
        machine.reached = True
        other = machines[1 - index].rank
        found.append(next_common(machine, other))
        if found[-1] == ABORT:
            return ABORT, ABORT
    return found[0], found[1]


def next_common(machine: Machine, other: int) -> Event | str:
    """The next collective in which both this rank and ``other`` take part."""
    while True:
        event = machine.advance()
        if not isinstance(event, Event) or other in event.members:
            return event
        alone(machine, event)


def alone(machine: Machine, event: Event) -> None:
    """Pass a collective of a group that the other rank is no member of."""
    value: Value = unknown("sync", "own", machine.place(event), fresh=True)
    try:
        if event.result == "uniform_in_place" and event.result_target is not None:
            machine.assign_place(event.result_target, value)
            value = v.const(None)
    except (Need, Emit, Enter):
        pass
    machine.results[event.result_key] = event.value if event.value is not None else value


def _difference(
    rehearsal: Rehearsal, events: tuple[Event | str, Event | str], ranks: tuple[int, int]
) -> str | None:
    """Why two next collectives do not match: ``""`` or the argument that differs; else None."""
    first, second = events
    if not isinstance(first, Event) or not isinstance(second, Event):
        return ""
    if first.match != second.match:
        return ""
    if first.group != second.group:
        return "group" if first.site == second.site else ""
    if _differ(rehearsal, first.root, second.root, ranks):
        return "root"
    for (name, left), (_, right) in zip(first.agree, second.agree, strict=False):
        if _differ(rehearsal, left, right, ranks):
            return name
    return None


def _differ(
    rehearsal: Rehearsal, left: Value | None, right: Value | None, ranks: tuple[int, int]
) -> bool:
    """Are two arguments known, and different?"""
    if left is None or right is None:
        return False
    if left is right and not isinstance(left, (v.Ranked, v.Seq)):
        return False
    size = rehearsal.cluster.size
    try:
        return bool(v.vector(left, size)[ranks[0]] != v.vector(right, size)[ranks[1]])
    except ValueError:
        return isinstance(left, v.External) and isinstance(right, v.External)


def root_state(
    rehearsal: Rehearsal, frame: Frame, body: ir.Block, store: dict[Key, Value]
) -> State:
    """The state at the beginning of a root."""
    return Machine(rehearsal, 0, "A").start(frame, body, store)
