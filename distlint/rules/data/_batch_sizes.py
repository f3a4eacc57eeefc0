"""Random orders inside a batch: of so many items as it has, or of parts of its samples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere, objects_in
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

_DEPTH = 4
"""Through how many assignments and calls a size is followed."""

_BATCH = re.compile(r"(?:^|_)(?:mini_?|micro_?)?batch(?:_data)?$", re.IGNORECASE)
_LOADER = re.compile(r"load|batches|(?:^|_)dl$", re.IGNORECASE)
_SAME_SIZE = frozenset({"int", "list", "tuple", "range", "max", "min", "arange", "round", "tolist"})
"""Functions whose value is a size if they are given one, or as long as that."""

_PICKS = frozenset({"index_select", "index_fill", "index_fill_", "index_add_", "gather", "take"})
"""Functions that take a dimension and indices along it."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """A dimension of a tensor; ``is_first`` is the one of the samples, if it holds several."""

    tensor: ir.Expr
    is_first: bool


def is_size_in_batch(objects: Objects, node: ir.Expr, point: Point, depth: int = _DEPTH) -> bool:
    """Is a number a size of one batch, wherever it comes from: of its samples, or their parts?

    So is a list of as many items.
    """
    if isinstance(node, ir.Binary):
        return any(is_size_in_batch(objects, n, point, depth) for n in (node.left, node.right))
    axis = _axis(node)
    if axis is not None:
        return not axis.is_first or _is_batch(objects, axis.tensor, point, depth)
    if isinstance(node, ir.Call) and ir.last_name(node.func) in _SAME_SIZE:
        given = [each.value for each in node.args]
        if isinstance(node.func, ir.Attribute) and not given:
            given = [node.func.value]
        return any(is_size_in_batch(objects, each, point, depth) for each in given)
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Literal):
        index = node.index.value
        return isinstance(index, int) and _is_item_in_batch(
            objects, node.value, index, point, depth
        )
    if not isinstance(node, ir.Name) or not depth:
        return False
    found = list(_bound(objects, node.id, point))
    sizes = [
        is_size_in_batch(where, value, at, depth - 1)
        if item is None
        else _is_item_in_batch(where, value, item, at, depth)
        for where, value, item, at in found
    ]
    return bool(sizes) and all(sizes)


def picks_inside(names: frozenset[str], statement: ir.Stmt) -> bool:
    """Does one of these variables pick along another dimension than the first: ``x[:, order]``?"""
    return any(
        isinstance(node, ir.Expr) and not names.isdisjoint(ir.names_in(node))
        for part in nodes_of(statement)
        for node in _inner_indices(part)
    )


def _inner_indices(node: object) -> Iterator[ir.Expr]:
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Display):
        if node.index.kind == "tuple":
            yield from node.index.items[1:]
    elif isinstance(node, ir.Call) and ir.last_name(node.func) in _PICKS:
        values = [each.value for each in node.args]
        if not any(map(_is_zero, values)):
            yield from values


def _axis(node: ir.Expr) -> _Axis | None:
    """The dimension that ``x.shape[1]``, ``x.size(1)`` or ``len(x)`` is the size of."""
    if isinstance(node, ir.Subscript):
        shape = _shape(node.value)
        if shape is not None and not isinstance(node.index, ir.Slice):
            return _Axis(shape[0], shape[1] and _is_zero(node.index))
    if isinstance(node, ir.Call) and len(node.args) == 1:
        func, value = node.func, node.args[0].value
        if isinstance(func, ir.Attribute) and func.attr == "size":
            return _Axis(func.value, _is_zero(value))
        if isinstance(func, ir.Name) and func.id == "len":
            return _Axis(value, is_first=True)
    return None


def _shape(node: ir.Expr) -> tuple[ir.Expr, bool] | None:
    """The tensor whose sizes these are, and whether they begin with that of the first dimension."""
    if isinstance(node, ir.Attribute) and node.attr == "shape":
        return node.value, True
    if isinstance(node, ir.Call) and not node.args and isinstance(node.func, ir.Attribute):
        return (node.func.value, True) if node.func.attr == "size" else None
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Slice):
        shape, lower = _shape(node.value), node.index.lower
        if shape is not None:
            return shape[0], shape[1] and (lower is None or _is_zero(lower))
    return None


def _is_zero(node: ir.Expr) -> bool:
    return isinstance(node, ir.Literal) and node.value == 0


def _is_item_in_batch(
    objects: Objects, shape: ir.Expr, item: int, point: Point, depth: int
) -> bool:
    """Is one of the sizes that an assignment takes apart a size in a batch?"""
    if isinstance(shape, ir.Name) and depth:
        found = list(_bound(objects, shape.id, point))
        return bool(found) and all(
            at is None and _is_item_in_batch(where, value, item, here, depth - 1)
            for where, value, at, here in found
        )
    known = _shape(shape)
    if known is None:
        return False
    return item > 0 or not known[1] or _is_batch(objects, known[0], point, depth)


def _is_batch(objects: Objects, node: ir.Expr, point: Point, depth: int) -> bool:
    """Does a value come from a batch of a loader, by its name or by where it is taken from?"""
    names = ir.names_in(node)
    if any(map(_BATCH.search, ir.tokens_of(node))):
        return True
    if isinstance(node, ir.Call) and ir.last_name(node.func) == "next":
        return True
    return any(_is_of_batch(objects, name, point, depth) for name in sorted(names))


def _is_of_batch(objects: Objects, name: str, point: Point, depth: int) -> bool:
    for here in point.around:
        loop = here.owner
        if isinstance(loop, ir.For) and here.block is loop.body:
            if name in ir.names_bound(loop.target):
                return any(map(_LOADER.search, ir.tokens_of(loop.iterable)))
    found = list(_bound(objects, name, point)) if depth else []
    from_batch = [
        _is_batch(where, value, at, depth - 1)
        for where, value, _, at in found
        if name not in ir.names_in(value) or at.scope is not point.scope
    ]
    return bool(from_batch) and all(from_batch)


def _bound(
    objects: Objects, name: str, point: Point
) -> Iterator[tuple[Objects, ir.Expr, int | None, Point]]:
    """What a variable is given: by assignments, for which item of the value, or by callers."""
    for each in objects.points_in(point.scope):
        statement = each.statement
        if not isinstance(statement, ir.Assign):
            continue
        for target in statement.targets:
            if isinstance(target, ir.Name) and target.id == name:
                yield objects, statement.value, None, each
            elif isinstance(target, ir.Display):
                for index, item in enumerate(target.items):
                    if name in ir.names_bound(item):
                        yield objects, statement.value, index, each
    function = point.scope.function
    if function is None or not point.scope.has_param(name):
        return
    params = [param.name for param in function.params if not param.star]
    position = params.index(name) - bool(function.owner) if name in params else None
    for where, site in _callers(objects, function):
        value = where.argument(site, name, position).value
        if value is not None:
            yield where, value, None, site.point


def _callers(objects: Objects, function: ir.Function) -> Iterator[tuple[Objects, CallSite]]:
    yield from ((objects, site) for site in objects.callers(function))
    for module, site in calls_elsewhere(objects.module, function):
        yield objects_in(module), site
