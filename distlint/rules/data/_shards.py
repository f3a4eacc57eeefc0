"""Recognising data that a rank takes for itself: ``files[rank::world_size]`` and its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.names import expressions_in, expressions_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.training import Made, draws_from, samplers

_RANK = re.compile(r"(?:^|_)(?:rank|process_index|process_id|shard_id|replica_id)$|^get_rank$")
_WORLD = re.compile(r"world|num_processes|num_replicas|num_shards|get_world_size|n_ranks|num_ranks")
_SPLITTERS = frozenset({"split_dataset_by_node", "split_by_node"})
_SUBSETS = frozenset({"Subset", "select", "range", "islice"})
_MAX_DEPTH = 4
_MAX_NAMES = 3
"""Through how many variables a bound is followed to the rank."""


def shard_of(loader: Made) -> tuple[str, CallSite | None] | None:
    """How a loader's data are divided by the script itself, and by which call; None if not."""
    for sampler in samplers(loader.objects):
        if draws_from(loader, sampler) and sampler.constant("num_replicas", 0) != 1:
            return "`DistributedSampler`", sampler.site
    return own_shard_of(loader)


def own_shard_of(loader: Made) -> tuple[str, CallSite | None] | None:
    """As :func:`shard_of`, but only where no ``DistributedSampler`` does it."""
    for objects, origin in loader.places("dataset"):
        found = _shard(objects, origin, _MAX_DEPTH)
        if found is not None:
            return found
    return None


def divides_by_rank(module: Module) -> bool:
    """Does a function or class of a file take the part of a rank of something?"""
    if not all(any(map(p.search, map(str.lower, module.words))) for p in (_RANK, _WORLD)):
        return False
    objects = objects_in(module)
    return any(
        _takes_part(objects, node, point)
        for kind in (ir.Subscript, ir.Call)
        for node, point in objects.nodes(kind)
    )


def _takes_part(objects: Objects, node: ir.Expr, point: Point) -> bool:
    return _is_rank_slice(objects, node, point) or _is_rank_block(objects, node, point)


def _shard(objects: Objects, origin: Origin, depth: int) -> tuple[str, CallSite | None] | None:
    node = origin.node
    if not isinstance(node, ir.Expr):
        return None
    if _takes_part(objects, node, origin.point):
        return "a rank-based slice", origin.site
    if not isinstance(node, ir.Call) or origin.attributes:
        return None
    site = CallSite(node, origin.point)
    name = ir.last_name(node.func)
    if name in _SPLITTERS:
        return f"`{name}`", site
    if name == "shard" and _mentions(node, _RANK):
        return "`shard`", site
    given = [argument.value for argument in node.args]
    if name in _SUBSETS and any(_takes_part(objects, each, origin.point) for each in given):
        return "a rank-based subset", site
    cls = objects.callee(site)
    if isinstance(cls, ir.Class) and any(
        _is_rank_slice(objects, *at) for at in _inside(objects, cls)
    ):
        return f"`{cls.name}`", site
    if depth:
        for value in _datasets_in(node):
            for inner in objects.origins(value, origin.point):
                found = _shard(objects, inner, depth - 1)
                if found is not None:
                    return found
    return None


def _datasets_in(call: ir.Call) -> Iterator[ir.Expr]:
    """What a call makes a data set of: its first argument, or what its method is called on."""
    if isinstance(call.func, ir.Attribute):
        yield call.func.value
    for argument in call.args[:1]:
        if not argument.star:
            yield argument.value


def _inside(objects: Objects, cls: ir.Class) -> Iterator[tuple[ir.Expr, Point]]:
    for method in cls.methods.values():
        scope = objects.scope_of(method)
        for statement, around in placed(method.body) if scope is not None else ():
            for root in expressions_of(statement):
                for each in expressions_in(root):
                    if isinstance(each, ir.Expr) and scope is not None:
                        yield each, Point(scope, around)


def _is_rank_slice(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """``x[rank::world]``, ``range(rank, n, world)`` or ``islice(x, rank, None, world)``."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Slice):
        first, step = node.index.lower, node.index.step
    elif (
        isinstance(node, ir.Call)
        and ir.last_name(node.func) in ("range", "islice")
        and len(node.args) > 2
    ):
        first, step = node.args[-3].value, node.args[-1].value
    else:
        return False
    return _is_by(objects, first, point, _RANK) and _is_by(objects, step, point, _WORLD)


def _is_rank_block(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """``x[rank * size : (rank + 1) * size]`` or ``range(first, end)``, also through variables."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Slice):
        lower, upper = node.index.lower, node.index.upper
        one_by_one = node.index.step is None
    elif isinstance(node, ir.Call) and ir.last_name(node.func) == "range" and len(node.args) == 2:
        (lower, upper), one_by_one = (each.value for each in node.args), True
    else:
        return False
    return one_by_one and all(_is_by(objects, each, point, _RANK) for each in (lower, upper))


def _is_by(
    objects: Objects,
    node: ir.Expr | None,
    point: Point,
    words: re.Pattern[str],
    depth: int = _MAX_NAMES,
) -> bool:
    """Is a number computed from one of these, here or where its variables were assigned?"""
    if node is None or not depth or _mentions(node, words):
        return node is not None and depth > 0
    return any(
        origin.node is not name
        and isinstance(origin.node, ir.Expr)
        and _is_by(objects, origin.node, origin.point, words, depth - 1)
        for name in expressions_in(node)
        if isinstance(name, ir.Expr) and path_of(name) is not None
        for origin in objects.origins(name, point)
    )


def _mentions(node: ir.Expr | None, pattern: re.Pattern[str]) -> bool:
    return node is not None and any(pattern.search(token.lower()) for token in ir.tokens_of(node))
