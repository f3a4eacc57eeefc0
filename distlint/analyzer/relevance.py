"""Which names can decide what a rank does: the rest is data, and states that differ in it are one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.project import Module


def control_names(module: Module, is_external: Callable[[ir.Call], bool]) -> frozenset[str]:
    """Names that flow into a condition, an iterable, a callee or an argument of the project.

    ``is_external`` tells calls whose arguments are mere data, such as those of tensor functions.
    """
    collector = _Collector(is_external)
    for statement in module.statements():
        collector.statement(statement)
    for function in module.functions:
        for decorator in function.decorators:
            collector.needed |= ir.tokens_of(decorator)
    return collector.closed()


class _Collector:
    def __init__(self, is_external: Callable[[ir.Call], bool]) -> None:
        self.is_external = is_external
        self.needed: set[str] = set()
        self.flows: list[tuple[frozenset[str], frozenset[str]]] = []

    def closed(self) -> frozenset[str]:
        """The needed names, with all that flows into them."""
        changed = True
        while changed:
            changed = False
            for targets, sources in self.flows:
                if not targets.isdisjoint(self.needed) and not sources <= self.needed:
                    self.needed |= sources
                    changed = True
        return frozenset(self.needed)

    def statement(self, node: ir.Stmt) -> None:
        if isinstance(node, (ir.If, ir.While, ir.Assert)):
            self.needed |= ir.tokens_of(node.test)
            self.expression(node.test)
        elif isinstance(node, ir.For):
            self.needed |= ir.tokens_of(node.iterable)
            self.flow(node.target, node.iterable)
        elif isinstance(node, ir.With):
            self.needed |= ir.tokens_of(node.context)
        elif isinstance(node, ir.Return) and node.value is not None:
            self.needed |= ir.tokens_of(node.value)
        elif isinstance(node, ir.Assign):
            for target in node.targets:
                self.flow(target, node.value)
            self.expression(node.value)
        elif isinstance(node, ir.AugAssign):
            self.flow(node.target, node.value)
            self.expression(node.value)
        elif isinstance(node, ir.Evaluate):
            self.expression(node.value)

    def flow(self, target: ir.Expr, value: ir.Expr) -> None:
        self.flows.append((frozenset(_written(target)), ir.tokens_of(value)))

    def expression(self, node: Any) -> None:
        """What an expression decides by itself: callees, operands, filters."""
        stack = [node]
        while stack:
            item = stack.pop()
            if isinstance(item, ir.Call):
                self.needed |= ir.tokens_of(item.func)
                if not self.is_external(item):
                    for argument in item.args:
                        self.needed |= ir.tokens_of(argument)
                else:
                    for argument in item.args[1:]:
                        self.needed |= ir.tokens_of(argument)
            elif isinstance(item, ir.BoolOp):
                for operand in item.values[:-1]:
                    self.needed |= ir.tokens_of(operand)
            elif isinstance(item, ir.Conditional):
                self.needed |= ir.tokens_of(item.test)
            elif isinstance(item, ir.Comprehension):
                for _, iterable, tests in item.clauses:
                    self.needed |= ir.tokens_of(iterable)
                    for test in tests:
                        self.needed |= ir.tokens_of(test)
            elif isinstance(item, ir.Walrus):
                self.flows.append((frozenset({item.target}), ir.tokens_of(item.value)))
            stack.extend(ir.children(item))


def _written(target: ir.Expr) -> set[str]:
    if isinstance(target, ir.Name):
        return {target.id}
    if isinstance(target, ir.Attribute):
        return {target.attr}
    if isinstance(target, ir.Subscript):
        return _written(target.value)
    if isinstance(target, ir.Starred):
        return _written(target.value)
    if isinstance(target, ir.Display):
        return set().union(*(_written(item) for item in target.items)) if target.items else set()
    return set()
