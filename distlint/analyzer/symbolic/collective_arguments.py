"""Arguments of collectives: by name, where they are written, and which have to agree."""

from __future__ import annotations

from contextlib import suppress

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import DISTRIBUTED, SUM
from distlint.analyzer.symbolic.tensors import dtype_of, shape_of
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const
from distlint.analyzer.symbolic.view import View
from distlint.catalogue.entries import Argument, Collective
from distlint.catalogue.entries import position as position_of


def named(
    params: tuple[str, ...], args: list[Value], keywords: dict[str, Value]
) -> dict[str, Value]:
    """Arguments by parameter name."""
    found = dict(keywords)
    for name, value in zip(params, args, strict=False):
        if name.startswith("*"):
            break
        found[name] = value
    return found


def argument_node(
    params: tuple[str, ...], param: str | None, node: ir.Call | None
) -> ir.Expr | None:
    """The source of an argument, so that its variable can be given the result."""
    if param is None or node is None:
        return None
    position = position_of(params, param)
    for index, argument in enumerate(node.args):
        if argument.keyword == param:
            return argument.value
        if argument.star:
            return None
        if index == position and argument.keyword is None:
            return argument.value
    return None


def root_of(row: Collective, arguments: dict[str, Value]) -> Value | None:
    if row.root is None:
        return None
    value = arguments.get(row.root)
    if value is None:
        return const(row.root_default) if row.root_default is not None else None
    return value


def agreeing(
    machine: View, row: Collective, arguments: dict[str, Value]
) -> tuple[tuple[str, Value], ...]:
    found = [(name, arguments[name]) for name in row.agree if name in arguments]
    if "op" in row.agree and "op" not in arguments and row.name.startswith(DISTRIBUTED):
        found.append(("op", v.external(SUM)))
    if row.kind == "group_creation" and "ranks" in row.params:
        ranks = arguments.get("ranks", const(None))
        if isinstance(ranks, Const) and ranks.value is None:
            ranks = const(tuple(sorted(machine.cluster.everyone)))
        elif is_each_alone(machine, ranks):
            ranks = const("each rank alone")  # with no other rank to wait for
        elif _is_own_part(ranks):
            ranks = v.ranked(list(range(machine.cluster.size)))
        found = [pair for pair in found if pair[0] != "ranks"]
        found.append(("ranks", ranks))
    if row.payload and row.name.startswith(DISTRIBUTED):
        tensor, package = arguments.get(row.payload), row.name.partition(".")[0]
        found.append(("dtype", dtype_of(tensor, package)))
        if row.kind in _OF_ONE_SHAPE:
            found.append(("shape", shape_of(tensor, package)))
    return tuple(found)


_OF_ONE_SHAPE = frozenset({"all_reduce", "broadcast", "reduce"})
"""Collectives whose tensors have the same shape on all ranks."""


def is_each_alone(machine: View, ranks: Value) -> bool:
    """Does every rank name a group of one, as a rule of itself?"""
    try:
        named = v.vector(ranks, machine.cluster.size)
    except ValueError:
        return False
    return all(isinstance(members, (list, tuple)) and len(members) == 1 for members in named)


def _is_own_part(value: Value) -> bool:
    """Is it a part of a list that the rank picks?"""
    if not isinstance(value, Unknown):
        return v.is_ranked(value)
    if value.op in {"part", "shard"}:
        return True
    if value.op == "call" or (value.op == "method" and "index" not in value.args[1:2]):
        return False
    return any(_is_own_part(arg) for arg in value.args if isinstance(arg, Value))


def concrete_arguments(
    machine: View, row: Collective, arguments: dict[str, Value]
) -> tuple[object, ...]:
    """The root and the agreeing arguments as this rank passes them, None where not known."""
    found: list[object] = []
    for value in (
        root_of(row, arguments),
        *(pair[1] for pair in agreeing(machine, row, arguments)),
    ):
        if value is not None and v.is_ranked(value):
            note_classes(machine, value)
        try:
            found.append(machine.on_this_rank(value) if value is not None else None)
        except ValueError:
            found.append(value.name if isinstance(value, v.External) else None)
    return tuple(found)


def note_classes(machine: View, value: Value) -> None:
    """Ranks that pass different arguments have to be compared."""
    with suppress(ValueError):
        machine.context.refine(tuple(map(repr, v.vector(value, machine.cluster.size))))


def is_posted(row: Collective, arguments: dict[str, Value]) -> bool:
    given = arguments.get(row.async_) if row.async_ else None
    return isinstance(given, Const) and given.value is True


def is_given(value: Value | None) -> bool:
    """Is something passed for a parameter, other than None?"""
    return value is not None and not (isinstance(value, Const) and value.value is None)


def argument_is(arguments: dict[str, Value], wanted: Argument) -> bool:
    value = arguments.get(wanted.param)
    return isinstance(value, Const) and value.value == wanted.value
