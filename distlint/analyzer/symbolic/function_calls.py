"""Calls of the functions and classes of the project."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.attributes import instance_attribute
from distlint.analyzer.symbolic.call_relevance import captured, skips, weighed
from distlint.analyzer.symbolic.class_hierarchy import kind_of, mro
from distlint.analyzer.symbolic.collectives import Collectives
from distlint.analyzer.symbolic.continuations import ReturnToCaller
from distlint.analyzer.symbolic.decorators import call_decorated
from distlint.analyzer.symbolic.factory_results import made_by
from distlint.analyzer.symbolic.framework_names import MODULE
from distlint.analyzer.symbolic.opaque_calls import pass_over
from distlint.analyzer.symbolic.parameters import unbound_param
from distlint.analyzer.symbolic.state import CallRequested, Frame, ResultKey
from distlint.analyzer.symbolic.values import Const, Value, const, unknown
from distlint.analyzer.symbolic.view import SEEDED
from distlint.source.incomplete import Reason

GIVEN = "[given]"
"""The field of an object with what its constructor, which was not run, was given."""
_MAY_BE_MODULES = (v.Obj, v.Instance, v.Cls, v.Seq, v.Unknown)
"""Values that may be modules, or classes of modules."""

RECURSION = 2
"""How deep a function is followed into itself."""

COUNTED_RECURSION = 6
"""The same when it is handed a known number, which may count the levels."""


def call_function(
    machine: Collectives,
    target: v.Func,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    key: ResultKey,
) -> Value:
    done = machine.results.get(key)
    function = target.function
    if done is None and function.decorators and is_cached(function):
        done = machine.store.get(("once", function))
        may_have_met = machine.context.is_entered_late and machine.context.may_communicate(function)
        if done is None and may_have_met:  # in a call before
            done = unknown("cached", function.name, function.module)
            if machine.context.returns_all_ranks(function):
                done = v.group("world")
    if done is not None:
        return done
    if target.guards is None and function.decorators:
        handled = call_decorated(machine, target, args, keywords, site, key)
        if handled is not None:
            return handled
    if target.bound is not None:
        args = [target.bound, *args]
    label = (function.name, function.site, function.module)
    given = (*args, *keywords.values())
    if only_yields(machine, function):
        passed = machine.context.shapes.hands_on(function)
        if passed is not None and passed < len(args):
            return args[passed]
        if passed is not None and function.params[passed].name in keywords:
            return keywords[function.params[passed].name]
        return unknown("call", *label, *given)
    if skips(machine, function, args, keywords, captured(machine, target)):
        for stream in sorted(machine.context.effects.seeds(function)):
            machine.store[(SEEDED, stream)] = const(True)
        made = made_by(machine, function)
        if made is not None:
            return v.obj(made.kind, machine.number("made", machine.here(site)), None, made.marks)
        return unknown("call", *label, *weighed(machine, function, given, keywords))
    depth = machine.frame.depth + 1
    is_counted = any(isinstance(arg, Const) and type(arg.value) is int for arg in args)
    most = COUNTED_RECURSION if is_counted else RECURSION
    follows = machine.context.follows(function, depth)
    if not follows and machine.context.does_something(function):
        machine.context.incomplete.add(Reason.CALLS)
    if not follows or active(machine, function) >= most:
        return pass_over(machine, function, label, unknown("call", *label, *given), key)
    machine.context.enter(function)
    frame = activation(machine, target, site)
    bind_arguments(machine, frame, function, args, keywords)
    raise CallRequested(frame, function.body, key)


def is_cached(function: ir.Function) -> bool:
    """Is what it returns first returned ever after?"""
    return any(
        not ir.tokens_of(decorator).isdisjoint({"lru_cache", "cache", "cached_property"})
        for decorator in function.decorators
    )


def only_yields(machine: Collectives, function: ir.Function) -> bool:
    """Is it a generator that does not communicate? Calling it runs nothing."""
    return function.generator and not machine.context.may_communicate(function)


def active(machine: Collectives, function: ir.Function) -> int:
    """How often the function is being run, one call in another."""
    count = int(machine.frame.function is function)
    k = machine.k
    while k is not None:
        if isinstance(k, ReturnToCaller) and k.caller.function is function:
            count += 1
        k = k.next
    return count


def activation(machine: Collectives, target: v.Func, site: int) -> Frame:
    """The frame of a function that is called at a site in this turn of the loops."""
    function = target.function
    scope = machine.number("call", machine.here(site), function.site, function.module)
    frame = machine.context.frames.get(scope)
    if frame is None or frame.function is not function:
        module = machine.context.module_by_key(function.module)
        outer = machine.context.frames.get(target.scope)
        depth = machine.frame.depth + 1
        frame = Frame(scope, module, function, depth, outer, target.bound, machine.turns())
        machine.context.frames[scope] = frame
    return frame


def bind_arguments(
    machine: Collectives,
    frame: Frame,
    function: ir.Function,
    args: list[Value],
    keywords: dict[str, Value],
) -> None:
    rest = dict(keywords)
    open_call = "*" in rest or "**" in rest
    position = 0
    for param in function.params:
        slot = (frame.scope, param.name)
        if param.star == "*":
            machine.store[slot] = v.seq("tuple", args[position:])
            position = len(args)
        elif param.star == "**":
            items = [(const(name), value) for name, value in rest.items() if name[0] != "*"]
            # it is not known what an entry point is given beside its parameters
            others = rest.get("**", unknown("param", param.name))
            machine.store[slot] = others if open_call and not items else v.mapping(items)
        elif not param.keyword_only and position < len(args):
            machine.store[slot] = args[position]
            position += 1
        elif param.name in rest:
            machine.store[slot] = rest.pop(param.name)
        elif param.default is not None and not open_call:
            machine.store[slot] = machine.evaluate_statically(frame.module, param.default)
        else:
            machine.store[slot] = unbound_param(machine, frame.module, function, param)


def instantiate(
    machine: Collectives, cls: ir.Class, args: list[Value], keywords: dict[str, Value], site: int
) -> Value:
    oid = machine.number("new", machine.here(site), cls.module, cls.site)
    created = v.instance(cls, oid)
    for owner in mro(machine, cls):
        if isinstance(owner, str):
            continue
        function = owner.methods.get("__init__")
        if function is None:
            continue
        target = v.func(
            function,
            machine.context.module_scope(machine.context.module_of(owner)),
            created,
            (),
        )
        try:
            if skips(machine, function, [created, *args], keywords):
                _keep_given(machine, created, [*args, *keywords.values()])
                return created
            call_function(machine, target, args, keywords, site, (site, machine.inner))
        except CallRequested as enter:
            enter.value = created
            raise
        return created
    for name, value in keywords.items():
        machine.store[(oid, name)] = value
    return created


def _keep_given(machine: Collectives, created: v.Instance, args: list[Value]) -> None:
    """Note what a module is given, ``Head(backbone)``, where its constructor is not run."""
    if kind_of(machine, created) != MODULE:
        return
    kept = [each for each in args if isinstance(each, _MAY_BE_MODULES)]
    if kept:
        machine.store[(created.oid, GIVEN)] = v.seq("tuple", kept)


def call_instance(
    machine: Collectives,
    target: v.Instance,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
) -> Value:
    for name in ("__call__", "forward"):
        method = instance_attribute(machine, target, name, site)
        if isinstance(method, v.Func):
            return machine.call(method, args, keywords, site, None)
        if isinstance(method, v.Method):
            return machine.call(method, args, keywords, site, None)
    return unknown("output", target, *args, *keywords.values())
