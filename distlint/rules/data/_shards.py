"""Recognising data that a rank takes for itself: ``files[rank::world_size]`` and its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, expressions_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point
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
    for origin in loader.origins("dataset"):
        found = _shard(loader.objects, origin, _MAX_DEPTH)
        if found is not None:
            return found
    return None


def _shard(objects: Objects, origin: Origin, depth: int) -> tuple[str, CallSite | None] | None:
    node = origin.node
    if not isinstance(node, ir.Expr):
        return None
    if _is_rank_slice(node) or _is_rank_block(objects, node, origin.point):
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
    if name in _SUBSETS and any(
        _is_rank_slice(each) or _is_rank_block(objects, each, origin.point) for each in given
    ):
        return "a rank-based subset", site
    cls = objects.callee(site)
    if isinstance(cls, ir.Class) and any(_is_rank_slice(each) for each in _inside(cls)):
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


def _inside(cls: ir.Class) -> Iterator[ir.Expr]:
    for method in cls.methods.values():
        for statement, _ in placed(method.body):
            for root in expressions_of(statement):
                yield from (e for e in expressions_in(root) if isinstance(e, ir.Expr))


def _is_rank_slice(node: ir.Expr) -> bool:
    """``x[rank::world]``, ``range(rank, n, world)`` or ``islice(x, rank, None, world)``."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Slice):
        first, step = node.index.lower, node.index.step
        return _mentions(first, _RANK) and _mentions(step, _WORLD)
    if (
        isinstance(node, ir.Call)
        and ir.last_name(node.func) in ("range", "islice")
        and len(node.args) > 2
    ):
        first, step = node.args[-3].value, node.args[-1].value
        return _mentions(first, _RANK) and _mentions(step, _WORLD)
    return False


def _is_rank_block(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """``x[rank * size : (rank + 1) * size]`` or ``range(first, end)``, also through variables."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Slice):
        lower, upper = node.index.lower, node.index.upper
        one_by_one = node.index.step is None
    elif isinstance(node, ir.Call) and ir.last_name(node.func) == "range" and len(node.args) == 2:
        (lower, upper), one_by_one = (each.value for each in node.args), True
    else:
        return False
    return one_by_one and all(
        _is_by_rank(objects, each, point, _MAX_NAMES) for each in (lower, upper)
    )


def _is_by_rank(objects: Objects, node: ir.Expr | None, point: Point, depth: int) -> bool:
    """Is a number computed from the rank, here or where its variables were assigned?"""
    if node is None or not depth or _mentions(node, _RANK):
        return node is not None and depth > 0
    names = [each for each in expressions_in(node) if isinstance(each, ir.Name)]
    return any(
        origin.node is not name
        and isinstance(origin.node, ir.Expr)
        and _is_by_rank(objects, origin.node, origin.point, depth - 1)
        for name in names
        for origin in objects.origins(name, point)
    )


def _mentions(node: ir.Expr | None, pattern: re.Pattern[str]) -> bool:
    return node is not None and any(pattern.search(token.lower()) for token in ir.tokens_of(node))
