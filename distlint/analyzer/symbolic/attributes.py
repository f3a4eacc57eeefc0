"""What attributes stand for: of modules, of objects, of classes and of what is unknown."""

from __future__ import annotations

from functools import partial

from distlint.analyzer import ir
from distlint.analyzer.static.training_mode import MODE
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.class_hierarchy import mro
from distlint.analyzer.symbolic.framework_names import MODULE
from distlint.analyzer.symbolic.groups import group_from
from distlint.analyzer.symbolic.module_modes import mode_around
from distlint.analyzer.symbolic.parameters import ev_unbound
from distlint.analyzer.symbolic.picked import is_of_own_length
from distlint.analyzer.symbolic.rank_numbers import rank_value, uniform_value
from distlint.analyzer.symbolic.resolution import NameResolver
from distlint.analyzer.symbolic.state import Frame
from distlint.analyzer.symbolic.subscripts import item_of
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown
from distlint.catalogue.entries import Entry

_KINDS = frozenset(
    {
        "shape",
        "ndim",
        "dtype",
        "device",
        "is_cuda",
        "is_cpu",
        "is_sparse",
        "is_leaf",
        "requires_grad",
    }
)
"""Attributes of a tensor that its values do not change."""

_ADAPTERS = ("lora", "peft", "adapter", "galore")


def _is_of_adapters(value: Unknown) -> bool:
    """Is it ``cfg.lora``, whose ``rank`` is that of a matrix?"""
    name = value.args[-1] if value.args else ""
    return isinstance(name, str) and any(word in name.lower() for word in _ADAPTERS)


def ev_attribute(machine: NameResolver, node: ir.Attribute) -> Value:
    receiver = machine.evaluate(node.value)
    return machine.of_each(receiver, lambda each: attribute_of(machine, each, node.attr, node.site))


def attribute_of(machine: NameResolver, receiver: Value, attr: str, site: int) -> Value:
    if isinstance(receiver, v.Phi):
        receiver = machine.resolve(receiver)
    if isinstance(receiver, v.External):
        return external_attribute(machine, receiver, attr, site)
    if isinstance(receiver, v.ModuleRef):
        return machine.module_attribute(receiver.name, attr)
    if isinstance(receiver, v.Instance):
        return instance_attribute(machine, receiver, attr, site)
    if isinstance(receiver, v.Obj):
        return object_attribute(machine, receiver, attr, site)
    if isinstance(receiver, v.Cls):
        return class_attribute(machine, receiver.cls, None, attr, site)
    if isinstance(receiver, v.Super):
        return class_attribute(machine, receiver.cls, receiver.instance, attr, site, above=True)
    if isinstance(receiver, Unknown):
        return unknown_attribute(machine, receiver, attr)
    if isinstance(receiver, (v.Func, v.Partial)):
        stored = machine.store.get((receiver, attr))
        return stored if stored is not None else unknown("attr", receiver, attr)
    return v.method(receiver, attr)


def external_attribute(machine: NameResolver, receiver: v.External, attr: str, site: int) -> Value:
    stored = machine.store.get((receiver, attr))
    if stored is not None:
        return stored
    name = f"{receiver.name}.{attr}"
    entry = machine.catalogue.lookup(name)
    if entry is not None:
        value = property_value(machine, entry, None, site)
        if value is not None:
            return value
    return v.external(name)


def property_value(
    machine: NameResolver, entry: Entry, receiver: Value | None, site: int
) -> Value | None:
    """The value of an attribute that the catalogue describes; None if it is a method."""
    if entry.rank is not None and entry.rank.form in {"property", "name"}:
        return rank_value(machine, entry.rank, None)
    if entry.uniform is not None and entry.uniform.form == "property":
        return uniform_value(
            machine,
            entry.uniform.value,
            unknown("attr", *((receiver,) if receiver else ()), entry.name),
        )
    if entry.local is not None and entry.local.form == "property":
        return unknown(
            "property", entry.name, machine.here(site), local=True, weak=entry.local.weak
        )
    if entry.collective is not None and entry.collective.form == "property":
        return machine.collective(entry, [], {}, None, site, receiver)
    if entry.group is not None and entry.group.form == "property":
        return group_from(machine, entry.group, {}, receiver)
    return None


def object_attribute(machine: NameResolver, receiver: v.Obj, attr: str, site: int) -> Value:
    stored = machine.store.get((receiver.oid, attr))
    if stored is not None:
        return stored
    disabled = machine.store.get((receiver.oid, "[disabled]"))
    if attr == "n" and isinstance(disabled, v.PerRank):
        # a bar counts on the ranks where it is shown
        machine.context.refine(tuple(map(bool, disabled.values)))
        return const(0) if disabled.values[machine.rank] else unknown("count", machine.here(site))
    entry = machine.catalogue.member(receiver.kind, attr)
    if entry is not None:
        value = property_value(machine, entry, receiver, site)
        if value is not None:
            return value
    kind = machine.catalogue.attribute(receiver.kind, attr)
    if kind is not None:
        return v.obj(kind, machine.number("attribute", receiver.oid, attr))
    if receiver.inner is not None and attr == machine.context.unwraps(receiver.kind):
        return receiver.inner
    if entry is None and isinstance(receiver.inner, v.Instance) and _is_changed(machine, receiver):
        return instance_attribute(machine, receiver.inner, attr, site)
    if entry is None and machine.frame.module.is_of_several_ranks:
        rank = machine.catalogue.rank_name(attr)
        if rank is not None and attr != "rank":
            return rank_value(machine, rank, None)
    return v.method(receiver, attr)


