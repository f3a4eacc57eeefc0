"""Whether a file trains, itself or by the functions that it calls, of whatever file."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import Scope
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.training import evaluates, is_evaluation, loops_around

BACKWARD = frozenset({"backward"})
TRAINS = BACKWARD | {"zero_grad"}

_DEPTH = 4
"""Through how many calls a training step is looked for."""

_MOST = 60
"""Functions that are looked at for one loop."""


def trains_near(objects: Objects, use: Point, signs: frozenset[str] = TRAINS) -> bool:
    """Does a file train, or do functions that are called where a loader is gone through, or in
    another loop of the file?
    """
    if not objects.module.tokens.isdisjoint(signs):
        return True
    others = (each for each in objects.names.scopes if each is not use.scope)
    scopes = [use.scope, *(each for each in others if not _evaluates(each))]
    seen: set[ir.Function] = set()
    return any(
        _trains(where, function, signs, _DEPTH, seen)
        for scope in scopes
        for where, function in _called(objects, scope, in_loops=scope is not use.scope)
    )


def _trains(
    objects: Objects,
    function: ir.Function,
    signs: frozenset[str],
    depth: int,
    seen: set[ir.Function],
) -> bool:
    """Does a function take a training step, or one that it calls?"""
    if not function.tokens.isdisjoint(signs):
        return True
    if function in seen or len(seen) >= _MOST or not depth:
        return False
    seen.add(function)
    scope = objects.scope_of(function)
    return scope is not None and any(
        _trains(where, each, signs, depth - 1, seen) for where, each in _called(objects, scope)
    )


def _called(
    objects: Objects, scope: Scope, *, in_loops: bool = False
) -> Iterator[tuple[Objects, ir.Function]]:
    """The functions of the project that one calls, but those that evaluate."""
    for site in objects.calls_in(scope, objects.called_names):
        if is_evaluation(site.name) or evaluates(site.point):
            continue
        if in_loops and not any(loops_around(site.point)):
            continue
        found = function_called(objects, site)
        if found is not None:
            yield found


def _evaluates(scope: Scope) -> bool:
    return scope.function is not None and is_evaluation(scope.function.name)
