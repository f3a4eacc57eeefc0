"""The state in which the execution of an entry point begins."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static import hooks
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.class_hierarchy import mro
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.continuations import RestOfBlock
from distlint.analyzer.symbolic.machine import Machine
from distlint.analyzer.symbolic.parameters import bind_once, bind_unbound
from distlint.analyzer.symbolic.product import root_state
from distlint.analyzer.symbolic.state import Frame, Key, State
from distlint.analyzer.symbolic.values import Value, unknown


def start_of(context: ExecutionContext, function: ir.Function | None) -> State:
    """A module body, or a call of a function with arguments of which nothing is known."""
    module = context.main
    scope = context.module_scope(module)
    frame = Frame(scope, module, None, 0)
    context.frames[scope] = frame
    if function is None:
        return root_state(context, frame, module.body, {})
    bound: Value | None = None
    if function.owner:
        cls = module.class_of(function)
        if cls is not None:
            bound = v.instance(cls, context.number(("self", cls)))
    store: dict[Key, Value] = {
        (scope, "$root"): v.func(function, scope, bound),
        (scope, "$anything"): unknown("anything"),
    }
    call = ir.Call(ir.Name("$root"), (ir.Argument(ir.Name("$anything"), star="*"),), function.site)
    body: ir.Block = (ir.Evaluate(call, function.site),)
    if function.nested:
        around = _around(context, function, frame, store)
        store[scope, "$root"] = v.func(function, around)
        # its name says that what it reads of the functions around it is read
        body = (*body, ir.Evaluate(ir.Name(function.name), function.site))
    if isinstance(bound, v.Instance) and hooks.may_be_hook(function):
        machine = Machine(context, 0, "A")
        machine.frame = frame
        steps = hooks.following(function, mro(machine, bound.cls))
        if steps:
            body = hooks.called(call, steps)
            store.update({(scope, step): v.external(step) for step in steps})
    if isinstance(bound, v.Instance) and function.name == "__enter__":
        # half of what happens: ranks that wait on the way in are let go on the way out
        store[scope, "$manager"] = bound
        body = (ir.With(ir.Name("$manager"), None, (), function.site),)
    return root_state(context, frame, body, store)


def entry_of(start: State) -> ir.Block:
    """What is executed from a start: the body of a module, or a call and what follows it."""
    assert isinstance(start.k, RestOfBlock)
    return start.k.block


def _around(
    context: ExecutionContext,
    function: ir.Function,
    frame: Frame,
    store: dict[Key, Value],
) -> int:
    """The scope in which a function in a function sees what those around it have bound."""
    module = context.main
    machine = Machine(context, None)
    for outer in reversed(module.handed_out[function]):
        scope = context.number(("around", outer))
        frame = context.frames[scope] = Frame(scope, module, outer, 0, frame)
        machine.frame, machine.store = frame, store
        cls = module.class_of(outer) if outer.owner else None
        bound = v.instance(cls, context.number(("self", cls))) if cls is not None else None
        bind_unbound(machine, outer, bound)
        for name in sorted(outer.locals & function.tokens):
            bind_once(machine, outer, name)
    return frame.scope
