"""Sources of rank-local values: random numbers and their seeds, clocks, signals."""

from __future__ import annotations

from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import assign_place, set_attribute, set_name
from distlint.analyzer.symbolic.collective_arguments import argument_node, named
from distlint.analyzer.symbolic.collectives import Collectives
from distlint.analyzer.symbolic.generators import differs_by_rank, generator_in, made_generator
from distlint.analyzer.symbolic.values import SELDOM_UNEVEN, UNEVEN, Value, const, unknown
from distlint.analyzer.symbolic.view import SEEDED
from distlint.catalogue.entries import Entry, Seed


def local_value(
    machine: Collectives,
    entry: Entry,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
) -> Value:
    source = entry.local
    assert source is not None
    arguments = named(source.params, args, keywords)
    if source.form == "generator":
        return made_generator(machine, source, arguments, site)
    kinds = [value for value in keywords.values() if isinstance(value, v.External)]
    generator = generator_in(keywords)
    if generator is not None:
        is_local = generator.local
        return unknown("call", entry.name, machine.here(site), *kinds, local=is_local, fresh=True)
    if source.form == "handler":
        note_handler(machine, arguments.get(source.handler) if source.handler else None)
        return unknown("call", entry.name, *args)
    seeded = machine.store.get((SEEDED, source.stream), const(False))
    alike = unknown("call", entry.name, machine.here(site), *kinds, fresh=True)
    if seeded is const(True):
        return alike
    if source.in_place:
        place = argument_node(source.params, source.in_place, node)
        if place is not None:
            old = arguments.get(source.in_place, const(None))
            new = unknown("changed", old, machine.here(site), local=True, fresh=True)
            assign_place(machine, place, _drawn(seeded, old, new))
        return const(None)
    if source.share:
        whole = args[:1]
        told = {token for each in whole for token in getattr(each, "tokens", ())}
        even = not told.isdisjoint(source.even_from)
        uneven = (UNEVEN, SELDOM_UNEVEN) if source.weak else (UNEVEN,)
        return unknown("shard", *whole, machine.here(site), *(() if even else uneven))
    if source.weak:
        # a probe of the same file gives the same answer again
        return unknown("call", entry.name, *args, local=True, weak=True)
    own = unknown("call", entry.name, machine.here(site), *args, *kinds, local=True, fresh=True)
    return _drawn(seeded, alike, own)


_PUTS = frozenset({"append", "add", "update", "extend", "put", "insert", "setdefault", "clear"})
"""Methods by which a handler changes a collection."""


def note_handler(machine: Collectives, handler: Value | None) -> None:
    """What a signal handler writes is written at another time on each rank."""
    if not isinstance(handler, v.Func):
        return
    function = handler.function
    flag = unknown("signal", function.name, local=True)
    stack: list[Any] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ir.Assign, ir.AugAssign)):
            targets = node.targets if isinstance(node, ir.Assign) else (node.target,)
            for target in targets:
                _note_written(machine, handler, target, flag)
        elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
            if node.func.attr == "set":
                _note_place(machine, handler, node.func.value, flag)
            elif node.func.attr in _PUTS:
                _note_changed(machine, handler, node.func.value, flag)
        stack.extend(ir.children(node))


def _note_written(machine: Collectives, handler: v.Func, target: ir.Expr, flag: Value) -> None:
    if isinstance(target, ir.Name):
        if target.id in handler.function.outer:
            set_name(machine, target.id, flag)
    elif isinstance(target, ir.Attribute):
        _note_place(machine, handler, target, flag)
    elif isinstance(target, ir.Subscript) and _is_outside(handler, target.value):
        assign_place(machine, target, flag)


def _note_place(machine: Collectives, handler: v.Func, place: ir.Expr, flag: Value) -> None:
    """A variable or an attribute stands for something of this rank's own."""
    if isinstance(place, ir.Name):
        set_name(machine, place.id, flag)
    elif isinstance(place, ir.Attribute) and isinstance(place.value, ir.Name):
        owner = handler.bound or machine.name(place.value.id)
        set_attribute(machine, machine.resolve(owner), place.attr, flag)


def _note_changed(machine: Collectives, handler: v.Func, place: ir.Expr, flag: Value) -> None:
    """So does a collection that a method changes."""
    if _is_outside(handler, place):
        old = machine.evaluate(place)
        if isinstance(machine.resolve(old), (v.Seq, v.Map)):
            assign_place(machine, place, unknown("changed", old, flag))


def _is_outside(handler: v.Func, node: ir.Expr) -> bool:
    """Is it a variable of the code around a handler, or an attribute of one?"""
    while isinstance(node, (ir.Attribute, ir.Subscript)):
        node = node.value
    function = handler.function
    params = {param.name for param in function.params if param.name != "self"}
    return isinstance(node, ir.Name) and node.id not in (function.locals | params) - {"self"}


def note_seed(
    machine: Collectives, seed: Seed, args: list[Value], keywords: dict[str, Value]
) -> None:
    arguments = named(seed.params, args, keywords)
    value = arguments.get(seed.seed, args[0] if args else const(0))
    if not differs_by_rank(value):
        for stream in seed.streams:
            machine.store[(SEEDED, stream)] = const(True)


def _drawn(seeded: Value, alike: Value, own: Value) -> Value:
    """What is drawn where the generator has been seeded alike, and where it has not."""
    if isinstance(seeded, v.Phi):
        ways = (_drawn(way, alike, own) for way in (seeded.then, seeded.orelse))
        return v.phi(seeded.test, *ways)
    return alike if seeded is const(True) else own
