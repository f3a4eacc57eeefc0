"""Running a witness on every rank of the cluster: what deadlocks there is reported, nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from distlint.analyzer.machine import ABORT, Machine
from distlint.analyzer.product import Parting, alone, resume
from distlint.analyzer.rehearsal import Rehearsal
from distlint.analyzer.state import Cont, Cut, Event, Need, State
from distlint.analyzer.values import Unknown

MAX_EVENTS = 120
MAX_QUESTIONS = 200


@dataclass
class Trace:
    """What one rank does: its collectives, how it ends, and the log of decisions on the way."""

    rank: int
    events: list[Event] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Length of the log at each event."""
    turns: list[tuple[int, ...]] = field(default_factory=list)
    """Iterations of the enclosing loops at each event."""
    conts: list[Cont | None] = field(default_factory=list)
    """What was left to do at each event."""
    ended: str = "end"
    log: list[tuple[Any, ...]] = field(default_factory=list)
    asked: bool = False
    """Was there a question that the parting does not answer?"""


def replay(rehearsal: Rehearsal, start: State, parting: Parting) -> tuple[list[Trace], bool]:
    """The traces of all ranks under the assumptions of a parting, and whether they get stuck.

    The ranks beside the two side with the second or with the first of them; what nobody has
    assumed is false, or true.
    """
    traces: list[Trace] = []
    for others, default in _variants(parting):
        if default and not any(trace.asked for trace in traces):
            break
        traces = [
            run(rehearsal, start, rank, parting, others, default)
            for rank in range(rehearsal.cluster.size)
        ]
        if stuck(traces):
            return traces, True
    return traces, False


def _variants(parting: Parting) -> tuple[tuple[str, bool], ...]:
    """What the other ranks may do: the sides differ in rank-local assumptions only."""
    if any(isinstance(key, tuple) for key in parting.assumed):
        return ("B", False), ("A", False), ("B", True)
    return ("B", False), ("B", True)


def run(
    rehearsal: Rehearsal,
    start: State,
    rank: int,
    parting: Parting,
    others: str,
    default: bool,
    once: bool = False,
) -> Trace:
    """One rank alone, with what is not assumed decided one way; ``once`` runs each loop once."""
    first, second = parting.ranks
    side = "A" if rank == first else "B" if rank == second else others
    machine = Machine(rehearsal, rank, side)
    machine.load(start)
    machine.known = dict(parting.assumed)
    machine.log = []
    trace = Trace(rank, log=machine.log)
    partner = second if rank == first else first
    names = parting.names if side == "B" else {}
    while len(trace.events) < MAX_EVENTS:
        event = _advance(machine, trace, default, once)
        if not isinstance(event, Event):
            trace.ended = event
            break
        trace.events.append(event)
        trace.places.append(len(machine.log))
        trace.turns.append(machine.it)
        trace.conts.append(machine.k)
        machine.log.append(("event", event.frame, event.site, machine.it))
        if partner in event.members:
            place = machine.place(event)
            resume(machine, event, names.get(place, place))
        else:
            alone(machine, event)
    return trace


def _advance(machine: Machine, trace: Trace, default: bool, once: bool) -> Event | str:
    """Advance, answering open questions with the default."""
    for _ in range(MAX_QUESTIONS):
        try:
            return machine.advance()
        except Need as need:
            # the statement in hand is evaluated again
            del trace.log[machine.mark :]
            machine.known[need.key] = _answer(need.atom, default, once)
            trace.asked = True
        except Cut:
            return ABORT
    return ABORT


def _answer(atom: Unknown, default: bool, once: bool) -> bool:
    """Exceptions and further iterations are not assumed without need."""
    if atom.op == "trip":
        return once and atom.args[1] == 0
    return default and atom.op != "exception"


def stuck(traces: list[Trace]) -> bool:
    """Let the ranks meet in their collectives: does anybody wait for ever, or meet the wrong one?"""
    positions = [0] * len(traces)
    while True:
        heads: list[Event | None] = [
            trace.events[position] if position < len(trace.events) else None
            for trace, position in zip(traces, positions, strict=True)
        ]
        if any(
            head is None and trace.ended == ABORT for head, trace in zip(heads, traces, strict=True)
        ):
            return False
        ready = next((head for head in heads if head is not None and meets(head, heads)), None)
        if ready is None:
            return any(head is not None for head in heads)
        for rank in ready.members:
            positions[rank] += 1


def meets(event: Event, heads: list[Event | None]) -> bool:
    """Have all members of the group come to this very collective?"""
    for rank in event.members:
        other = heads[rank]
        if other is None or other.match != event.match or other.group != event.group:
            return False
        if any(
            mine is not None and theirs is not None and mine != theirs
            for mine, theirs in zip(event.arguments, other.arguments, strict=False)
        ):
            return False
    return True
