"""What decorators make of the functions that they stand on."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.collectives import Collectives
from distlint.analyzer.symbolic.state import Frame, ResultKey
from distlint.analyzer.symbolic.values import Value, const, unknown
from distlint.catalogue.entries import Guard


def call_decorated(
    machine: Collectives,
    target: v.Func,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    key: ResultKey,
) -> Value | None:
    """Handle the decorators of a function that is called; None if they change nothing."""
    raw = v.func(target.function, target.scope, target.bound, ())
    module = machine.context.module_by_key(target.function.module)
    current: Value = raw
    for index, decorator in enumerate(reversed(target.function.decorators)):
        node = decorator.func if isinstance(decorator, ir.Call) else decorator
        found = decorator_value(machine, module, target, node)
        guard = guard_of(machine, found)
        if guard is not None:
            if guard.communicates:
                continue
            numbers = guard_ranks(machine, guard, decorator)
            if not guarded(machine, numbers, target.function, module, -1 - index, site):
                return const(None)
        elif isinstance(found, v.Func) and machine.context.matters(found.function):
            current = apply_decorator(machine, found, decorator, module, current, site, index)
    if current is raw:
        return machine.call_function(raw, args, keywords, site, key)
    if isinstance(current, v.Func):
        bound = [] if target.bound is None else [target.bound]
        return machine.call_function(current, [*bound, *args], keywords, site, key)
    return None


def guarded(
    machine: Collectives,
    numbers: Value,
    function: ir.Function,
    module: Module,
    index: int,
    site: int,
) -> bool:
    """Does a decorator let this rank into the function?

    Decided at the call; a function that only a framework calls, where the decorator stands.
    """
    if machine.frame.function is not None or site != function.site:
        return machine.truth(numbers, site)
    sites = function.decorator_sites
    scope = machine.number("decorators", module.key)
    frame = machine.context.frames.setdefault(scope, Frame(scope, module, None, 0))
    caller, machine.frame = machine.frame, frame
    try:
        return machine.truth(numbers, sites[index] if sites else site)
    finally:
        machine.frame = caller


def decorator_value(machine: Collectives, module: Module, target: v.Func, node: ir.Expr) -> Value:
    outer = machine.context.frames.get(target.scope)
    if outer is not None and outer.function is not None:
        value = machine.quietly(outer, lambda: machine.evaluate(node))
        return unknown("decorator") if value is None else value
    return machine.evaluate_statically(module, node)


def apply_decorator(
    machine: Collectives,
    found: v.Func,
    decorator: ir.Expr,
    module: Module,
    current: Value,
    site: int,
    index: int,
) -> Value:
    target: Value = found
    if isinstance(decorator, ir.Call):
        args = [machine.evaluate_statically(module, argument.value) for argument in decorator.args]
        target = machine.call_function(
            found, args, {}, site, (site, machine.inner, "decorator factory", index)
        )
    if isinstance(target, v.Func):
        bare = current
        if isinstance(current, v.Func) and current.bound is not None:
            bare = v.func(current.function, current.scope, None, ())
        result = machine.call_function(
            v.func(target.function, target.scope, target.bound, ()),
            [bare],
            {},
            site,
            (site, machine.inner, "decorator", index),
        )
        if isinstance(result, v.Func):
            return result
    return current


def guard_of(machine: Collectives, value: Value) -> Guard | None:
    """The catalogue's word on a decorator that runs a function on some ranks only."""
    entry = None
    if isinstance(value, v.External):
        entry = machine.catalogue.lookup(value.name)
    elif isinstance(value, v.Method) and isinstance(value.receiver, v.Obj):
        entry = machine.catalogue.member(value.receiver.kind, value.name)
    return entry.guard if entry is not None else None


def guard_ranks(machine: Collectives, guard: Guard, decorator: ir.Expr) -> Value:
    scope = "local" if guard.runs_on.startswith("local") else "global"
    numbers = machine.cluster.coordinates(scope)
    wanted: object = 0
    if guard.runs_on.endswith("last"):
        wanted = max(numbers)
    elif guard.runs_on == "process":
        wanted = None
        if isinstance(decorator, ir.Call):
            for argument in decorator.args:
                if isinstance(argument.value, ir.Literal):
                    wanted = argument.value.value
    if wanted is None:
        return const(True)
    return v.ranked([number == wanted for number in numbers])
