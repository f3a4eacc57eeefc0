"""The functions that a module keeps in attributes and globals, to call them by these later.

``self.sync = sync`` of a parameter counts with its default and with what calls pass by that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.kept_values import Assigned, assignments

Named = Callable[[str], Iterable[ir.Function]]
"""The functions that a name leads to in a module."""


def stored_functions(module: Module, named: Named) -> dict[str, list[ir.Function]]:
    """The functions in what is assigned, by ``.attribute`` and by global."""
    kept = [*assignments(module.functions, module.body), *_of_classes(module)]
    leaves = {leaf for _, value in kept for leaf in _leaves(value)}
    params = {leaf for leaf in leaves if not any(named(leaf))}
    passed = _passed(module, params) if params else []
    found: dict[str, list[ir.Function]] = {}
    given: dict[str, list[ir.Function]] = {}
    for param, value in passed:
        for leaf in _leaves(value):
            given.setdefault(param, []).extend(named(leaf))
    for name, value in kept:
        for leaf in _leaves(value):
            functions = [*named(leaf), *given.get(leaf, ())]
            # a variable that holds the function of its own name says nothing new
            if functions and leaf != name:
                found.setdefault(name, []).extend(functions)
    return found


def _of_classes(module: Module) -> Iterator[Assigned]:
    """What classes assign in their bodies."""
    for cls in module.classes.values():
        for name, value in cls.attributes.items():
            yield f".{name}", value


def _passed(module: Module, params: set[str]) -> list[Assigned]:
    """What parameters of these names are given: their defaults, and by keyword."""
    found: list[Assigned] = []
    for function in module.functions:
        found += [
            (param.name, param.default)
            for param in function.params
            if param.name in params and param.default is not None
        ]
    blocks = [module.body, *(each.body for each in module.functions)]
    for statement in (each for block in blocks for each in block):
        if not params.isdisjoint(ir.tokens_of(statement)):
            found += _keywords(statement, params)
    return found


def _keywords(statement: ir.Stmt, params: set[str]) -> Iterator[Assigned]:
    waiting: list[Any] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ir.Argument) and node.keyword in params:
            yield node.keyword, node.value
        if not isinstance(node, (ir.Define, ir.DefineClass)):
            waiting.extend(ir.children(node))


def _leaves(value: ir.Expr) -> Iterator[str]:
    """The names of a value that it may be, or may hold: not what it is worked out from."""
    waiting: list[ir.Expr] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ir.Name):
            yield node.id
        elif isinstance(node, ir.Attribute):
            yield node.attr
        elif isinstance(node, ir.Display):
            waiting += node.items
        elif isinstance(node, ir.DictDisplay):
            waiting += node.values
        elif isinstance(node, ir.Conditional):
            waiting += [node.body, node.orelse]
        elif isinstance(node, ir.BoolOp):
            waiting += node.values
        elif isinstance(node, ir.Call) and ir.last_name(node.func) in {"partial", "field"}:
            waiting += [each.value for each in node.args]
