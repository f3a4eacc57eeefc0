"""Calls of objects and of their methods: forwards, backwards, methods of the catalogue."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static.training_mode import SET_MODE
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.attributes import object_attribute
from distlint.analyzer.symbolic.collective_arguments import argument_is
from distlint.analyzer.symbolic.collective_events import WORLD, for_all
from distlint.analyzer.symbolic.collectives import Collectives
from distlint.analyzer.symbolic.data_methods import call_data_method
from distlint.analyzer.symbolic.framework_names import BACKWARD, PROCESS_GROUP, SELF_RETURNING
from distlint.analyzer.symbolic.gradient_mode import arms_backward
from distlint.analyzer.symbolic.groups import BUILT_WITH_GROUP, is_group, members_of
from distlint.analyzer.symbolic.library_calls import agreement_of, call_entry, note_agreement
from distlint.analyzer.symbolic.module_modes import set_mode
from distlint.analyzer.symbolic.opaque_calls import handed_over
from distlint.analyzer.symbolic.values import SAME, Const, Value, const, unknown
from distlint.catalogue.entries import Argument, Entry

_OWN_PACE = Argument("synced_gpus", False)
"""The argument of ``generate`` with which each rank stops at the end of its own text."""


def invoke(
    machine: Collectives,
    target: v.Obj,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
) -> Value:
    """Call an object: a forward of a wrapped model, an update of a metric."""
    entry = machine.catalogue.member(target.kind, "__call__")
    arms = machine.catalogue.arms_backward(target.kind)
    result: Value = (
        unknown(
            "forward",
            target.oid,
            machine.here(site),
            local=is_own_batch(args),
            fresh=True,
            wrapped=frozenset({target.oid}),
        )
        if arms or (entry and entry.collective and entry.collective.kind == "forward")
        else unknown("output", target.kind, target.oid, *args, *keywords.values())
    )
    if entry is not None and entry.collective is not None:
        result = machine.collective(entry, args, keywords, node, site, target, result)
        if entry.collective.after_gradients:
            note_gradients(machine, target, site, result)
    if arms:
        machine.may_fail(site)
    return result


def note_gradients(machine: Collectives, target: v.Obj, site: int, result: Value) -> None:
    """After a forward with gradients, the next forward communicates again."""
    if machine.is_cached(target.oid) and not machine.quiet and arms_backward(machine, target):
        del machine.store["once", target.oid]
        machine.results[site, machine.inner] = result  # the statement may be evaluated again


def is_own_batch(args: list[Value]) -> bool:
    """Is the input this rank's own? Not if all ranks read the same data in the same order."""
    if any(arg.local for arg in args):
        return True
    return not any(SAME in getattr(arg, "tokens", ()) for arg in args)


def call_method(
    machine: Collectives,
    receiver: Value,
    name: str,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
) -> Value:
    if isinstance(receiver, v.Obj):
        return call_object_method(machine, receiver, name, args, keywords, site, node)
    if is_group(receiver):
        entry = machine.catalogue.member(PROCESS_GROUP, name)
        if entry is not None and entry.collective is not None:
            return machine.collective(entry, args, keywords, node, site, receiver)
    if name == "backward":
        # of the loss, or of an optimizer that is given the loss
        for value in (receiver, *args[:1]):
            wrapped = getattr(value, "wrapped", None)
            if wrapped:
                return backward(machine, wrapped, site)
    return call_data_method(machine, receiver, name, args, keywords, site, node)


def call_object_method(
    machine: Collectives,
    receiver: v.Obj,
    name: str,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
) -> Value:
    if name in SET_MODE:
        set_mode(machine, receiver, name, args, keywords)
    entry = machine.catalogue.member(receiver.kind, name)
    note_agreement(machine, agreement_of(machine, receiver, name), args, keywords, site)
    once = machine.store.get(("once", receiver.oid))
    if machine.is_cached(receiver.oid) and isinstance(once, Const) and name in once.value:
        del machine.store[("once", receiver.oid)]
    if entry is not None:
        if name == "generate" and argument_is(keywords, _OWN_PACE):
            return generated(machine, entry, args, keywords, site, node, receiver)
        value = call_entry(machine, entry, args, keywords, site, node, receiver)
        if value is not None:
            return value
    if name in SELF_RETURNING:
        return receiver
    attribute = object_attribute(machine, receiver, name, site)
    inner = attribute
    while isinstance(inner, v.Partial):
        inner = inner.target
    # a method may stand in for itself, with some of its arguments
    if not isinstance(attribute, v.Method) and inner is not v.method(receiver, name):
        return machine.call(attribute, args, keywords, site, node)
    if name == "forward" and machine.catalogue.arms_backward(receiver.kind):
        return invoke(machine, receiver, args, keywords, site, node)
    values = [*args, *keywords.values()]
    return handed_over(machine, values, name, unknown("method", receiver, name, *values))


def generated(
    machine: Collectives,
    entry: Entry,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
    receiver: v.Obj,
) -> Value:
    """A text that may be longer on this rank: forwards that the others do not join."""
    with machine.again("text"):
        value = call_entry(machine, entry, args, keywords, site, node, receiver)
    atom = unknown("trip", "generate", machine.here(site), local=True, fresh=True)
    if machine.decide_at(site, atom):
        with machine.again("longer"):
            call_entry(machine, entry, args, keywords, site, node, receiver)
    return value if value is not None else unknown("text", machine.here(site), local=True)


def backward(machine: Collectives, wrapped: frozenset[int], site: int) -> Value:
    """``loss.backward()`` reduces the gradients of the wrapped models it came from."""
    key = (site, machine.inner)
    done = machine.results.get(key)
    if done is not None:
        return done
    if all(("nosync", oid) in machine.store for oid in wrapped):
        return const(None)
    groups = {machine.store.get((oid, BUILT_WITH_GROUP)) for oid in wrapped}
    group = groups.pop() if len(groups) == 1 else None
    members = members_of(machine, machine.resolve(group)) if group is not None else WORLD
    if members[0] is not None and machine.rank not in members[0]:
        return const(None)
    name = BACKWARD
    raise for_all(machine, name, ("backward",), site, key, value=const(None), members=members)
