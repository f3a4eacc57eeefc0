"""Does an expression have another value in each process, by what other files show?"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.across import Place, origins_across
from distlint.analyzer.static.inheritance import imported_class
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.data._differences import difference

_DEPTH = 3
"""Through how many variables a number is followed into other files."""
_SURE = frozenset({"the rank", "a clock"})
"""What differs also where a script, which may be out of sight, seeds all ranks."""


def difference_across(objects: Objects, node: ir.Expr, point: Point) -> str | None:
    """As :func:`difference`, also through parameters, attributes and functions of other files."""
    found = difference(objects, node, point)
    return found if found is not None else _elsewhere(objects, node, point, _DEPTH)


def _elsewhere(objects: Objects, node: ir.Expr, point: Point, depth: int) -> str | None:
    for where, origin in _places(objects, node, point) if depth else ():
        if origin.node is node or not isinstance(origin.node, ir.Expr):
            continue
        if where is not objects:
            found = difference(where, origin.node, origin.point)
            if found in _SURE:
                return found
        found = _elsewhere(where, origin.node, origin.point, depth - 1)
        if found is not None:
            return found
    return None


def _places(objects: Objects, node: ir.Expr, point: Point) -> Iterator[Place]:
    """Where the parts of a number come from: variables, attributes, and calls as a whole."""
    if isinstance(node, ir.Call):
        yield from origins_across(objects, node, point)
        return
    for each in expressions_in(node):
        path = path_of(each) if isinstance(each, ir.Expr) else None
        if path is None:
            continue
        yield from origins_across(objects, each, point)
        if len(path) == 2 and path[0] != "self":
            yield from _of_object(objects, each.value, path[1:], point)


def _of_object(objects: Objects, node: ir.Expr, path: Path, point: Point) -> Iterator[Place]:
    """Where an attribute of an object comes from that other files have made and passed."""
    for where, origin in origins_across(objects, node, point):
        if where is objects or origin.site is None:
            continue
        cls = where.callee(origin.site)
        there = (where, cls) if cls else imported_class(where, origin.site.call.func)
        if there is not None and isinstance(there[1], ir.Class):
            yield from ((there[0], each) for each in there[0].attribute(there[1], path))
