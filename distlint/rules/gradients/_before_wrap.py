"""What is run before a model is wrapped."""

from __future__ import annotations

from distlint.analyzer.static.callers import calls_elsewhere
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.training import loops_around


def runs_before(objects: Objects, point: Point, wrap: Point, depth: int = 2) -> bool:
    """Is a statement run before a wrap only: in its function, or in one that is called there?"""
    if wrap.scope is point.scope:
        around = {id(loop) for loop in loops_around(point)}
        return point.statement.site < wrap.statement.site and not any(
            id(loop) in around for loop in loops_around(wrap)
        )
    function = point.scope.function
    if function is None or not depth or wrap.scope.function is None:
        return False
    calls = list(objects.callers(function))
    return (
        bool(calls)
        and all(runs_before(objects, each.point, wrap, depth - 1) for each in calls)
        and next(calls_elsewhere(objects.module, function), None) is None
    )
