"""Comprehensions: their clauses are gone through as loops are."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import bind_target
from distlint.analyzer.symbolic.conditions import holds
from distlint.analyzer.symbolic.held import BY_KEY
from distlint.analyzer.symbolic.iterables import (
    EXACT_BOUND,
    LOOP_BOUND,
    exact_items,
    loop_item,
    trip,
)
from distlint.analyzer.symbolic.picked import is_picked
from distlint.analyzer.symbolic.resolution import NameResolver
from distlint.analyzer.symbolic.state import CallRequested, CollectiveReached, Key
from distlint.analyzer.symbolic.values import UNEVEN, Unknown, Value, unknown


def ev_comprehension(machine: NameResolver, node: ir.Comprehension) -> Value:
    first = machine.evaluate(node.clauses[0][1])
    return machine.of_each(first, lambda iterable: comprehension(machine, node, iterable))


def comprehension(machine: NameResolver, node: ir.Comprehension, iterable: Value) -> Value:
    """The value of a comprehension whose first clause goes over an iterable."""
    outer = machine.inner
    outer_chosen, machine.chosen = machine.chosen, False
    items: list[Value] = []
    names: list[Key] = [
        (machine.frame.scope, name)
        for target, _, _ in node.clauses
        for name in ir.names_bound(target)
    ]
    hidden = {key: machine.store[key] for key in names if key in machine.store}
    try:
        exact = comprehend(machine, node, 0, items, iterable)
    finally:
        for key in names:
            machine.store.pop(key, None)
        machine.store.update(hidden)
        machine.inner = outer
        own, machine.chosen = machine.chosen, outer_chosen
    if exact and node.kind in {"list", "generator", "set"} and len(items) <= EXACT_BOUND:
        return v.seq("set" if node.kind == "set" else "list", items)
    if exact and node.kind == "dict":
        pairs = [item.items for item in items if isinstance(item, v.Seq)]
        return v.mapping([(pair[0], pair[1]) for pair in pairs if len(pair) == 2])
    uneven = any(UNEVEN in getattr(item, "tokens", ()) for item in items)
    uneven = uneven or is_picked(iterable)
    if node.kind == "dict":
        items = [part for item in items for part in getattr(item, "items", (item,))]
    if own:
        return unknown("comprehension", machine.here(node.site), *items[:4], UNEVEN, local=True)
    tail = (UNEVEN,) if uneven else (v.LISTED,) if len(items) > LOOP_BOUND else ()
    keyed = (BY_KEY,) if node.kind == "dict" else ()
    return unknown("comprehension", node.site, *items[:4], *tail, *keyed)


def comprehend(
    machine: NameResolver, node: ir.Comprehension, level: int, items: list[Value], iterable: Value
) -> bool:
    """Run one clause and those inside it; True if the items found are all there are."""
    target, _, tests = node.clauses[level]
    exact = exact_items(machine, iterable)
    whole = exact is not None
    outer = machine.inner
    for index in range(len(exact) if exact is not None else LOOP_BOUND):
        machine.inner = (*outer, (node.site, level, index))
        item = (
            exact[index]
            if exact is not None
            else loop_item(machine, iterable, index, machine.turns())
        )
        events = len(machine.results)
        kept: bool | None = True
        try:
            bind_target(machine, target, item)
            kept = filtered(machine, tests)
            if kept is False:
                continue
            whole = inner_clause(machine, node, level + 1, items) and whole and kept is True
        except (CollectiveReached, CallRequested):
            # only now it matters whether there is such an item at all
            if exact is None and not trip(machine, iterable, index, node.site):
                break
            if kept is None:
                filter_decided(machine, tests, node.site)
            raise
        if exact is None and len(machine.results) == events:
            break
    machine.inner = outer
    return whole


def inner_clause(
    machine: NameResolver, node: ir.Comprehension, level: int, items: list[Value]
) -> bool:
    """Run the clause at a level for one item of those around it, or the element after all."""
    if level < len(node.clauses):
        iterable = machine.resolve(machine.evaluate(node.clauses[level][1]))
        return comprehend(machine, node, level, items, iterable)
    items.append(machine.evaluate(node.element))
    return True


def filtered(machine: NameResolver, tests: tuple[ir.Expr, ...]) -> bool | None:
    """Do the conditions of a clause keep the item? None if that is not known."""
    verdict: bool | None = True
    for test in tests:
        value = machine.evaluate(test)
        if isinstance(value, (Unknown, v.Phi)):
            verdict = None
            machine.chosen = machine.chosen or (value.local and not getattr(value, "weak", False))
        elif not machine.is_true(value):
            return False
    return verdict


def filter_decided(machine: NameResolver, tests: tuple[ir.Expr, ...], site: int) -> None:
    for test in tests:
        holds(machine, test, site)
