"""Objects of framework classes: what constructors make, and what ``prepare`` makes of objects."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.buffers import SYNC_BUFFERS
from distlint.analyzer.symbolic.class_hierarchy import kind_of
from distlint.analyzer.symbolic.collective_arguments import is_given, named
from distlint.analyzer.symbolic.collectives import Collectives
from distlint.analyzer.symbolic.framework_names import DATA_LOADER, DISTRIBUTED_SAMPLER, MODULE
from distlint.analyzer.symbolic.groups import BUILT_WITH_GROUP
from distlint.analyzer.symbolic.iterables import is_seldom_uneven, is_uneven, takes_rest
from distlint.analyzer.symbolic.strides import REST
from distlint.analyzer.symbolic.values import SELDOM_UNEVEN, Const, Unknown, Value, const, unknown
from distlint.catalogue.entries import Entry, Returns

CHAIN = "chain"
"""Kind of a collection of modules that runs one after the other."""

_NOT_FILLED = frozenset({"even_batches=False", "dataloader_config.even_batches=False"})
"""Marks of an Accelerator whose prepared loaders do not fill up the last round."""


def constructed(
    machine: Collectives, entry: Entry, args: list[Value], keywords: dict[str, Value], site: int
) -> Value:
    info = entry.cls
    assert info is not None
    arguments = named(info.params, args, keywords)
    inner = arguments.get(info.wraps) if info.wraps else None
    if inner is not None and info.parts and any(map(is_given, map(arguments.get, info.parts_with))):
        inner = v.obj(info.parts, machine.number("parts", machine.here(site)), inner)
    marks = {
        f"{name}={value.value!r}" for name, value in arguments.items() if isinstance(value, Const)
    }
    marks |= {
        f"{name}=?"
        for name in SYNC_BUFFERS
        if not isinstance(arguments.get(name, const(None)), Const)
    }
    marks |= {
        f"{name}=?" for name in info.tagged_by or () if _is_object(arguments.get(name, const(None)))
    }
    for name, value in arguments.items():
        if isinstance(value, v.Obj):
            marks |= {f"{name}.{mark}" for mark in value.marks if "=" in mark}
    if machine.catalogue.subclass_of(entry.name, DATA_LOADER):
        sampler = arguments.get("sampler") or arguments.get("batch_sampler")
        if isinstance(sampler, v.Obj) and machine.catalogue.subclass_of(
            sampler.kind, DISTRIBUTED_SAMPLER
        ):
            marks.add("sharded")
        uneven = [value for value in (*args, *keywords.values()) if is_uneven(machine, value)]
        if uneven:
            has_more = all(takes_rest(machine, value) for value in uneven)
            marks.update({"uneven", REST} if has_more else {"uneven", "sharded"})
            if all(is_seldom_uneven(value) for value in uneven):
                marks.add(SELDOM_UNEVEN)
    if any(each.shared for each in machine.catalogue.classes(entry.name)):
        return v.obj(machine.catalogue.canonical(entry.name), machine.number("shared", entry.name))
    made = v.obj(
        machine.catalogue.canonical(entry.name),
        machine.number("new", machine.here(site), entry.name),
        inner,
        frozenset(marks),
    )
    group = arguments.get("process_group", arguments.get("group", const(None)))
    if not (isinstance(group, Const) and group.value is None):
        machine.store[(made.oid, BUILT_WITH_GROUP)] = group
    return made


def _is_object(value: Value) -> bool:
    """Is it certainly something, and not None: an object, a function, or what a call made?"""
    return isinstance(value, (v.Obj, v.Instance, v.Func, v.Partial, v.External)) or (
        isinstance(value, Unknown) and value.op == "call"
    )


def returned(
    machine: Collectives,
    returns: Returns,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    receiver: Value | None,
) -> Value | None:
    kinds = returns.kinds
    if returns.like:
        parts = [machine.call(v.external(name), [], {}, site, None) for name in returns.like]
        return v.seq("tuple", parts)
    if kinds == "self":
        return _itself(machine, receiver)
    if kinds == "inner":
        target = args[0] if args else next(iter(keywords.values()), None)
        return unwrapped(machine, target) if target is not None else None
    if kinds in {"parts", "chain"}:
        return collection_of(args, kinds)
    if kinds == "same":
        items = [
            converted(machine, value, returns, index, site, receiver)
            for index, value in enumerate(args)
        ]
        if "*" in keywords or not items:
            return None
        return items[0] if len(items) == 1 else v.seq("tuple", items)
    if isinstance(kinds, str):
        return v.obj(
            kinds, machine.number("new", machine.here(site), kinds), args[0] if args else None
        )
    arguments = named(returns.params, args, keywords)
    inner = arguments.get("model") or (args[0] if args else None)
    made: list[Value] = []
    for index, kind in enumerate(kinds):
        oid = machine.number("new", machine.here(site), index)
        if not kind:
            made.append(unknown("returned", oid))
            continue
        # a framework that makes the loader divides the data
        is_loader = machine.catalogue.subclass_of(kind, DATA_LOADER)
        marks = frozenset({"sharded"}) if is_loader else frozenset[str]()
        # how many batches it has does not depend on what this rank has put in
        made.append(v.obj(kind, oid, inner if index == 0 and not is_loader else None, marks))
    return made[0] if len(made) == 1 else v.seq("tuple", made)


def _itself(machine: Collectives, receiver: Value | None) -> Value | None:
    """What a method of a base class was called on: an object of a class of the project."""
    if isinstance(receiver, v.Obj) and receiver.inner is not None:
        if receiver.oid == machine.number("base", receiver.inner):
            return receiver.inner
    return receiver


def collection_of(args: list[Value], kind: str) -> Value | None:
    """A collection of modules; None if the project defines none of them."""
    whole = args[0] if len(args) == 1 else None
    if isinstance(whole, v.Map) and kind == "parts":
        return whole if any(isinstance(part, v.Instance) for _, part in whole.items) else None
    parts = whole.items if isinstance(whole, v.Seq) else tuple(args)
    if not any(isinstance(part, (v.Instance, v.Seq)) for part in parts):
        return None
    return v.seq("list" if kind == "parts" else CHAIN, parts)


def converted(
    machine: Collectives,
    value: Value,
    returns: Returns,
    index: int,
    site: int,
    receiver: Value | None,
) -> Value:
    """What ``prepare`` makes of one of its arguments."""
    kind = kind_of(machine, value)
    if kind is None and isinstance(value, Unknown) and returns.model is not None:
        kind = MODULE if index == returns.params.index(returns.model) else None
    if kind is None or not returns.converts:
        return value
    for base, result in returns.converts.items():
        if kind == base or machine.catalogue.subclass_of(kind, base):
            if machine.catalogue.subclass_of(kind, result):
                return value
            marks = value.marks if isinstance(value, v.Obj) else frozenset()
            if machine.catalogue.subclass_of(result, DATA_LOADER):
                marks = marks | {"sharded"}
                is_filled = not isinstance(receiver, v.Obj) or _NOT_FILLED.isdisjoint(
                    receiver.marks
                )
                if not (is_filled or "drop_last=True" in marks):
                    marks = marks | {"uneven"}
            oid = machine.number("new", machine.here(site), index)
            return v.obj(result, oid, value, marks)
    return value


def unwrapped(machine: Collectives, value: Value) -> Value:
    value = machine.resolve(value)
    while (
        isinstance(value, v.Obj) and value.inner is not None and machine.context.unwraps(value.kind)
    ):
        value = value.inner
    return value
