"""What lists, dicts and tuples of a file hold, also what is appended to them later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.origins import NAMESPACES
from distlint.analyzer.static.objects.sites import Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of

COPIES = frozenset({"list", "tuple", "dict", "OrderedDict", "set", "sorted", "reversed"})
"""Functions that make a container, of another one or of nothing."""
_ADDS = frozenset({"append", "extend", "insert", "add", "appendleft", "update", "setdefault"})
_DEPTH = 3
"""Containers in containers that are looked at."""


class Item(NamedTuple):
    """An expression that a container holds the value of, and its place."""

    value: ir.Expr
    point: Point


class Fill(NamedTuple):
    """A statement that adds something to a container, and what."""

    container: ir.Expr
    point: Point
    items: tuple[ir.Expr, ...]


def may_be_container(value: ir.Expr) -> bool:
    """May an expression be a container, by its form: not a class that is called, or a number?"""
    if isinstance(value, ir.Call):
        name = ir.last_name(value.func)
        is_class = name[:1].isupper() and name not in COPIES and name not in NAMESPACES
        return not is_class and path_of(value.func) is not None
    return isinstance(value, ir.Name) or _makes_container(value)


def container_nodes(objects: Objects, value: ir.Expr, point: Point) -> list[Origin]:
    """The displays, comprehensions and calls that make a container; none if it may be another."""
    found = []
    for origin in objects.origins(value, point):
        if isinstance(origin.node, ir.Literal) and origin.node.value is None:
            continue
        if origin.item is not None or origin.attributes or not _makes_container(origin.node):
            return []
        found.append(origin)
    return found


def _makes_container(node: object) -> bool:
    if isinstance(node, ir.Binary):
        return _makes_container(node.left) or _makes_container(node.right)
    if isinstance(node, ir.Call):
        name = ir.last_name(node.func)
        return name in COPIES or name in NAMESPACES or name in ("defaultdict", "deque")
    return isinstance(node, (ir.Display, ir.DictDisplay, ir.Comprehension))


def written_items(objects: Objects, node: object, point: Point, depth: int) -> Iterator[Item]:
    """What an expression that makes a container puts into it."""
    if isinstance(node, ir.Display):
        values: tuple[ir.Expr, ...] = node.items
    elif isinstance(node, ir.DictDisplay):
        values = tuple(
            value if key is not None else ir.Starred(value)
            for key, value in zip(node.keys, node.values, strict=True)
        )
    elif isinstance(node, ir.Comprehension):
        yield from _of_comprehension(objects, node, point, depth)
        return
    elif isinstance(node, ir.Binary):
        values = tuple(ir.Starred(each) for each in (node.left, node.right))
    elif isinstance(node, ir.Call):
        values = tuple(each.value if each.keyword else ir.Starred(each.value) for each in node.args)
    else:
        return
    for value in values:
        yield from _flat(objects, Item(value, point), depth)


def _of_comprehension(
    objects: Objects, node: ir.Comprehension, point: Point, depth: int
) -> Iterator[Item]:
    element = node.element
    if node.kind == "dict" and isinstance(element, ir.Display):
        element = element.items[1]
    for target, iterable, _ in node.clauses:
        if isinstance(element, ir.Name) and path_of(target) == (element.id,):
            yield from _flat(objects, Item(ir.Starred(iterable), point), depth)
            return
    yield from _flat(objects, Item(element, point), depth)


def _flat(objects: Objects, item: Item, depth: int) -> Iterator[Item]:
    """An item, or the items of the container that it is."""
    value = item.value.value if isinstance(item.value, ir.Starred) else item.value
    is_spread = value is not item.value
    if isinstance(value, (ir.Display, ir.DictDisplay, ir.Comprehension)) or is_spread:
        for origin in objects.origins(value, item.point) if depth else ():
            yield from written_items(objects, origin.node, origin.point, depth - 1)
    else:
        yield item


class Contents:
    """What the containers that one file makes hold, as it shows itself."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.fills = list(_fills(objects))
        self._by_node: dict[int, list[Fill]] = {}
        for fill in self.fills:
            for origin in objects.origins(fill.container, fill.point):
                self._by_node.setdefault(id(origin.node), []).append(fill)

    def fills_of(self, nodes: list[Origin]) -> list[Fill]:
        """The statements that add something to one of these containers."""
        return [fill for origin in nodes for fill in self._by_node.get(id(origin.node), ())]

    def items(self, nodes: list[Origin]) -> Iterator[Item]:
        """What containers hold: what is written where they are made, and what is added."""
        for origin in nodes:
            there = self.objects.at(origin.point)
            yield from written_items(there, origin.node, origin.point, _DEPTH)
        for fill in self.fills_of(nodes):
            for value in fill.items:
                yield from _flat(self.objects, Item(value, fill.point), _DEPTH)


def _fills(objects: Objects) -> Iterator[Fill]:
    for site in objects.calls(_ADDS):
        func = site.call.func
        if isinstance(func, ir.Attribute) and site.call.args:
            given = site.call.args
            spread = func.attr in ("extend", "update")
            values = [ir.Starred(e.value) if spread and not e.keyword else e.value for e in given]
            yield Fill(func.value, site.point, tuple(values))
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                if isinstance(target, ir.Subscript):
                    yield Fill(target.value, point, (statement.value,))
        elif isinstance(statement, ir.AugAssign):
            yield Fill(statement.target, point, (ir.Starred(statement.value),))


def is_fill(point: Point, name: str) -> bool:
    """Does a statement only add something to an attribute of this name, or set it?"""
    statement = point.statement
    if isinstance(statement, ir.Assign):
        targets = [t.value if isinstance(t, ir.Subscript) else t for t in statement.targets]
        return any(isinstance(each, ir.Attribute) and each.attr == name for each in targets)
    if isinstance(statement, ir.AugAssign):
        return isinstance(statement.target, ir.Attribute) and statement.target.attr == name
    return any(
        isinstance(call.func, ir.Attribute)
        and call.func.attr in _ADDS
        and isinstance(call.func.value, ir.Attribute)
        and call.func.value.attr == name
        for call in calls_of(statement)
    )
