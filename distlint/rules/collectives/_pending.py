"""Handles of reduced gradients that are collected, and an optimizer that steps before they are
waited for.
"""

from __future__ import annotations

import re

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Path, Point
from distlint.rules.collectives._following import Step, following, path_of
from distlint.rules.collectives._issued import Issued

_WAITS = re.compile(r"wait|synchron|barrier|coalesc|flush|join|finish|complete")
_CLIPS = frozenset({"clip_grad_norm_", "clip_grad_value_"})
_OPTIMIZER = re.compile(r"optim|^opt$|_opt$|^opt_")
_FORGETS = frozenset({"append", "clear", "extend"})
"""Methods of a list that do not look at its items."""


def used_too_early(use: Issued, objects: Objects) -> Step | None:
    """The step of an optimizer, or the clipping, that comes before the handles are waited for."""
    path = path_of(use.buffer)
    if path is None or path[-1] != "grad":
        return None
    collection = _collection(use)
    if collection is None:
        return None
    if collection[0] == "self":
        return _never_awaited(use, collection, objects)
    for step in following(use.around):
        if (step.role == "leave" and not step.guards) or _may_wait(step.node, collection, use):
            return None
        if _uses_gradients(step.node):
            return step
    return None


def _collection(use: Issued) -> Path | None:
    """The list that handles are put into."""
    statement = use.statement
    if isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
        func = statement.value.func
        if isinstance(func, ir.Attribute) and func.attr == "append":
            if any(argument.value is use.call for argument in statement.value.args):
                return path_of(func.value)
    if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Comprehension):
        if statement.value.element is use.call and len(statement.targets) == 1:
            return path_of(statement.targets[0])
    return None


def _may_wait(node: ir.Expr, collection: Path, use: Issued) -> bool:
    """Does it wait, look at the handles, or issue another collective?"""
    return may_wait(node, use) or any(
        isinstance(each, ir.Expr) and path_of(each) == collection for each in expressions_in(node)
    )


def may_wait(node: ir.Expr, use: Issued) -> bool:
    """Does it wait, by its words or in a function, or issue another collective after this one?"""
    return says_wait(node) or any(
        isinstance(each, ir.Call) and _leads_to_waiting(each, use) for each in expressions_in(node)
    )


def says_wait(node: ir.Expr) -> bool:
    return any(_WAITS.search(token.lower()) for token in ir.tokens_of(node))


def _leads_to_waiting(call: ir.Call, use: Issued) -> bool:
    entry = use.names.entry(call.func, use.scope)
    if entry is not None and entry.collective is not None:
        return True
    name, called = ir.last_name(call.func), use.function(call)
    functions = [each for each in use.names.module.functions if each.name == name]
    functions += [called[1]] if called is not None else []
    return any(_WAITS.search(token) for function in functions for token in function.tokens)


def _uses_gradients(node: ir.Expr) -> bool:
    return any(
        isinstance(each, ir.Call)
        and isinstance(each.func, (ir.Name, ir.Attribute))
        and (ir.last_name(each.func) in _CLIPS or _is_step(each))
        for each in expressions_in(node)
    )


def _is_step(call: ir.Call) -> bool:
    func = call.func
    return (
        isinstance(func, ir.Attribute)
        and func.attr == "step"
        and bool(_OPTIMIZER.search(ir.last_name(func.value).lower()))
    )


def _never_awaited(use: Issued, collection: Path, objects: Objects) -> Step | None:
    """The step of an optimizer in a class that collects handles, and looks at none of them."""
    cls = objects.classes.of_self(use.scope)
    if cls is None or any(_WAITS.search(token.lower()) for token in objects.module.tokens):
        return None
    found: Step | None = None
    for method in cls.methods.values():
        scope = objects.scope_of(method)
        for point in objects.points_in(scope) if scope is not None else ():
            if _looks_at(point, collection):
                return None
            for call in calls_of(point.statement):
                if found is None and _is_step(call):
                    found = Step(call, "value", point.statement, (), 0)
    return found if not _others_look(objects, collection[-1]) else None


def _looks_at(point: Point, collection: Path) -> bool:
    """Does a statement do more with a list than to fill and to empty it?"""
    statement = point.statement
    kept: set[int] = set()
    for call in calls_of(statement):
        func = call.func
        if isinstance(func, ir.Attribute) and func.attr in _FORGETS:
            kept.add(id(func.value))
    if isinstance(statement, (ir.Assign, ir.Delete)):
        kept.update(id(target) for target in statement.targets)
    return any(
        isinstance(node, ir.Attribute) and path_of(node) == collection and id(node) not in kept
        for node in nodes_of(statement)
    )


def _others_look(objects: Objects, name: str) -> bool:
    """Does other code of the file mention the attribute by an object?"""
    return any(
        node.attr == name and path_of(node.value) != ("self",)
        for node, _ in objects.nodes(ir.Attribute)
    )
