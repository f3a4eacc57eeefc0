"""Which tests decide whether a statement, or a call in it, is reached, and by which parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.static.guards.assignments import Assignments
from distlint.analyzer.static.guards.gates import gates_before
from distlint.analyzer.static.names import Scope, expressions_of, placed
from distlint.analyzer.static.objects.sites import CallSite, is_none
from distlint.analyzer.static.reaching_definitions import Point

_DEPTH = 3
"""How many assignments are followed from a test to a parameter."""


def choices_of(statement: ir.Stmt, call: ir.Call) -> tuple[ir.Expr, ...]:
    """What decides within a statement whether a call is made.

    ``test and call()``, ``call() if test else None``, ``[call() for each in items if test]``, and
    what it is handed to: ``on_main(lambda: call())``.
    """
    for expression in expressions_of(statement):
        found = _choices(expression, call)
        if found is not None:
            return found
    return ()


def _choices(node: Any, call: ir.Call) -> tuple[ir.Expr, ...] | None:
    """What decides in an expression whether a call is made; None if the call is not in it."""
    if node is call:
        return ()
    for child in ir.children(node):
        inner = _choices(child, call)
        if inner is not None:
            return (*_decided_at(node, child), *inner)
    return None


def _decided_at(node: Any, child: Any) -> tuple[ir.Expr, ...]:
    """What an expression asks before it evaluates one of its operands."""
    if isinstance(node, ir.BoolOp):
        return node.values[: node.values.index(child)]
    if isinstance(node, ir.Conditional):
        return () if child is node.test else (node.test,)
    if isinstance(node, ir.Comprehension) and child is node.element:
        return tuple(each for _, iterable, tests in node.clauses for each in (iterable, *tests))
    return (node.func,) if isinstance(node, ir.Call) and child is not node.func else ()


def deciding_parameters(site: CallSite, assignments: Assignments) -> frozenset[str]:
    """The parameters of a function that decide whether a call in it is made."""
    point = site.point
    tests = [
        *((each.test, each.place) for each in gates_before(point)),
        *((each, point) for each in choices_of(point.statement, site.call)),
    ]
    return _parameters(tests, point.scope, assignments)


def tested_parameters(scope: Scope, assignments: Assignments) -> frozenset[str]:
    """The parameters of a function that it tests anywhere."""
    tests = (
        (statement.test, Point(scope, around))
        for statement, around in placed(scope.body)
        if isinstance(statement, (ir.If, ir.While, ir.Assert))
    )
    return _parameters(list(tests), scope, assignments)


def _parameters(
    tests: list[tuple[ir.Expr, Point]], scope: Scope, assignments: Assignments
) -> frozenset[str]:
    """The parameters whose values tests compare, or take for true, also through variables."""
    found: set[str] = set()
    known: set[str] = set()
    waiting = [(test, point, _DEPTH) for test, point in tests]
    for test, point, depth in waiting:  # grows meanwhile
        for name in _names_asked(test):
            if scope.has_param(name.id):
                found.add(name.id)
            if name.id in known or not depth or not point.around:
                continue
            known.add(name.id)
            waiting += [
                (value, where, depth - 1)
                for value, where in assignments.reaching(name, point)
                if where.scope is scope
            ]
    return frozenset(found)


def _names_asked(test: ir.Expr) -> Iterator[ir.Name]:
    """The variables that a condition is about: not what an attribute is taken from, nor whether
    there is something."""
    stack: list[Any] = [test]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Name):
            yield node
        elif isinstance(node, ir.Compare) and any(map(is_none, node.rights)):
            continue
        elif not isinstance(node, ir.Attribute):
            stack.extend(ir.children(node))
