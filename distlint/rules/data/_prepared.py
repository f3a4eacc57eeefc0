"""Loaders that Accelerate prepares, of whatever file, and the calls that do it."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.training import Made, loaders

_NAMES = ("prepare", "prepare_data_loader")
_TAKERS = frozenset(f"accelerate.Accelerator.{name}" for name in _NAMES)


def prepared_loaders(objects: Objects) -> Iterator[tuple[CallSite, Made]]:
    """The loaders that a file has prepared, and the calls."""
    for site in objects.calls(set(_NAMES)):
        if objects.called(site) not in _TAKERS:
            continue
        for value, point in _given(objects, site):
            for origin in objects.origins(value, point):
                if origin.call is not None:
                    for loader in loaders(objects_in(origin.point.scope.module)):
                        if loader.call is origin.call:
                            yield site, loader


def _given(objects: Objects, site: CallSite) -> Iterator[tuple[ir.Expr, Point]]:
    """What a call is given, also one by one, or as the items of a list or a dict."""
    for index, argument in enumerate(site.call.args):
        if _is_dropped(site, index):
            continue
        if argument.star == "*":
            yield from _items(objects, argument.value, site.point)
        else:
            yield argument.value, site.point
            yield from _one_by_one(objects, argument.value, site.point)


def _is_dropped(site: CallSite, index: int) -> bool:
    """Is what becomes of an argument not used: ``_, model = prepare(loader, model)``?"""
    statement, args = site.point.statement, site.call.args
    if isinstance(statement, ir.Evaluate):
        return statement.value is site.call
    if not isinstance(statement, ir.Assign) or statement.value is not site.call:
        return False
    if any(argument.star for argument in args[: index + 1]):
        return False
    return all(
        isinstance(target, ir.Display)
        and len(target.items) == len(args)
        and isinstance(item := target.items[index], ir.Name)
        and not item.id.strip("_")
        for target in statement.targets
    )


def _items(objects: Objects, node: ir.Expr, point: Point) -> Iterator[tuple[ir.Expr, Point]]:
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        if node.func.attr == "values":
            node = node.func.value
    for origin in objects.origins(node, point):
        held: tuple[ir.Expr, ...] = ()
        if isinstance(origin.node, ir.Display):
            held = origin.node.items
        elif isinstance(origin.node, ir.DictDisplay):
            held = origin.node.values
        yield from ((each, origin.point) for each in held)


def _one_by_one(objects: Objects, node: ir.Expr, point: Point) -> Iterator[tuple[ir.Expr, Point]]:
    """The items that a comprehension goes through, if it is one of them."""
    if isinstance(node, ir.Name):
        for part in nodes_of(point.statement):
            for target, iterable, _ in part.clauses if isinstance(part, ir.Comprehension) else ():
                if isinstance(target, ir.Name) and target.id == node.id:
                    yield from _items(objects, iterable, point)
