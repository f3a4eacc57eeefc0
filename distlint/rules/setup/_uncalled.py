"""Rank checks that are functions, and are tested without being called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported
from distlint.analyzer.static.inheritance import bases_elsewhere
from distlint.analyzer.static.journeys import function_elsewhere
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.classes import is_property
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of

_PREDICATE = re.compile(
    r"^(is_|on_)?(main|master|rank_?zero|rank_?0|primary|chief|first|root|global_zero)(_?(process|"
    r"rank|node|proc))?$|^is_(main|master|primary|chief)|^is_initialized$|^is_available$"
    r"|^get_(local_|global_)?rank$|^get_world_size$|^is_rank_?(zero|0)|^is_dist"
)
_TORCH = frozenset(
    f"torch.distributed.{name}"
    for name in ("get_rank", "get_world_size", "is_initialized", "is_available")
)


def uncalled(objects: Objects, node: ir.Expr, point: Point) -> Iterator[str]:
    """The last name of a function that is tested as if it were a value."""
    path = path_of(node)
    if path is None:
        return
    if _PREDICATE.search(path[-1]) and (
        objects.names.dotted(node, point.scope) in _TORCH
        or (len(path) == 1 and _is_function(objects, path[0], point))
    ):
        yield path[-1]
        return
    function = _function(objects, node, point, path)
    if function is not None and _PREDICATE.search(function.name) and not is_property(function):
        if not _is_called(objects, path, point):
            yield path[-1]


def _function(objects: Objects, node: ir.Expr, point: Point, path: Path) -> ir.Function | None:
    """The function that an expression would call: of a file, of an object, or in a variable."""
    site = CallSite(ir.Call(node, (), point.statement.site), point)
    held = [origin.node for origin in objects.origins(node, point)]
    if held and all(isinstance(each, ir.Function) for each in held):
        return next(each for each in held if isinstance(each, ir.Function))
    callee = objects.callee(site)
    if callee is not None:
        return callee if isinstance(callee, ir.Function) else None
    there = function_elsewhere(objects, site)
    if there is not None:
        return there[1]
    cls = objects.classes.of_self(point.scope) if path[0] == "self" and len(path) == 2 else None
    if cls is None or any(path[1] in each.attributes for each in objects.classes.with_bases(cls)):
        return None
    found = (base.methods.get(path[1]) for _, base in bases_elsewhere(objects, cls))
    return next((each for each in found if each is not None), None)


def _is_called(objects: Objects, path: Path, point: Point) -> bool:
    """Is it called as well, so that the test asks whether there is a function?"""
    return any(
        path_of(call.func) == path
        for each in objects.points_in(point.scope)
        for call in calls_of(each.statement)
    ) and not (len(path) == 2 and path[0] == "self")


def _is_function(objects: Objects, name: str, point: Point) -> bool:
    """Is a name bound once in the module, to a function, here or in another file of the project?"""
    scope = point.scope
    while scope.function is not None:
        if name in scope.function.locals:
            return False
        if scope.outer is None:
            return False
        scope = scope.outer
    definitions = objects.module.definitions.get(name, ())
    if len(definitions) != 1:
        return False
    node = definitions[0].node
    if isinstance(node, Imported):
        return objects.module.imported(name) is not None
    return isinstance(node, ir.Function)
