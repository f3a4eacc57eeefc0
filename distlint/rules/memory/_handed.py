"""What functions do with what they are given: ``update(loss)`` may call ``loss.backward()``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import passed_by_name, run_by
from distlint.analyzer.static.names import Scope, names_given
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.gradients._steps import Backward, passed_backward

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point

_SOMETIMES = (ir.If, ir.For, ir.While, ir.Try)


def may_go_backward(module: Module) -> bool:
    """Is there a backward pass in a file, or in one that it imports?"""
    return any("backward" in each.tokens for each in (module, *module.imports))


def handed_over(objects: Objects) -> Iterator[Backward]:
    """The calls of functions that go backward on what they are given."""
    for backward, inner in passed_backward(objects):
        if "detach_" not in ir.block_tokens(inner.site.point.scope.body):
            yield backward


def method_calls(objects: Objects, scope: Scope, name: str) -> Iterator[tuple[CallSite, ir.Expr]]:
    """The calls of a method in a function, and what it is called on.

    Also where a function is called that surely does so with what it is given.
    """
    for site in objects.calls_in(scope, {name}):
        if isinstance(site.call.func, ir.Attribute):
            yield site, site.call.func.value
    calls = [(call, point) for call, point in objects.nodes(ir.Call) if point.scope is scope]
    for site, where, inner, given in _runs(objects, calls, {name}):
        for each in where.calls_in(inner, {name}):
            func = each.call.func
            receiver = _argument(given, func.value) if isinstance(func, ir.Attribute) else None
            surely = not any(isinstance(here.owner, _SOMETIMES) for here in each.point.around)
            if receiver is not None and surely:
                yield site, receiver


def _argument(given: dict[str, ir.Expr], node: ir.Expr) -> ir.Expr | None:
    """What is passed for the parameter that an expression names."""
    return given.get(node.id) if isinstance(node, ir.Name) else None


_Run = tuple[CallSite, "Objects", Scope, dict[str, ir.Expr]]
"""A call, the function that it runs, and what that is given for parameters that it keeps."""


def _runs(
    objects: Objects, calls: Iterable[tuple[ir.Call, Point]], words: Set[str]
) -> Iterator[_Run]:
    """The calls of functions with any of these words."""
    for call, point in calls:
        site = CallSite(call, point)
        where, function = (call.args and run_by(objects, site)) or (objects, None)
        if function is None or words.isdisjoint(function.tokens) or function.generator:
            continue
        scope, given = where.scope_of(function), passed_by_name(function, call)
        if scope is not None and given is not None:
            bound = {n for each in where.points_in(scope) for n in names_given(each.statement)}
            kept = {n: v for n, v in given.items() if v is not None and n not in bound}
            yield site, where, scope, kept
