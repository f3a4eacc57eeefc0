"""Sources of rank-local values: random numbers and their seeds, clocks, signals."""

from __future__ import annotations

from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import assign_place, set_attribute, set_name
from distlint.analyzer.symbolic.collective_arguments import argument_node, named
from distlint.analyzer.symbolic.collectives import Collectives
from distlint.analyzer.symbolic.values import SELDOM_UNEVEN, UNEVEN, Unknown, Value, const, unknown
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
    kinds = [value for value in keywords.values() if isinstance(value, v.External)]
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


def note_handler(machine: Collectives, handler: Value | None) -> None:
    """What a signal handler writes is written at another time on each rank."""
    if not isinstance(handler, v.Func):
        return
    function = handler.function
    flag = unknown("signal", function.name, local=True)
    stack: list[Any] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Assign):
            for target in node.targets:
                if isinstance(target, ir.Name) and target.id in function.outer:
                    set_name(machine, target.id, flag)
                elif isinstance(target, ir.Attribute) and isinstance(target.value, ir.Name):
                    owner = handler.bound or machine.name(target.value.id)
                    set_attribute(machine, machine.resolve(owner), target.attr, flag)
        elif (
            isinstance(node, ir.Call)
            and isinstance(node.func, ir.Attribute)
            and node.func.attr == "set"
            and isinstance(node.func.value, ir.Name)
        ):
            set_name(machine, node.func.value.id, flag)
        stack.extend(ir.children(node))


def note_seed(
    machine: Collectives, seed: Seed, args: list[Value], keywords: dict[str, Value]
) -> None:
    arguments = named(seed.params, args, keywords)
    value = arguments.get(seed.seed, args[0] if args else const(0))
    if not value.local and not v.is_ranked(value) and not _mentions_rank(value):
        for stream in seed.streams:
            machine.store[(SEEDED, stream)] = const(True)


def _drawn(seeded: Value, alike: Value, own: Value) -> Value:
    """What is drawn where the generator has been seeded alike, and where it has not."""
    if isinstance(seeded, v.Phi):
        ways = (_drawn(way, alike, own) for way in (seeded.then, seeded.orelse))
        return v.phi(seeded.test, *ways)
    return alike if seeded is const(True) else own


def _mentions_rank(value: Value) -> bool:
    if isinstance(value, Unknown):
        return any(isinstance(arg, Value) and _mentions_rank(arg) for arg in value.args)
    return v.is_ranked(value)