def _is_changed(machine: NameResolver, receiver: v.Obj) -> bool:
    """Is it the module itself, whose parts a framework has changed, and no wrapper around it?"""
    return machine.context.unwraps(receiver.kind) is None and machine.catalogue.subclass_of(
        receiver.kind, MODULE
    )


def unknown_attribute(machine: NameResolver, receiver: Unknown, attr: str) -> Value:
    stored = machine.store.get((receiver, attr))
    if stored is not None:
        return stored
    if receiver.local and attr in _KINDS:
        # as with the length: uniform as a rule, unless it is a share of the whole
        own = attr == "shape" and is_of_own_length(receiver)
        return unknown("attr", receiver, attr, local=own, clean=True)
    found = unknown("attr", receiver, attr)
    if receiver.local or _is_of_adapters(receiver):
        return found
    return machine.by_name(machine.frame.module, attr, found)


def instance_attribute(machine: NameResolver, receiver: v.Instance, attr: str, site: int) -> Value:
    stored = machine.store.get((receiver.oid, attr))
    if stored is not None:
        return stored
    if attr == "__class__":
        return v.cls_value(receiver.cls)
    if attr == MODE:
        mode = mode_around(machine)
        if mode is not None:
            return mode
    return class_attribute(machine, receiver.cls, receiver, attr, site)


def class_attribute(
    machine: NameResolver,
    cls: ir.Class,
    bound: Value | None,
    attr: str,
    site: int,
    above: bool = False,
) -> Value:
    """An attribute looked up on a class; ``bound`` is the object it is reached through."""
    order = list(mro(machine, cls))
    for owner in order[1:] if above else order:
        if isinstance(owner, str):
            found = framework_attribute(machine, owner, bound, attr, site)
            if found is not None:
                return found
            continue
        stored = machine.store.get((owner, attr))
        if stored is not None:
            return stored
        function = owner.methods.get(attr)
        if function is not None:
            return bind_method(machine, function, owner, bound, cls, site)
        if attr in owner.attributes:
            return machine.evaluate_statically(
                machine.context.module_of(owner), owner.attributes[attr]
            )
    if bound is not None and not above:
        return assigned_attribute(machine, cls, bound, attr)
    return unknown("attr", bound if bound is not None else v.cls_value(cls), attr)


def framework_attribute(
    machine: NameResolver, kind: str, bound: Value | None, attr: str, site: int
) -> Value | None:
    entry = machine.catalogue.member(kind, attr)
    if entry is not None:
        value = property_value(machine, entry, bound, site)
        if value is not None:
            return value
    name = machine.catalogue.attribute(kind, attr)
    if name is not None:
        return v.obj(name, machine.number("attribute", bound, attr))
    if entry is not None and bound is not None:
        return v.method(v.obj(kind, machine.number("base", bound), bound), attr)
    return None


def bind_method(
    machine: NameResolver,
    function: ir.Function,
    owner: ir.Class,
    bound: Value | None,
    cls: ir.Class,
    site: int,
) -> Value:
    module = machine.context.module_of(owner)
    scope = machine.context.module_scope(module)
    names = decorator_names(function)
    if "staticmethod" in names:
        return v.func(function, scope)
    if "classmethod" in names:
        return v.func(function, scope, v.cls_value(cls))
    method = v.func(function, scope, bound)
    if bound is not None and names & {
        "property",
        "cached_property",
        "functools.cached_property",
    }:
        return machine.call(method, [], {}, site, None)
    return method


def decorator_names(function: ir.Function) -> frozenset[str]:
    found = set()
    for decorator in function.decorators:
        node = decorator.func if isinstance(decorator, ir.Call) else decorator
        parts = []
        while isinstance(node, ir.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ir.Name):
            parts.append(node.id)
            found.add(".".join(reversed(parts)))
    return frozenset(found)


def assigned_attribute(machine: NameResolver, cls: ir.Class, bound: Value, attr: str) -> Value:
    """``self.attr`` of an object of unknown history: what the class assigns to it."""
    key = (machine.one, cls, attr, machine.context.is_entered_late)
    cached = machine.context.static.get(key)
    if cached is None:
        otherwise = unknown("attr", bound, attr)
        machine.context.static[key] = otherwise
        module = machine.context.module_of(cls)
        with machine.apart(key):
            found = assigned_values(machine, cls, bound, attr)
        telling = [item for item in found if not isinstance(item, Const)]
        cached = telling[0] if len(telling) == 1 else None
        if cached is not None and machine.may_be_filled(cached):
            cached = otherwise
        elif cached is None or (
            isinstance(cached, Unknown) and not cached.local and len(found) == 1
        ):
            cached = machine.by_name(module, attr, otherwise)
        elif isinstance(cached, Unknown):
            cached = otherwise
        machine.context.static[key] = cached
    return cached


def assigned_values(machine: NameResolver, cls: ir.Class, bound: Value, attr: str) -> list[Value]:
    found: list[Value] = []
    for owner in mro(machine, cls):
        if isinstance(owner, str):
            continue
        for function, node, index in machine.context.shapes.assigned_to_attribute(owner, attr):
            module = machine.context.module_of(owner)
            scope = machine.number("self", owner, function.name)
            frame = Frame(
                scope,
                module,
                function,
                1,
                Frame(machine.context.module_scope(module), module, None, 0),
            )
            value = machine.quietly(frame, partial(ev_unbound, machine, node, function, bound))
            if value is not None and index is not None:
                value = item_of(machine, value, index)
            if value is None:
                value = unknown("attr", bound, attr)
            if value not in found:
                found.append(value)
    return found
