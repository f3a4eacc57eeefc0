"""What a loop goes over: known items, or one that stands for all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeGuard

from distlint.analyzer import ir
from distlint.analyzer.symbolic import strides
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.class_hierarchy import counted_attributes, strides_by_rank
from distlint.analyzer.symbolic.framework_names import DATA_LOADER
from distlint.analyzer.symbolic.held import held_object, is_dict
from distlint.analyzer.symbolic.picked import is_of_own_length
from distlint.analyzer.symbolic.resolution import NameResolver
from distlint.analyzer.symbolic.values import (
    SAME,
    SELDOM_UNEVEN,
    UNEVEN,
    Const,
    Unknown,
    Value,
    const,
    unknown,
)
from distlint.analyzer.symbolic.view import JOINED

LOOP_BOUND = 2
"""Iterations that are executed of a loop whose count is not known."""

EXACT_BOUND = 16
"""Iterations that are executed of a loop whose count is known."""


def exact_items(machine: NameResolver, iterable: Value) -> tuple[Value, ...] | None:
    """The items of an iterable that is known to the last one and short."""
    if isinstance(iterable, v.Seq):
        return iterable.items if len(iterable.items) <= EXACT_BOUND else None
    if isinstance(iterable, v.Map):
        return tuple(key for key, _ in iterable.items)
    if isinstance(iterable, v.PerRank):
        mine = iterable.values[machine.rank]
        if isinstance(mine, (tuple, range, frozenset)) and len(mine) <= EXACT_BOUND:
            machine.context.refine(
                tuple(len(row) if hasattr(row, "__len__") else row for row in iterable.values)
            )
            ordered = sorted(mine, key=repr) if isinstance(mine, frozenset) else list(mine)
            return tuple(
                const(item) if not isinstance(item, tuple) else _lift(item) for item in ordered
            )
    if isinstance(iterable, Const) and isinstance(iterable.value, (range, tuple)):
        if len(iterable.value) <= EXACT_BOUND:
            return tuple(const(item) for item in iterable.value)
    return None


def trip(machine: NameResolver, iterable: Value, index: int, site: int) -> bool:
    """Does an iteration with this index take place?"""
    least = _least(machine, iterable)
    if least is not None and machine.decide_at(site, trip_atom(machine, least, index)):
        return True
    atom = trip_atom(machine, iterable, index)
    return machine.decide_at(site, atom)


def _least(machine: NameResolver, iterable: Value) -> Value | None:
    """What other ranks go through where this one has as many items, or more."""
    if JOINED in machine.store:
        return None
    iterable = _counted(iterable)
    if isinstance(iterable, v.Obj):
        marks = iterable.marks - {"uneven", strides.REST}
        has_more = strides.REST in iterable.marks
        return v.obj(iterable.kind, iterable.oid, iterable.inner, marks) if has_more else None
    return strides.least(iterable)


def takes_rest(machine: NameResolver, value: Value) -> bool:
    """Is it uneven only as the rank has as many items as others, or more?"""
    if isinstance(value, v.Instance):
        found = [each for each in _gone_through(machine, value) if is_uneven(machine, each)]
        return bool(found) and all(map(partial(takes_rest, machine), found))
    return strides.is_rest(value)


def _counted(iterable: Value) -> Value:
    """What the number of turns depends on."""
    while isinstance(iterable, Unknown) and iterable.op in {"enumerate", "item set", v.LOADER}:
        iterable = iterable.args[0]
    return iterable


def trip_atom(machine: NameResolver, iterable: Value, index: int) -> Unknown:
    """The unknown that says whether there is an item with this index."""
    iterable = _counted(iterable)
    uneven = is_uneven(machine, iterable) and JOINED not in machine.store
    weak = uneven and (getattr(iterable, "weak", False) or is_seldom_uneven(iterable))
    return unknown("trip", iterable, index, local=uneven, weak=weak, clean=True)


def is_uneven(machine: NameResolver, iterable: Value) -> bool:
    """May the number of items differ from rank to rank?"""
    if isinstance(iterable, v.Obj):
        return "uneven" in iterable.marks
    if isinstance(iterable, v.Instance):
        return strides_by_rank(machine, iterable.cls) or any(
            is_uneven(machine, each) for each in _gone_through(machine, iterable)
        )
    if isinstance(iterable, Unknown) and iterable.op == "zip":
        parts = [machine.resolve(arg) for arg in iterable.args]
        return bool(parts) and all(map(partial(is_uneven, machine), parts))
    return is_of_own_length(iterable)


def _gone_through(machine: NameResolver, iterable: v.Instance) -> Iterator[Value]:
    """What an object has in the attributes that make out how many items it gives."""
    for name in counted_attributes(machine, iterable.cls):
        value = machine.store.get((iterable.oid, name))
        if value is not None:
            yield value


def loop_item(
    machine: NameResolver, iterable: Value, index: int, turn: tuple[object, ...]
) -> Value:
    """The item of an iteration over something unknown; ``turn`` tells it from others."""
    if isinstance(iterable, Unknown) and iterable.op == "enumerate":
        inner, start = iterable.args
        number = _number_of(inner, const(0) if v.is_ranked(start) else start, index, turn)
        if v.is_ranked(start):
            number = v.binary("+", start, number, machine.cluster)
        return v.seq("tuple", [number, loop_item(machine, inner, index, turn)])
    if isinstance(iterable, Unknown) and iterable.op == v.LOADER:
        return unknown("item", iterable, index, turn, local=True, fresh=True)
    start = _start_of(iterable)
    if start is not None:
        return _number_of(iterable, start, index, turn)
    if isinstance(iterable, Unknown) and iterable.op == "zip":
        return v.seq("tuple", [loop_item(machine, arg, index, turn) for arg in iterable.args])
    if is_of_outputs(iterable):
        output = unknown("output", iterable, index, turn, local=True, fresh=True)
        if iterable.args[1] == "values":
            return output
        return v.seq("tuple", [unknown("name", iterable, index, turn, fresh=True), output])
    held = _held_item(machine, iterable, index, turn)
    if held is not None:
        return held
    if isinstance(iterable, v.Obj) and not iterable.marks & {"sharded", "shuffle=True"}:
        if machine.catalogue.subclass_of(iterable.kind, DATA_LOADER):
            return unknown("item", iterable, index, turn, SAME, fresh=True)
    own = isinstance(iterable, v.Obj) and "sharded" in iterable.marks
    own = own or is_of_own_length(iterable)
    return unknown("item", iterable, index, turn, local=own or None, fresh=True)


def _held_item(
    machine: NameResolver, iterable: Value, index: int, turn: tuple[object, ...]
) -> Value | None:
    """The object that a collection holds, by the side of its key in ``items()`` of a dict."""
    if not isinstance(iterable, Unknown) or iterable.local:
        return None
    view = iterable.args[1] if iterable.op == "method" and len(iterable.args) == 2 else None
    if view in {"items", "values"}:
        held = held_object(machine, iterable.args[0])
        if held is None or view == "values":
            return held
        return v.seq("tuple", [unknown("name", iterable, index, turn, fresh=True), held])
    return None if is_dict(iterable) else held_object(machine, iterable)


def as_loader(machine: NameResolver, node: ir.For | ir.Call, iterable: Value) -> Value:
    """What a loop goes over, or ``next`` is given: a loader where it is used as one."""
    function = machine.frame.function
    body = machine.frame.module.body if function is None else function.body
    found = machine.context.effects.graph.over_batches(machine.frame.module, body)
    return _loader(iterable) if node in found else iterable


def _loader(iterable: Value) -> Value:
    if not isinstance(iterable, Unknown) or iterable.local or iterable.op in {"range", v.LOADER}:
        return iterable
    if iterable.op in {"enumerate", "zip"}:
        first, *others = iterable.args
        return unknown(iterable.op, _loader(first), *others, clean=True)
    return unknown(v.LOADER, iterable)


def _start_of(iterable: Value) -> Value | None:
    """The first number of a ``range`` of unknown length, None if ranks may start at others."""
    if not isinstance(iterable, Unknown) or iterable.op != "range":
        return None
    bounds = [arg for arg in iterable.args if isinstance(arg, Value)]
    if len(bounds) != len(iterable.args) - (UNEVEN in iterable.args):
        return None  # a part by the rank
    start, step = (bounds[0] if len(bounds) > 1 else const(0)), bounds[2:]
    return start if v.are_uniform(start, *step) else None


def _number_of(iterable: Value, start: Value, index: int, turn: tuple[object, ...]) -> Value:
    """The number of a turn: the first is known, the second stands for all that follow."""
    if index == 0:
        return start
    counts_up = not (isinstance(iterable, Unknown) and iterable.op == "range" and iterable.args[2:])
    first = start.value if isinstance(start, Const) and type(start.value) is int else None
    lowest = const(first + index if counts_up and first is not None else None)
    return unknown("step", iterable, index, turn, lowest, fresh=True, clean=True)


def is_of_outputs(iterable: Value) -> TypeGuard[Unknown]:
    """Is it ``outputs.items()`` of a wrapped model? The names are alike, the tensors are not."""
    if not isinstance(iterable, Unknown) or iterable.op != "method":
        return False
    holder = iterable.args[0]
    is_own = isinstance(holder, Unknown) and holder.local
    is_own = is_own and (bool(holder.wrapped) or holder.op in {"call", "item", "index"})
    return is_own and iterable.args[1] in {"items", "values"}


def is_seldom_uneven(value: Value) -> bool:
    """Do the lengths of an uneven sequence mostly turn out to be equal?"""
    return SELDOM_UNEVEN in {*getattr(value, "marks", ()), *getattr(value, "tokens", ())}


def _lift(items: Iterable[object]) -> Value:
    return v.seq("tuple", [const(item) for item in items])
