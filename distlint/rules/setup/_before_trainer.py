"""Rank checks in the constructor of a LightningModule, where no Trainer is attached yet."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.setup._too_early import does_something

_BASE = "lightning.pytorch.LightningModule"
_RANKS = frozenset({"global_rank", "local_rank"})
"""Properties of the module that are 0 while it has no Trainer."""


def asked_before_trainer(objects: Objects) -> Iterator[tuple[int, str]]:
    """The rank checks in such a constructor, or a method that it calls, and what they ask."""
    for cls in objects.classes.subclasses_of(_BASE):
        init = cls.methods.get("__init__")
        asked = _RANKS - _own_names(objects, cls) if init is not None else frozenset()
        if init is None or asked.isdisjoint(objects.module.tokens):
            continue
        points = list(_points_of(objects, init))
        for method in _called_by(cls, init, points):
            points += _points_of(objects, method)
        for point in points:
            for name in _asked(point.statement, asked):
                yield point.statement.site, name


def _points_of(objects: Objects, function: ir.Function) -> Iterator[Point]:
    scope = objects.scope_of(function)
    yield from objects.points_in(scope) if scope is not None else ()


def _called_by(cls: ir.Class, init: ir.Function, points: list[Point]) -> Iterator[ir.Function]:
    """The methods that the constructor calls, and nothing else of the class does."""
    called = {
        path[1]
        for point in points
        for call in calls_of(point.statement)
        if (path := path_of(call.func)) is not None and len(path) == 2 and path[0] == "self"
    }
    for name, method in cls.methods.items():
        others = [each for each in cls.methods.values() if each not in (init, method)]
        if name in called and not any(name in each.tokens for each in others):
            yield method


def _own_names(objects: Objects, cls: ir.Class) -> frozenset[str]:
    """The names that the class gives a meaning itself."""
    assigned = {
        path[1]
        for method in cls.methods.values()
        for point in _points_of(objects, method)
        if isinstance(point.statement, ir.Assign)
        for target in point.statement.targets
        if (path := path_of(target)) is not None and len(path) == 2 and path[0] == "self"
    }
    return frozenset({*assigned, *cls.methods, *cls.attributes})


def _asked(statement: ir.Stmt, names: frozenset[str]) -> Iterator[str]:
    """The rank that a branch, a conditional expression or a flag depends on."""
    tests: list[ir.Expr] = []
    if isinstance(statement, ir.If):
        if does_something(statement.body) or does_something(statement.orelse):
            tests.append(statement.test)
    else:
        nodes = [node for node in nodes_of(statement) if isinstance(node, ir.Conditional)]
        tests += [node.test for node in nodes]
        if isinstance(statement, ir.Assign) and isinstance(statement.value, (ir.Compare, ir.Not)):
            tests.append(statement.value)
    for test in tests:
        if not any("trainer" in token for token in ir.tokens_of(test)):
            for node in expressions_in(test):
                path = path_of(node) if isinstance(node, ir.Expr) else None
                if path is not None and len(path) == 2 and path[0] == "self" and path[1] in names:
                    yield path[1]
                    return
