"""Losses that a function goes backward on and returns with their graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of, place_of
from distlint.rules.gradients._steps import BACKWARD, Backward, backwards
from distlint.rules.memory._terms import Terms
from distlint.rules.training import loops_around

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite

    _Result = tuple[CallSite, ir.Expr, int | None]

_MOST_PASSES = 4
"""A function with more backward passes is no training step."""


def through_functions(objects: Objects) -> Iterator[Backward]:
    """The calls of functions that go backward and return the loss, or a term, with its graph.

    The loss is then the variable that the caller gives the result.
    """
    for scope in objects.names.scopes:
        function = scope.function
        if function is None or function.generator or BACKWARD.isdisjoint(function.tokens):
            continue
        kept = [each for caller in objects.callers(function) for each in _results(caller)]
        passes = list(backwards(objects, scope)) if kept else []
        for backward in passes if len(passes) <= _MOST_PASSES else ():
            if not any(loops_around(backward.site.point)):
                yield from _given_back(objects, backward, kept)


def _given_back(
    objects: Objects, backward: Backward, kept: Sequence[_Result]
) -> Iterator[Backward]:
    """The calls whose result is the loss of a backward pass, or a term of it."""
    point = backward.site.point
    points = objects.points_in(point.scope)
    losses = {place_of(backward.loss), *Terms(objects, points).of(backward.loss, point)}
    for caller, target, item in kept:
        returned = [_item_of(p.statement, item) for p in points if _gives_back(p.statement)]
        if returned and all(path in losses and path for path in returned):
            if not any(_is_bound_after(points, backward, path) for path in returned):
                yield Backward(caller, target)


def _gives_back(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.Return) and statement.value is not None


def _item_of(statement: ir.Stmt, item: int | None) -> Path | None:
    """The variable that a ``return`` gives back, or gives for one of several results."""
    value = statement.value if isinstance(statement, ir.Return) else None
    if item is not None:
        items = value.items if isinstance(value, ir.Display) else ()
        value = items[item] if item < len(items) else None
    return place_of(value)


def _results(caller: CallSite) -> Iterator[_Result]:
    """The variables that are given the results of a call, and which one each is given."""
    statement = caller.point.statement
    if isinstance(statement, ir.Assign) and statement.value is caller.call:
        for target in statement.targets:
            if isinstance(target, ir.Display):
                yield from ((caller, each, index) for index, each in enumerate(target.items))
            else:
                yield caller, target, None


def _is_bound_after(points: Sequence[Point], backward: Backward, path: Path | None) -> bool:
    """Is a variable given another value after the backward pass?"""
    start = backward.site.point.statement.site
    return path is not None and any(
        point.statement.site > start and binds(point.statement, path) for point in points
    )


def binds(statement: ir.Stmt, loss: Path) -> bool:
    if isinstance(statement, ir.Assign):
        return any(gives(part, loss) for each in statement.targets for part in parts(each))
    return isinstance(statement, ir.AugAssign) and place_of(statement.target) == loss


def gives(target: ir.Expr, place: Path) -> bool:
    """Does a target bind a place, or what it is part of; an item under any name is each."""
    bound = place_of(target) or container(target)
    return bound is not None and place[: len(bound)] == bound


def container(node: ir.Expr) -> Path | None:
    """The variable that an item is of, or the variable itself."""
    while isinstance(node, ir.Subscript):
        node = node.value
    return path_of(node)


def parts(target: ir.Expr) -> tuple[ir.Expr, ...]:
    return target.items if isinstance(target, ir.Display) else (target,)
