"""Numbers of ranks and their counts, as the cluster that is simulated has them."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import Const, Value, const, unknown
from distlint.analyzer.symbolic.view import View
from distlint.catalogue.entries import RankSource


def rank_value(machine: View, source: RankSource, group: Value | None) -> Value:
    """The rank number or main-process test of a catalogue entry on each rank."""
    numbers = coordinates(machine, source.scope, source.axis, group)
    if numbers is None:
        return unknown("rank", source.name)
    if source.test is None:
        return v.ranked(numbers)
    wanted = max(numbers) if source.test == "last" else 0
    outcome = [number == wanted for number in numbers]
    return v.ranked([not item for item in outcome] if source.test == "nonmain" else outcome)


def coordinates(
    machine: View, scope: str, axis: str | None, group: Value | None
) -> tuple[int, ...] | None:
    if isinstance(group, v.Group):
        if group.kind == "axis":
            return machine.cluster.axis(group.detail)
        if group.kind == "ranks":
            order = sorted(group.detail)
            return tuple(
                order.index(rank) if rank in group.detail else -1
                for rank in range(machine.cluster.size)
            )
        if group.kind == "unknown":
            return machine.cluster.axis(group)
    elif group is not None and not (isinstance(group, Const) and group.value is None):
        return machine.cluster.axis(group)
    if axis is not None:
        return machine.cluster.axis(axis)
    if scope in {"global", "local", "node"}:
        return machine.cluster.coordinates(scope)
    if scope == "group":
        return machine.cluster.coordinates("global")
    return machine.cluster.axis(scope)


def uniform_value(machine: View, what: str, otherwise: Value) -> Value:
    if what == "world_size":
        return v.world_size(machine.cluster)
    if what == "local_world_size":
        return v.local_world_size(machine.cluster)
    if what == "nodes":
        return v.node_count(machine.cluster)
    if what in {"true", "false"}:
        return const(what == "true")
    return otherwise
