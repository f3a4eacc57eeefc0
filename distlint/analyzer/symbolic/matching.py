"""Whether the collectives of two ranks match, and how a rank goes on after its own."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import assign_place
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.machine import Machine
from distlint.analyzer.symbolic.state import (
    BranchUndecided,
    CallRequested,
    CollectiveReached,
    Event,
    Place,
    Stop,
)
from distlint.analyzer.symbolic.values import Value, unknown


def next_common(machine: Machine, other: int) -> Event | Stop:
    """The next collective in which both this rank and ``other`` take part."""
    while True:
        event = machine.advance()
        if not isinstance(event, Event) or other in event.members:
            return event
        alone(machine, event)


def resume(machine: Machine, event: Event, place: Place) -> None:
    """Go on after a matched collective; a result that has no simple place is left alone."""
    try:
        machine.resume(event, place)
    except (BranchUndecided, CollectiveReached, CallRequested):
        machine.results[event.result_key] = unknown("sync", place, fresh=True)


def alone(machine: Machine, event: Event) -> None:
    """Pass a collective of a group that the other rank is no member of."""
    value: Value = unknown("sync", "own", machine.place(event), fresh=True)
    try:
        if event.result == "uniform_in_place" and event.result_target is not None:
            filled = unknown("sync", "own", machine.place(event), v.FILLED, fresh=True)
            assign_place(machine, event.result_target, filled)
            machine.assign_in_callers(event.result_target, filled)
            value = v.const(None)
    except (BranchUndecided, CollectiveReached, CallRequested):
        pass
    machine.results[event.result_key] = event.value if event.value is not None else value


def difference(
    context: ExecutionContext, events: tuple[Event | Stop, Event | Stop], ranks: tuple[int, int]
) -> str | None:
    """Why two next collectives do not match: ``""`` or the argument that differs; else None."""
    first, second = events
    if not isinstance(first, Event) or not isinstance(second, Event):
        return ""
    if first.match != second.match:
        return ""
    if first.group != second.group:
        return "group" if first.site == second.site else ""
    if _differ(context, first.root, second.root, ranks):
        return "root"
    for (name, left), (_, right) in zip(first.agree, second.agree, strict=False):
        if _differ(context, left, right, ranks):
            return name
    return None


def _differ(
    context: ExecutionContext, left: Value | None, right: Value | None, ranks: tuple[int, int]
) -> bool:
    """Are two arguments known, and different?"""
    if left is None or right is None:
        return False
    if left is right and not isinstance(left, (v.PerRank, v.Seq)):
        return False
    size = context.cluster.size
    try:
        return bool(v.vector(left, size)[ranks[0]] != v.vector(right, size)[ranks[1]])
    except ValueError:
        return isinstance(left, v.External) and isinstance(right, v.External)
