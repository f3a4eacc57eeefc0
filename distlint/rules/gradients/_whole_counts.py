"""Sums of one rank that are divided by the number of samples, or batches, of the whole dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of, place_of
from distlint.rules.gradients._flow import Flow, kept, places_bound
from distlint.rules.gradients._logged_parts import MEETS
from distlint.rules.gradients._shard_means import (
    Shards,
    adding,
    inner_of,
    is_of_items,
    quotients,
    shards_of,
    total_of,
)
from distlint.rules.training import Made

_ROUNDS = frozenset({"int", "float", "ceil", "floor", "round", "max"})
_OF_RANKS = re.compile(r"world|rank|gpu|replica|process|shard|device|nproc", re.IGNORECASE)
_WORLD = frozenset({"world_size", "get_world_size", "num_replicas", "num_processes", "nranks"})
_DEPTH = 3
"""How many assignments are followed to the length of the dataset."""


def sums_over_all(objects: Objects) -> Iterator[tuple[Point, bool]]:
    """Where such a sum is divided, and whether the divisor is a number of batches."""
    shards, told = shards_of(objects), set[tuple[int, Path]]()
    for point in sorted(objects.points, key=lambda each: each.statement.site):
        for node in quotients(point.statement):
            if not isinstance(node, ir.Binary) or node.op != "/":
                continue
            total = total_of(node.left)
            if total is None or (id(point.scope), total) in told:
                continue
            counts = _Counts(objects, node.right, point)
            if not counts.found or _is_put_together(objects, total, point, bool(counts.sizes)):
                continue
            if any(
                _is_summed_over(objects, shards, total, loop, point, counts)
                for loop in adding(objects, point.scope, total)
            ):
                told.add((id(point.scope), total))
                yield point, bool(counts.sizes)
                break


def _is_put_together(objects: Objects, total: Path, point: Point, is_of_batches: bool) -> bool:
    """Do the ranks put the sum together, here or where it is returned to?

    A loss that goes backward is a mean, also where it is computed from gathered values: only a
    reduction of itself or of the sum counts.
    """
    if any(
        not _WORLD.isdisjoint(ir.tokens_of(each.statement))
        for each in (point, *objects.points_in(point.scope))
        if each is point
        or (isinstance(each.statement, (ir.Assign, ir.AugAssign)) and _gives(each.statement, total))
    ):
        return True
    flow = Flow(objects, point.scope, total)
    if flow.meets() and not (is_of_batches and _is_trained_loss(objects, total, point)):
        return True
    function = point.scope.function
    if function is None or not flow.is_returned():
        return False
    return any(
        each.meets()
        for there, site in objects.callers_anywhere(function)
        for each in kept(there, site)
    )


def _gives(statement: ir.Assign | ir.AugAssign, place: Path) -> bool:
    targets = statement.targets if isinstance(statement, ir.Assign) else (statement.target,)
    return any(place in places_bound(each) for each in targets)


def _is_trained_loss(objects: Objects, total: Path, point: Point) -> bool:
    """Is what is added a loss that goes backward, and neither it nor the sum reduced?"""
    points = objects.points_in(point.scope)
    added = {
        node.id
        for each in points
        if isinstance(each.statement, ir.AugAssign) and place_of(each.statement.target) == total
        for node in expressions_in(each.statement.value)
        if isinstance(node, ir.Name)
    }
    calls = [call for each in points for call in calls_of(each.statement)]
    back = [each for each in calls if ir.last_name(each.func) == "backward"]
    trained = added & {name for each in back for name in ir.tokens_of(each)}
    return bool(trained) and not any(
        MEETS.search(ir.last_name(call.func))
        and any((trained | {total[0]}) & ir.tokens_of(each.value) for each in call.args)
        for call in calls
    )


def _is_summed_over(
    objects: Objects,
    shards: Shards,
    total: Path,
    around: tuple[ir.For, Point],
    point: Point,
    counts: _Counts,
) -> bool:
    """Does a loop over one rank's part of the counted data add to a sum, over before a place?"""
    loop, at = around
    if any(here.owner is loop for here in point.around):
        return False
    iterable = loop.iterable if (loop.iterable, at) in shards else inner_of(loop.iterable)
    if (iterable, at) not in shards or not is_of_items(objects, loop, total, point):
        return False
    made = shards.made(iterable, at)
    return any(counts.is_of(loader) for loader in made) or counts.is_of_loader(iterable)


