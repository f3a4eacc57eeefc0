"""Samples of a dataset that are in the order of a set of texts, which differs between processes.

class Scenes(Dataset):
    def __init__(self, files):
        self.items = []
        for name in {file.split("_")[0] for file in files}:
            self.items.append(load(name))
"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope, nodes_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.data._text_hashes import holds_text

_ITEMS = "__getitem__"
_PUTS = frozenset({"append", "extend", "insert"})
_ORDERED = frozenset({"sorted", "sort"})
_COPIES = frozenset({"list", "tuple", "enumerate"})


def ordered_by_sets(objects: Objects) -> Iterator[tuple[Point, Point]]:
    """Where a set of texts gives the samples of a dataset their order, and where they are taken."""
    for cls in objects.classes.points:
        getter = cls.methods.get(_ITEMS)
        scope = objects.scope_of(getter) if getter is not None else None
        if getter is None or scope is None or len(getter.params) < 2:
            continue
        kept = {
            (path[1], point)
            for point in objects.points_in(scope)
            for node in nodes_of(point.statement)
            if isinstance(node, ir.Subscript) and _is_index(node.index, getter)
            if (path := path_of(node.value)) is not None
            and len(path) == 2
            and path[0] == getter.params[0].name
        }
        for name, taken in sorted(kept, key=lambda each: each[1].statement.site):
            for point in _filled_by_sets(objects, cls, name):
                yield point, taken


def _is_index(node: ir.Expr, getter: ir.Function) -> bool:
    """Is it the index that an item is asked for by, or computed from it, and not looked up?"""
    return isinstance(node, (ir.Name, ir.Binary)) and getter.params[1].name in ir.tokens_of(node)


def _filled_by_sets(objects: Objects, cls: ir.Class, name: str) -> Iterator[Point]:
    """Where the methods of a class put into an attribute what is in the order of a set."""
    methods = list(cls.methods.values())
    for method in methods:
        scope = objects.scope_of(method)
        if scope is None or not method.params or not _ORDERED.isdisjoint(method.tokens):
            continue
        own: Path = (method.params[0].name, name)
        fills = name in method.tokens
        returned = any(
            method.name in each.tokens and name in each.tokens and _keeps_value(each, method, name)
            for each in methods
        )
        for point in objects.points_in(scope) if fills or returned else ():
            for place in _ordered(objects, point):
                if (fills and _becomes(objects, scope, place, own)) or (
                    returned and _is_returned(objects, scope, place)
                ):
                    yield point


def _becomes(objects: Objects, scope: Scope, place: Path, own: Path) -> bool:
    """Is a list an attribute, or assigned to it as it is?"""
    return place == own or any(
        path_of(point.statement.value) == place
        and any(path_of(target) == own for target in point.statement.targets)
        for point in objects.points_in(scope)
        if isinstance(point.statement, ir.Assign)
    )


def _is_returned(objects: Objects, scope: Scope, place: Path) -> bool:
    """Does a function return a list as it is?"""
    return any(
        isinstance(point.statement, ir.Return) and path_of(point.statement.value) == place
        for point in objects.points_in(scope)
    )


def _keeps_value(method: ir.Function, called: ir.Function, name: str) -> bool:
    """Does a method assign what another one returns to an attribute, in the order that it has?"""
    return _ORDERED.isdisjoint(method.tokens) and any(
        isinstance(statement, ir.Assign)
        and isinstance(statement.value, ir.Call)
        and ir.last_name(statement.value.func) == called.name
        and any(ir.last_name(target) == name for target in statement.targets)
        for statement, _ in placed(method.body)
    )


def _ordered(objects: Objects, point: Point) -> Iterator[Path]:
    """The variables that a statement gives the order of a set: lists that its loop fills."""
    statement = point.statement
    if isinstance(statement, ir.For) and _is_set(objects, statement.iterable, point):
        for inner, _ in placed(statement.body):
            call = inner.value if isinstance(inner, ir.Evaluate) else None
            if isinstance(call, ir.Call) and isinstance(call.func, ir.Attribute):
                path = path_of(call.func.value)
                if call.func.attr in _PUTS and path is not None:
                    yield path
    elif isinstance(statement, ir.Assign) and _is_list_of_set(objects, statement.value, point):
        yield from filter(None, map(path_of, statement.targets))


def _is_list_of_set(objects: Objects, value: ir.Expr, point: Point) -> bool:
    """Is it ``list(names)`` or ``[load(name) for name in names]`` of a set?"""
    if isinstance(value, ir.Comprehension):
        return value.kind == "list" and _is_set(objects, value.clauses[0][1], point)
    return (
        isinstance(value, ir.Call)
        and path_of(value.func) in (("list",), ("tuple",))
        and len(value.args) == 1
        and _is_set(objects, value, point)
    )


def _is_set(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it a set of texts, for certain; also as ``list`` or ``enumerate`` goes through it?"""
    while isinstance(node, ir.Call) and path_of(node.func) in {(each,) for each in _COPIES}:
        if len(node.args) != 1:
            return False
        node = node.args[0].value
    origins = objects.origins(node, point)
    return bool(origins) and all(
        isinstance(each.node, ir.Expr)
        and each.item is None
        and not each.attributes
        and _makes_set(each.node)
        and holds_text(objects, each.node, each.point)
        for each in origins
    )


def _makes_set(node: ir.Expr) -> bool:
    if isinstance(node, ir.Call):
        return path_of(node.func) == ("set",) and len(node.args) == 1
    return isinstance(node, (ir.Display, ir.Comprehension)) and node.kind == "set"
