"""Process groups: which values are one, and which ranks are in it."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.collective_events import WORLD, Membership
from distlint.analyzer.symbolic.values import Const, Unknown, Value, unknown
from distlint.analyzer.symbolic.view import View
from distlint.catalogue.entries import Collective, GroupSource

BUILT_WITH_GROUP = "[group]"
"""Where an object keeps the process group that its constructor was given."""

MAX_RANK = 1_000_000
"""No job has more processes; a larger number is not treated as a rank."""


def group_of(
    machine: View, row: Collective, arguments: dict[str, Value], receiver: Value | None
) -> Membership:
    """Who takes part in a collective."""
    if row.group is not None and row.group in arguments:
        return members_of(machine, machine.resolve(arguments[row.group]))
    kind = row.group_kind
    if kind == "receiver" and isinstance(receiver, v.Obj):
        built_with = machine.store.get((receiver.oid, BUILT_WITH_GROUP))
        if built_with is not None:
            return members_of(machine, machine.resolve(built_with))
    if kind == "receiver" and receiver is not None and is_group(receiver):
        return members_of(machine, receiver)
    if kind in {None, "world", "receiver"}:
        return WORLD
    if kind == "node":
        mine = machine.rank // machine.cluster.local
        members = frozenset(
            rank for rank in machine.cluster.everyone if rank // machine.cluster.local == mine
        )
        return members, ("node", members), "node", True
    if kind in {"mesh", "mp"}:
        return None, ("unknown", kind), kind, False
    return members_of(machine, v.group("axis", kind))


def members_of(machine: View, group: Value) -> Membership:
    if isinstance(group, Const) and group.value is None:
        return WORLD
    if isinstance(group, v.Group):
        if group.kind == "world":
            return WORLD
        if group.kind == "ranks":
            return (
                group.detail,
                ("ranks", group.detail, group.oid),
                _ranks_text(group.detail),
                True,
            )
        if group.kind == "axis":
            line = machine.cluster.line(group.detail, machine.rank)
            if line is not None:
                return line, ("axis", group.detail, line), str(group.detail), True
    line = machine.cluster.line(group, machine.rank) if group in machine.cluster.axes else None
    if line is not None:
        return line, ("axis", group, line), "group", True
    return None, ("unknown", group), "group", False


def rank_set(machine: View, value: Value | None) -> frozenset[int] | None:
    if value is None or (isinstance(value, v.Seq) and value.kind == v.CUT):
        return None
    try:
        mine = machine.on_this_rank(value)
    except ValueError:
        return None
    try:
        found = frozenset(int(item) for item in mine)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if all(abs(rank) <= MAX_RANK for rank in found) else None


def group_from(
    machine: View, source: GroupSource, arguments: dict[str, Value], receiver: Value | None
) -> Value:
    """The process group that a call or attribute yields."""
    if source.axis is not None:
        return v.group("world") if source.axis == "world" else v.group("axis", source.axis)
    if source.ranks is not None:
        ranks = arguments.get(source.ranks)
        if ranks is None or (isinstance(ranks, Const) and ranks.value is None):
            members = machine.cluster.everyone
            return v.group("ranks", members, machine.number("group", machine.here(machine.site)))
        named = rank_set(machine, ranks)
        if named is not None:
            members = machine.cluster.within(named)
            if members:
                machine.cluster.require(max(members) + 1)
            return v.group("ranks", members, machine.number("group", machine.here(machine.site)))
        return v.group("unknown", ranks)
    if source.mesh is not None:
        dimension = next(iter(arguments.values()), None)
        base = receiver.inner if isinstance(receiver, v.Obj) and receiver.inner else None
        key = dimension if dimension is not None else base
        if isinstance(key, Const) and isinstance(key.value, str):
            return v.group("axis", _axis_name(key.value))
        return v.group("axis", ("mesh", receiver, key))
    return v.group("unknown", unknown("group", source.name))


def _ranks_text(members: frozenset[int]) -> str:
    return f"ranks {', '.join(map(str, sorted(members)))}"


def _axis_name(text: str) -> str:
    """``dp_shard`` and ``data_parallel`` are both a data axis."""
    lowered = text.lower()
    for short, long in (
        ("tp", "tensor"),
        ("pp", "pipeline"),
        ("dp", "data"),
        ("cp", "context"),
        ("ep", "expert"),
        ("sp", "sequence"),
    ):
        if lowered == short or long in lowered:
            return short
    return lowered


def is_group(value: Value | None) -> bool:
    """Is it a process group, or called one, as a parameter or an attribute?"""
    if not isinstance(value, Unknown):
        return isinstance(value, v.Group)
    name = value.args[-1] if value.op in {"param", "attr"} else ""
    return isinstance(name, str) and name.endswith(("group", "pg"))
