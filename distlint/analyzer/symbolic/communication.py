"""Whether a call communicates, by its arguments, its object, and the strategies in use."""

from __future__ import annotations

from distlint.analyzer.static import hooks
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.buffers import has_buffers
from distlint.analyzer.symbolic.class_hierarchy import kind_of
from distlint.analyzer.symbolic.collective_arguments import argument_is, is_given
from distlint.analyzer.symbolic.gradient_mode import arms_backward
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.state import Key
from distlint.analyzer.symbolic.strategies import (
    UNDER,
    alone_with,
    built_tags,
    rules_out_strategies,
    tags_of,
)
from distlint.analyzer.symbolic.values import Value, unknown
from distlint.catalogue.entries import AMBIENT_TAGS, Argument, Collective


def communicates(
    machine: Interpreter, row: Collective, arguments: dict[str, Value], receiver: Value | None
) -> bool:
    if any(argument_is(arguments, argument) for argument in row.not_with):
        return False
    if any(is_given(arguments.get(param)) for param in row.not_given):
        return False
    if any(built_with(receiver, argument) for argument in row.not_built_with):
        return False
    if isinstance(receiver, v.Obj):
        if any(built_with(receiver, a) for a in alone_with(machine.catalogue, receiver.kind)):
            return False
        if (row.once_until or row.after_gradients) and machine.is_cached(receiver.oid):
            return False
    return all(
        argument_is(arguments, argument) or built_with(receiver, argument)
        for argument in row.only_with
    )


def built_with(receiver: Value | None, wanted: Argument) -> bool:
    return isinstance(receiver, v.Obj) and f"{wanted.param}={wanted.value!r}" in receiver.marks


def wraps(machine: Interpreter, value: Value) -> bool:
    """Is there a model, or something that may be one, among what is prepared?"""
    made = value.items if isinstance(value, v.Seq) else (value,)
    return any(
        kind_of(machine, item) is None
        or (isinstance(item, v.Obj) and machine.catalogue.arms_backward(item.kind))
        for item in made
    )


def open_tags(
    machine: Interpreter, row: Collective, receiver: Value | None
) -> tuple[str, ...] | None:
    """Strategies of which one must be in use for the call to communicate; None: none can be.

    An empty tuple means that it always does, as far as the object tells.
    """
    if not row.only_under:
        return ()
    if row.always_since and not hooks.keeps_to_older(
        machine.context.main, row.framework, row.always_since
    ):
        return ()
    owned = frozenset[str]()
    if isinstance(receiver, v.Obj):
        owned = tags_of(machine.catalogue, receiver.kind) | built_tags(machine.catalogue, receiver)
    if not owned.isdisjoint(row.only_under):
        return ()
    tags = [tag for tag in row.only_under if tag in AMBIENT_TAGS]
    if "buffers" in tags and isinstance(receiver, v.Obj):
        found = has_buffers(machine, receiver)
        if found:
            return ()
        if found is False:
            tags = [tag for tag in tags if tag not in {"buffers", "sync_bn"}]
    return tuple(tags) if tags else None


def under(machine: Interpreter, tags: tuple[str, ...]) -> bool:
    """Assume one of the strategies, unless the path has ruled it out."""
    for atom, outcome in machine.known.items():
        if rules_out_strategies(atom, outcome):
            return False
    return machine.decide(unknown(UNDER, *tags))


def once_key(machine: Interpreter, row: Collective, receiver: Value | None) -> Key | None:
    """The variable that says that a call of its kind does not communicate from here on."""
    if not isinstance(receiver, v.Obj):
        return None
    is_last = row.after_gradients and not arms_backward(machine, receiver)
    return ("once", receiver.oid) if row.once_until or is_last else None
