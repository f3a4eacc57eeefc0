"""What is in a dict or a list of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.training import loops_around


@dataclass(frozen=True, slots=True)
class Taken:
    """An item of a container; its key is Ellipsis where it may be any."""

    container: ir.Expr
    key: object = ...


def taken_from(node: ir.Expr, point: Point) -> Taken | None:
    """The container that an expression takes an item of: ``nets[k]``, or what a loop goes over."""
    if isinstance(node, ir.Subscript):
        return Taken(node.value, node.index.value if isinstance(node.index, ir.Literal) else ...)
    if not isinstance(node, ir.Name):
        return None
    for part in nodes_of(point.statement):
        for target, iterable, _ in part.clauses if isinstance(part, ir.Comprehension) else ():
            found = _gone_over(target, iterable, node.id)
            if found is not None:
                return Taken(found)
    for loop in loops_around(point):
        if isinstance(loop, ir.For):
            found = _gone_over(loop.target, loop.iterable, node.id)
            if found is not None:
                return Taken(found)
    return None


def _gone_over(target: ir.Expr, iterable: ir.Expr, name: str) -> ir.Expr | None:
    """The container whose items a variable of a loop is, and not its keys."""
    pair = target.items if isinstance(target, ir.Display) and len(target.items) == 2 else None
    if isinstance(iterable, ir.Call) and ir.last_name(iterable.func) == "enumerate":
        if pair is None or not iterable.args:
            return None
        return _gone_over(pair[1], iterable.args[0].value, name)
    if isinstance(iterable, ir.Call):
        func = iterable.func
        if not isinstance(func, ir.Attribute) or func.attr not in ("values", "items"):
            return None
        iterable = func.value
        target = pair[1] if func.attr == "items" and pair is not None else target
    return iterable if path_of(target) == (name,) else None


def put_into(objects: Objects, taken: Taken, point: Point) -> list[tuple[ir.Call, Point]]:
    """The calls that made an item: each is the last that was put there; none if that is unknown."""
    put = list(_assigned(objects, taken, point))
    if put:
        return put
    made = list(_displayed(objects, taken, point))
    calls = [(value, at) for value, at in made if isinstance(value, ir.Call)]
    return calls if len(calls) == len(made) else []


def _assigned(objects: Objects, taken: Taken, point: Point) -> Iterator[tuple[ir.Call, Point]]:
    """``nets[k] = ...`` before the use, or in another method of the object."""
    path = path_of(taken.container)
    if path is None:
        return
    for each in objects.points:
        statement = each.statement
        if not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Call):
            continue
        is_here = each.scope is point.scope
        if is_here and statement.site > point.statement.site:
            continue
        if not is_here and path[0] != "self":
            continue
        for target in statement.targets:
            if isinstance(target, ir.Subscript) and path_of(target.value) == path:
                key = target.index.value if isinstance(target.index, ir.Literal) else ...
                if key is ... or key == taken.key:
                    yield statement.value, each


def _displayed(objects: Objects, taken: Taken, point: Point) -> Iterator[tuple[ir.Expr, Point]]:
    """``{"a": ..., "b": ...}``, ``[...]`` and comprehensions."""
    for origin in objects.origins(taken.container, point):
        node = origin.node
        if isinstance(node, ir.DictDisplay):
            for key, value in zip(node.keys, node.values, strict=True):
                is_it = isinstance(key, ir.Literal) and key.value == taken.key
                if is_it or taken.key is ...:
                    yield value, origin.point
        elif isinstance(node, ir.Display):
            for index, value in enumerate(node.items):
                if taken.key in (..., index):
                    yield value, origin.point
        elif isinstance(node, ir.Comprehension):
            element = node.element
            if node.kind == "dict" and isinstance(element, ir.Display):
                element = element.items[1]
            yield element, origin.point
