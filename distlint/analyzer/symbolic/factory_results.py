"""What a function that is not run returns, where that is an object whose methods communicate."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import SELF_RETURNING
from distlint.analyzer.symbolic.interpreter import Interpreter


def made_by(machine: Interpreter, function: ir.Function) -> v.Obj | None:
    """The object of a framework that each return makes, such as a metric: ``return Accuracy()``."""
    known = machine.context.made_by_function
    if function not in known:
        known[function] = None  # for a function that calls itself
        known[function] = _made(machine, function)
    return known[function]


def _made(machine: Interpreter, function: ir.Function) -> v.Obj | None:
    module = machine.context.module(function.module)
    returned = [
        each.value for each in ir.statements_of(function.body) if isinstance(each, ir.Return)
    ]
    if module is None or len(returned) != 1 or function.generator:
        return None
    call = _call_of(function, returned[0])
    if call is None:
        return None
    made = machine.evaluate_statically(module, call.func)
    if not isinstance(made, v.External):
        return None
    kind = machine.catalogue.canonical(made.name)
    if machine.catalogue.communicating_classes.isdisjoint(machine.catalogue.ancestry(kind)):
        return None
    found = machine.evaluate_statically(module, call)
    return found if isinstance(found, v.Obj) else None


def _call_of(function: ir.Function, node: ir.Expr | None) -> ir.Call | None:
    """The call that makes what is returned, without ``.to(device)`` and a variable between."""
    if isinstance(node, ir.Name):
        given = [
            value
            for target, value, _ in ir.assignments_in(function.body)
            if isinstance(target, ir.Name) and target.id == node.id
        ]
        node = given[0] if len(given) == 1 else None
    while isinstance(node, ir.Call):
        func = node.func
        if not isinstance(func, ir.Attribute) or func.attr not in SELF_RETURNING:
            return node
        node = func.value
    return None