class _Counts:
    """A divisor as a length, ``found``, divided by batch sizes, if it is one."""

    def __init__(self, objects: Objects, node: ir.Expr, point: Point) -> None:
        self._objects = objects
        self.found: list[tuple[ir.Expr, Point]] = []
        """What the length is of."""
        self.sizes: list[tuple[ir.Expr, Point]] = []
        self._follow(node, point, _DEPTH)

    def _follow(self, node: ir.Expr, point: Point, depth: int) -> None:
        while isinstance(node, ir.Call) and ir.last_name(node.func) in _ROUNDS and node.args:
            node = node.args[0].value
        if isinstance(node, ir.Call):
            if path_of(node.func) == ("len",) and len(node.args) == 1:
                self.found.append((node.args[0].value, point))
        elif isinstance(node, ir.Binary) and node.op in ("//", "/"):
            if not any(map(_OF_RANKS.search, ir.tokens_of(node.right))):
                self.sizes.append((node.right, point))
                self._follow(node.left, point, depth)
        elif isinstance(node, (ir.Name, ir.Attribute)) and depth:
            origins = self._objects.origins(node, point)
            if len(origins) == 1 and isinstance(origins[0].node, (ir.Binary, ir.Call)):
                if origins[0].item is None and not origins[0].attributes:
                    self._follow(origins[0].node, origins[0].point, depth - 1)

    def is_of(self, loader: Made) -> bool:
        """Is it the length of a loader's data, divided by its batch size or by nothing?"""
        given = loader.option("dataset").value
        return (
            given is not None
            and all(
                self._is_same(size, where, loader.option("batch_size").value, loader.options.point)
                for size, where in self.sizes
            )
            and any(
                self._is_same(data, where, given, loader.options.point)
                for data, where in self.found
            )
        )

    def is_of_loader(self, iterable: ir.Expr) -> bool:
        """Is it the length of the data of a loader itself: ``len(loader.dataset)``?"""
        path = path_of(iterable)
        return path is not None and any(
            path_of(data) == (*path, "dataset") for data, _ in self.found
        )

    def _is_same(self, node: ir.Expr, point: Point, other: ir.Expr | None, there: Point) -> bool:
        if other is None:
            return False
        if isinstance(node, ir.Literal):
            return isinstance(other, ir.Literal) and node.value == other.value
        path = path_of(node)
        if path is None:
            return False
        if path == path_of(other) and (point.scope is there.scope or path[0] == "self"):
            return True
        if path[0] in ("args", "cfg", "config", "opt") and path == path_of(other):
            return True
        calls = {each.call for each in self._objects.origins(node, point) if each.call is not None}
        return any(each.call in calls for each in self._objects.origins(other, there))


def local_means(objects: Objects) -> Iterator[Point]:
    """Where a sum of one rank is divided by ``len(loader.dataset)`` of its loader."""
    shards = shards_of(objects)
    meeting = {
        function
        for function in objects.module.functions
        if any(MEETS.search(token) for token in function.tokens)
    }
    for point in objects.points:
        if point.scope.function in meeting:
            continue
        for node in nodes_of(point.statement):
            if isinstance(node, ir.Binary) and node.op == "/":
                if point.scope.function is None and _is_shared(objects, node.left, point):
                    continue
                data = _length_of(node.right)
                if data is not None and (data, point) in shards:
                    if not _is_constant(objects, node.left, point):
                        yield point


def _is_shared(objects: Objects, total: ir.Expr, point: Point) -> bool:
    """Is it put together with that of other ranks, or is that not known?"""
    name = total_of(total)
    return name is None or Flow(objects, point.scope, name).meets()


def _is_constant(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it a number that nothing is added to?"""
    if not isinstance(node, ir.Name) or any(
        isinstance(each.statement, ir.AugAssign) and path_of(each.statement.target) == (node.id,)
        for each in objects.points_in(point.scope)
    ):
        return False
    found = objects.origins(node, point)
    return bool(found) and all(isinstance(each.node, ir.Literal) for each in found)


def _length_of(node: ir.Expr) -> ir.Expr | None:
    """The loader in ``len(loader.dataset)``."""
    if isinstance(node, ir.Call) and path_of(node.func) == ("len",) and len(node.args) == 1:
        data = node.args[0].value
        if isinstance(data, ir.Attribute) and data.attr == "dataset":
            return data.value
    return None
