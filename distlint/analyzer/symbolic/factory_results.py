"""What a function that is not run returns: a loader, or an object whose methods communicate."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import DATA_LOADER, SELF_RETURNING
from distlint.analyzer.symbolic.interpreter import Interpreter

_MOST_STEPS = 6
"""Variables and methods between a call and the return of what it makes."""


def made_by(machine: Interpreter, function: ir.Function) -> v.Obj | None:
    """The object of a framework that each return makes, such as a metric: ``return Accuracy()``."""
    known = machine.context.made_by_function
    if function not in known:
        known[function] = None  # for a function that calls itself
        known[function] = _made(machine, function)
    return known[function]


def _made(machine: Interpreter, function: ir.Function) -> v.Obj | None:
    returned = [
        each.value for each in ir.statements_of(function.body) if isinstance(each, ir.Return)
    ]
    if not returned or function.generator:
        return None
    made = [_made_at(machine, function, node) for node in returned]
    found = [each for each in made if each is not None]
    if len(found) < len(made) or len({each.kind for each in found}) > 1:
        return None
    marks = frozenset.intersection(*(each.marks for each in found))
    return v.obj(found[0].kind, found[0].oid, None, marks)


def _made_at(machine: Interpreter, function: ir.Function, node: ir.Expr | None) -> v.Obj | None:
    module, call = machine.context.module(function.module), _call_of(function, node)
    if module is None or call is None:
        return None
    made = machine.evaluate_statically(module, call.func)
    if isinstance(made, v.Func):
        return made_by(machine, made.function)
    if not isinstance(made, v.External):
        return None
    kind = machine.catalogue.canonical(made.name)
    communicating = machine.catalogue.communicating_classes
    ancestry = machine.catalogue.ancestry(kind)
    if DATA_LOADER not in ancestry and communicating.isdisjoint(ancestry):
        return None
    found = machine.evaluate_statically(module, call)
    return found if isinstance(found, v.Obj) else None


def _call_of(function: ir.Function, node: ir.Expr | None) -> ir.Call | None:
    """The call that makes what is returned, without ``.to(device)`` and variables between."""
    for _ in range(_MOST_STEPS):
        if isinstance(node, ir.Name):
            node = _only_value(function, node.id)
        elif isinstance(node, ir.Call):
            func = node.func
            if not isinstance(func, ir.Attribute) or func.attr not in SELF_RETURNING:
                return node
            node = func.value
    return None


def _only_value(function: ir.Function, name: str) -> ir.Expr | None:
    given = [
        value
        for target, value, _ in ir.assignments_in(function.body)
        if isinstance(target, ir.Name) and target.id == name
    ]
    return given[0] if len(given) == 1 else None
