"""Which functions calls run, here or in other files, and what they are given."""

from __future__ import annotations

from collections.abc import Sequence

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere, is_seen, objects_in
from distlint.analyzer.static.journeys import method_elsewhere
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of

_MOST_FUNCTIONS = 64
"""Functions whose statements are looked at."""


def with_called(objects: Objects, points: Sequence[Point]) -> list[Point]:
    """Statements, and those of the functions of the project that they call."""
    found = list(points)
    scopes = {each.scope for each in points}
    for point in found:  # grows meanwhile
        for call in calls_of(point.statement) if len(scopes) < _MOST_FUNCTIONS else ():
            called = objects.flow.calls.called(CallSite(call, point))
            if called is None or not isinstance(called[1], ir.Function):
                continue
            scope = called[0].scope_of(called[1])
            if scope is not None and scope not in scopes:
                scopes.add(scope)
                found += objects_in(scope.module).points_in(scope)
    return found


def run_by(objects: Objects, site: CallSite) -> tuple[Objects, ir.Function] | None:
    """The function or method of the project that a call runs, with the objects of its module."""
    callee = objects.callee(site)
    if isinstance(callee, ir.Function):
        return objects, callee
    if callee is not None:
        return None
    path = path_of(site.call.func)
    is_imported = path is not None and is_seen(objects, path, site.point)
    there = called_elsewhere(objects.module, site.call.func) if is_imported else None
    there = there or method_elsewhere(objects, site)
    if there is None or there[1].name == "__init__":
        return None
    return objects_in(there[0]), there[1]


def passed_by_name(function: ir.Function, call: ir.Call) -> dict[str, ir.Expr | None] | None:
    """What a call passes for each parameter of a function; None if that cannot be told."""
    params = list(function.params)
    if function.owner and not any(path_of(e) == ("staticmethod",) for e in function.decorators):
        params = params[1:]
    if any(each.star for each in call.args) or any(param.star for param in params):
        return None
    given: dict[str, ir.Expr | None] = {param.name: param.default for param in params}
    by_place = [each for each in call.args if each.keyword is None]
    if len(by_place) > len(params):
        return None
    for param, argument in zip(params, by_place, strict=False):
        given[param.name] = argument.value
    for argument in call.args:
        if argument.keyword is not None:
            given[argument.keyword] = argument.value
    return given
