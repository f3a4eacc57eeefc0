"""What is known of the parameters and variables of a function that is not seen to be called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static import hooks
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.class_hierarchy import mro
from distlint.analyzer.symbolic.framework_names import PROCESS_GROUP
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.state import RankDependent
from distlint.analyzer.symbolic.values import Value, unknown


def ev_unbound(
    machine: Interpreter, node: ir.Expr, function: ir.Function, bound: Value | None
) -> Value:
    """Evaluate with the parameters of a method that is not seen to be called."""
    bind_unbound(machine, function, bound)
    return machine.evaluate(node)


def bind_unbound(machine: Interpreter, function: ir.Function, bound: Value | None) -> None:
    """Give the parameters of a function without a caller what is known about them."""
    module = machine.context.module_by_key(function.module)
    for position, param in enumerate(function.params):
        key = (machine.frame.scope, param.name)
        if key in machine.store:
            continue
        if position == 0 and bound is not None:
            machine.store[key] = bound
        else:
            machine.store[key] = unbound_param(machine, module, function, param)


def bind_once(machine: Interpreter, function: ir.Function, name: str) -> None:
    """Give a variable of a function that has been run the value that it is bound to once."""
    key = (machine.frame.scope, name)
    if key in machine.store:
        return
    machine.store[key] = unknown("closure", function.name, name)
    found = machine.context.shapes.assigned_to_variable(function, name)
    node = found[0] if len(found) == 1 else None
    if isinstance(node, ir.Function):
        machine.store[key] = v.func(node, machine.frame.scope)
    elif isinstance(node, ir.Expr):
        for each in sorted(ir.names_in(node) & function.locals):
            bind_once(machine, function, each)
        with suppress(RankDependent):
            value = machine.quietly(machine.frame, partial(machine.evaluate, node))
            machine.store[key] = machine.store[key] if value is None else value


def unbound_param(
    machine: Interpreter, module: Module, function: ir.Function, param: ir.Param
) -> Value:
    otherwise = unknown("param", param.name)
    if param.star:
        return otherwise
    if param.annotation is not None:
        value = annotated(machine, module, param)
        if value is not None:
            return value
    kind = hook_param(machine, module, function, param.name)
    if kind is not None:
        return v.obj(kind, machine.number("hook param", param.name))
    if hooks.is_of_batch(function, param) or is_batch(machine, module, function, param.name):
        return unknown("param", param.name, local=True)
    if isinstance(param.default, ir.Literal) and (
        param.default.value is None or _goes_beside_own_rank(module, function, param.name)
    ):
        # "no rank given" is a choice of the caller: here the parameter names another rank, as
        # it does where the function asks for its own
        hint = machine.catalogue.hint(param.name)
        return v.obj(hint, machine.number("hint", param.name)) if hint else otherwise
    if machine.context.shapes.binds_device(function, param.name):
        return v.ranked(machine.cluster.coordinates("local"))
    if "virtual" in function.name:
        return otherwise  # the chunks of a model on one rank have numbers, too
    return machine.by_name(module, param.name, otherwise)


def hook_param(
    machine: Interpreter, module: Module, function: ir.Function, name: str
) -> str | None:
    """The class of an argument with which a framework calls the hooks of its classes."""
    kinds = (
        machine.catalogue.method_param(owner, name)
        for owner in frameworks(machine, module, function)
    )
    return next((kind for kind in kinds if kind is not None), None)


def is_batch(machine: Interpreter, module: Module, function: ir.Function, name: str) -> bool:
    """Does a framework call this method with the batch of this rank here?"""
    return any(
        machine.catalogue.is_batch_param(owner, name)
        for owner in frameworks(machine, module, function)
    )


def frameworks(machine: Interpreter, module: Module, function: ir.Function) -> Iterator[str]:
    """The classes outside of the project that the class of a method derives from."""
    cls = module.class_of(function) if function.owner else None
    if cls is not None:
        yield from (owner for owner in mro(machine, cls) if isinstance(owner, str))


def annotated(machine: Interpreter, module: Module, param: ir.Param) -> Value | None:
    node = param.annotation
    if isinstance(node, ir.Literal) and isinstance(node.value, str) and node.value.isidentifier():
        node = ir.Name(node.value)
    if not isinstance(node, (ir.Name, ir.Attribute)):
        return None
    found = machine.evaluate_statically(module, node)
    if isinstance(found, v.Cls):
        return v.instance(found.cls, machine.number("param", param.name))
    if isinstance(found, v.External):
        if machine.catalogue.is_class(found.name):
            return v.obj(
                machine.catalogue.canonical(found.name), machine.number("param", param.name)
            )
        if found.name == PROCESS_GROUP:
            return v.group("unknown", unknown("param", param.name))
    return None


def _goes_beside_own_rank(module: Module, function: ir.Function, name: str, depth: int = 3) -> bool:
    """Does a function, or one to which it hands a parameter, ask for its own rank as well?"""
    if "get_rank" in function.tokens:
        return True
    return depth > 0 and any(
        called.name in function.tokens
        and any(param.name == name and param.default is not None for param in called.params)
        and _goes_beside_own_rank(module, called, name, depth - 1)
        for called in module.functions
        if called is not function
    )
