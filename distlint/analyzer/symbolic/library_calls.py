"""Calls of what the project does not define, by what the catalogue says of it."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static import hooks
from distlint.analyzer.static.batches import is_agreement
from distlint.analyzer.static.call_names import fails_alone
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import assign_place
from distlint.analyzer.symbolic.builtin_calls import call_builtin
from distlint.analyzer.symbolic.collective_arguments import argument_node, named
from distlint.analyzer.symbolic.collective_events import for_all
from distlint.analyzer.symbolic.collectives import Collectives
from distlint.analyzer.symbolic.framework_names import BACKWARD, COMPUTING, PARALLEL_WORDS
from distlint.analyzer.symbolic.framework_objects import constructed, returned
from distlint.analyzer.symbolic.groups import group_from
from distlint.analyzer.symbolic.local_sources import local_value, note_seed
from distlint.analyzer.symbolic.rank_numbers import rank_value, uniform_value
from distlint.analyzer.symbolic.state import Disagreement
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown
from distlint.catalogue.entries import ALIKE, Agreement, Entry


def call_external(
    machine: Collectives,
    name: str,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
) -> Value:
    if name in {hooks.BACKWARD, hooks.GO_ON}:
        return after_hook(machine, name, args[0], site)
    special = call_builtin(machine, name, args, keywords, site, node)
    if special is not None:
        return special
    entry = machine.catalogue.lookup(name)
    if entry is not None:
        note_agreement(machine, entry.agreement, args, keywords, site)
        value = call_entry(machine, entry, args, keywords, site, node, None)
        if value is not None:
            return value
    if fails_alone(name):
        machine.may_fail(site)
    if name.partition(".")[0] not in COMPUTING and is_agreement(name):
        return unknown("call", name, *args, *keywords.values(), local=False, clean=True)
    return unknown("call", name, *args, *keywords.values())


def after_hook(machine: Collectives, name: str, result: Value, site: int) -> Value:
    """What a framework does after a hook: the backward of a loss, or the next step."""
    key = (site, machine.inner)
    if key in machine.results:
        return machine.results[key]
    if name == hooks.BACKWARD:
        due = _is_given(result)
    else:
        flags = [value for slot, value in machine.store.items() if slot[1] in hooks.STOP_FLAGS]
        due = v.negate(_is_set(flags[-1])) if flags else const(True)
    if not (machine.is_true(due) if isinstance(due, Const) else machine.truth(due, site)):
        return const(None)
    backward = name == hooks.BACKWARD
    words = machine.frame.module.tokens
    known = machine.frame.module.is_of_several_ranks or not words.isdisjoint(PARALLEL_WORDS)
    raise for_all(
        machine,
        BACKWARD if backward else hooks.NEXT_STEP,
        ("backward",) if backward else ("train_loop",),
        site,
        key,
        value=const(None),
        tags=() if known else ("ddp",),
    )


def call_entry(
    machine: Collectives,
    entry: Entry,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
    receiver: Value | None,
) -> Value | None:
    """Apply the catalogue's word on a callable; None when it says nothing of the result."""
    value: Value | None = None
    if entry.seed is not None:
        note_seed(machine, entry.seed, args, keywords)
    if entry.rank is not None:
        arguments = named(entry.rank.params, args, keywords)
        value = rank_value(
            machine, entry.rank, arguments.get(entry.rank.group) if entry.rank.group else None
        )
    elif entry.uniform is not None:
        alike = entry.uniform.value == ALIKE
        otherwise = unknown("call", entry.name, *args, *keywords.values(), clean=alike)
        value = uniform_value(machine, entry.uniform.value, otherwise)
    elif entry.local is not None:
        value = local_value(machine, entry, args, keywords, site, node)
    elif entry.group is not None:
        value = group_from(
            machine, entry.group, named(entry.group.params, args, keywords), receiver
        )
    elif entry.returns is not None:
        value = returned(machine, entry.returns, args, keywords, site, receiver)
        if entry.returns.in_place and value is not None:
            place = argument_node(entry.returns.params, entry.returns.in_place, node)
            if place is not None:
                assign_place(machine, place, value)
    elif entry.cls is not None:
        value = constructed(machine, entry, args, keywords, site)
    if entry.collective is not None and entry.collective.form in {
        "call",
        "construct",
        "invoke",
    }:
        return machine.collective(entry, args, keywords, node, site, receiver, value)
    return value


def agreement_of(machine: Collectives, receiver: Value | None, method: str) -> Agreement | None:
    """What a method of an object, or of what that wraps, has to be given alike on all ranks."""
    while isinstance(receiver, v.Obj):
        entry = machine.catalogue.member(receiver.kind, method)
        if entry is not None and entry.agreement is not None:
            return entry.agreement
        receiver = receiver.inner
    return None


def note_agreement(
    machine: Collectives,
    agreement: Agreement | None,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
) -> None:
    """Note arguments that have to be the same on all ranks and are rank-local."""
    if agreement is None or machine.log is not None:
        return
    arguments = named(agreement.params, args, keywords)
    for param in agreement.agree:
        value = arguments.get(param)
        if value is not None and value.local and not getattr(value, "weak", False):
            found = Disagreement(agreement, param, site, machine.frame.module.key)
            machine.context.disagreements.setdefault((found.module, site), found)


def _is_given(value: Value) -> Value:
    """Is it anything but None?"""
    if isinstance(value, v.Phi):
        return v.phi(value.test, _is_given(value.then), _is_given(value.orelse))
    return const(not (isinstance(value, Const) and value.value is None))


def _is_set(value: Value) -> Value:
    """The value of a flag; what has not been written is not set."""
    if isinstance(value, v.Phi):
        return v.phi(value.test, _is_set(value.then), _is_set(value.orelse))
    return const(False) if isinstance(value, Unknown) and value.op == v.UNSET else value
