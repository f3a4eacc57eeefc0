"""Python's functions that make collections, measure them and go through them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import strides
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.converting import convert
from distlint.analyzer.symbolic.expressions import Expressions
from distlint.analyzer.symbolic.iterables import as_loader, exact_items, is_of_outputs, loop_item
from distlint.analyzer.symbolic.picked import is_of_own_length, is_picked
from distlint.analyzer.symbolic.subscripts import is_multiple
from distlint.analyzer.symbolic.values import UNEVEN, Const, Unknown, Value, const, unknown

SHORT_RANGE = 8
"""Ranges of a known length up to this are run through in full."""


def make_range(machine: Expressions, args: list[Value]) -> Value:
    args = [machine.resolve(arg) for arg in args]
    if any(arg.local for arg in args) or _is_strided(machine, args):
        return unknown("range", *args, UNEVEN)
    part = strides.numbers(args)
    if part is not None:
        return part
    if any(v.is_ranked(arg) for arg in args):
        try:
            columns = [v.vector(arg, machine.cluster.size) for arg in args]
            return v.ranked(
                [
                    range(*(column[rank] for column in columns))
                    for rank in range(machine.cluster.size)
                ]
            )
        except (ValueError, TypeError):
            return unknown("range", *args)
    try:
        columns = [v.vector(arg, machine.cluster.size) for arg in args]
        made = range(*(column[0] for column in columns))
        length = len(made)
    except (ValueError, TypeError, OverflowError):
        return unknown("range", *args)
    if length > SHORT_RANGE:
        # long loops are cut short; two that differ by one turn still differ
        return v.seq(v.CUT, [const(item) for item in made[: 2 + length % 3]])
    return v.seq("list", [const(item) for item in made])


def _is_strided(machine: Expressions, bounds: list[Value]) -> bool:
    if strides.is_strided_range(bounds):
        return not is_multiple(machine, bounds[1], bounds[2])
    shared = strides.spread(bounds)
    return shared is not None and not is_multiple(machine, *shared)


def call_range(machine: Expressions, args: list[Value], *_: object) -> Value:
    return make_range(machine, args)


def call_len(machine: Expressions, args: list[Value], *_: object) -> Value | None:
    return machine.of_each(args[0], partial(_length, machine)) if args else None


def _length(machine: Expressions, value: Value) -> Value:
    if isinstance(value, (v.Seq, v.Map)):
        return const(len(value.items))
    if isinstance(value, v.PerRank):
        return convert(machine, len, value)
    if isinstance(value, Const) and hasattr(value.value, "__len__"):
        return const(len(value.value))
    if isinstance(value, v.Obj):
        uneven = "uneven" in value.marks
        return unknown("len", value, local=uneven, clean=True)
    if isinstance(value, Unknown) and not (value.local or is_picked(value)):
        return unknown("len", value)
    # the length of rank-local data is uniform as a rule, unless it is a share of the whole
    return unknown("len", value, local=is_of_own_length(value), clean=True)


def call_extreme(machine: Expressions, function: Callable[..., Any], args: list[Value]) -> Value:
    items = args
    if len(args) == 1:
        whole = machine.resolve(args[0])
        if not isinstance(whole, v.Seq):
            return unknown(function.__name__, whole, local=is_of_outputs(whole))
        items = list(whole.items)
    if items and any(isinstance(item, (v.PerRank, v.WorldSizeExpr)) for item in items):
        try:
            columns = [v.vector(item, machine.cluster.size) for item in items]
            return v.ranked([function(row) for row in zip(*columns, strict=True)])
        except (ValueError, TypeError):
            pass
    try:
        return const(function(v.plain(item) for item in items))
    except (ValueError, TypeError):
        return unknown(function.__name__, *items)


def call_divmod(machine: Expressions, args: list[Value], *_: object) -> Value | None:
    if len(args) != 2:
        return None
    left, right = args
    whole, rest = (v.binary(op, left, right, machine.cluster) for op in ("//", "%"))
    return v.seq("tuple", [whole, rest])


def call_min(machine: Expressions, args: list[Value], *_: object) -> Value:
    return call_extreme(machine, min, args)


def call_max(machine: Expressions, args: list[Value], *_: object) -> Value:
    return call_extreme(machine, max, args)


def call_sum(machine: Expressions, args: list[Value], *_: object) -> Value:
    return call_extreme(machine, sum, args[:1])


def call_any(machine: Expressions, args: list[Value], *_: object) -> Value:
    return junction(machine, args, True)


def call_all(machine: Expressions, args: list[Value], *_: object) -> Value:
    return junction(machine, args, False)


def junction(machine: Expressions, args: list[Value], stop: bool) -> Value:
    items = machine.resolve(args[0]) if args else const(None)
    if not isinstance(items, v.Seq):
        if isinstance(items, (v.PerRank, v.WorldSizeExpr)):
            return convert(machine, any if stop else all, items)
        return unknown("any" if stop else "all", items)
    open_items = []
    for item in items.items:
        if isinstance(item, (Unknown, v.Phi)):
            open_items.append(item)
        elif machine.is_true(item) == stop:
            return const(stop)
    if not open_items:
        return const(not stop)
    return open_items[0] if len(open_items) == 1 else unknown("any" if stop else "all", items)


def collection(machine: Expressions, kind: str, args: list[Value]) -> Value:
    if not args:
        return v.seq(kind, [])
    value = machine.resolve(args[0])
    if isinstance(value, v.Seq):
        items = list(dict.fromkeys(value.items)) if kind == "set" else value.items
        return v.seq(v.CUT if value.kind == v.CUT else kind, items)
    if isinstance(value, v.PerRank) and kind != "set":
        return convert(machine, _as_tuple, value)
    if isinstance(value, v.Map):
        return v.seq(kind, [key for key, _ in value.items])
    if kind == "set" and value.local:
        # which elements there are, and in which order, is each rank's own
        return unknown("set", value, UNEVEN)
    return value


def call_list(machine: Expressions, args: list[Value], *_: object) -> Value:
    return collection(machine, "list", args)


def call_tuple(machine: Expressions, args: list[Value], *_: object) -> Value:
    return collection(machine, "tuple", args)


def call_set(machine: Expressions, args: list[Value], *_: object) -> Value:
    return collection(machine, "set", args)


def call_sorted(machine: Expressions, args: list[Value], *_: object) -> Value:
    return collection(machine, "list", args)


def call_dict(
    _machine: object, args: list[Value], keywords: dict[str, Value], *_: object
) -> Value | None:
    if len(args) > 1 or "**" in keywords or any(isinstance(arg, v.Seq) for arg in args):
        return None
    named = v.mapping([(const(name), value) for name, value in keywords.items()])
    return v.merged([*args, named] if keywords or not args else args)


def call_enumerate(
    machine: Expressions, args: list[Value], keywords: dict[str, Value], *_: object
) -> Value | None:
    if not args:
        return None
    start = args[1] if len(args) > 1 else keywords.get("start", const(0))
    items = exact_items(machine, machine.resolve(args[0]))
    if items is not None:
        numbers = (
            v.binary("+", start, const(index), machine.cluster) for index in range(len(items))
        )
        pairs = zip(numbers, items, strict=True)
        return v.seq("list", [v.seq("tuple", pair) for pair in pairs])
    return unknown("enumerate", args[0], start, clean=True)


def call_zip(machine: Expressions, args: list[Value], *_: object) -> Value:
    rows = [exact_items(machine, machine.resolve(arg)) for arg in args]
    if rows and all(row is not None for row in rows):
        known = [row for row in rows if row is not None]
        return v.seq("list", [v.seq("tuple", row) for row in zip(*known, strict=False)])
    return unknown("zip", *args, clean=True)


def call_islice(
    machine: Expressions, args: list[Value], _keywords: object, site: int, *_: object
) -> Value | None:
    """The first so many items: as many on each rank, unless there are not enough."""
    if len(args) != 2:
        return None
    items = exact_items(machine, machine.resolve(args[0]))
    if items is not None and isinstance(args[1], Const) and type(args[1].value) is int:
        return v.seq("list", items[: args[1].value])
    return unknown(
        "islice", machine.number("islice", machine.here(site)), args[1], local=args[0].local
    )


def call_next(
    machine: Expressions, args: list[Value], _keywords: object, site: int, node: ir.Call | None
) -> Value | None:
    if not args:
        return None
    items = machine.resolve(args[0])
    items = items if node is None else as_loader(machine, node, items)
    return loop_item(machine, items, 0, machine.here(site))


def _as_tuple(items: Any) -> tuple[Any, ...]:
    return tuple(sorted(items)) if isinstance(items, frozenset) else tuple(items)
