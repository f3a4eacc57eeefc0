"""Recognising data that a rank takes for itself: ``files[rank::world_size]`` and its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.names import expressions_in, expressions_of, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.training import Made, draws_from, samplers

_RANK = re.compile(r"(?:^|_)(?:rank|process_index|process_id|shard_id|replica_id)$|^get_rank$")
_WORLD = re.compile(r"world|num_processes|num_replicas|num_shards|get_world_size|n_ranks|num_ranks")
_SPLITTERS = frozenset({"split_dataset_by_node", "split_by_node"})
_SUBSETS = frozenset({"Subset", "select", "range", "islice"})
_MOST = 32
"""Values that data are followed through, at most."""
_MAX_NAMES = 3
"""Through how many variables a bound is followed to the rank."""

_IsBy = Callable[[re.Pattern[str], "ir.Expr | None"], bool]
"""Is a number computed from what a pattern finds?"""


class Shard(NamedTuple):
    """How data are divided by a script itself, by which call, and in which file."""

    how: str
    site: CallSite | None
    objects: Objects


def shard_of(loader: Made) -> Shard | None:
    """How a loader's data are divided by the script itself; None if not."""
    for sampler in samplers(loader.objects):
        if draws_from(loader, sampler) and sampler.constant("num_replicas", 0) != 1:
            return Shard("`DistributedSampler`", sampler.site, loader.objects)
    return own_shard_of(loader)


def own_shard_of(loader: Made) -> Shard | None:
    """As :func:`shard_of`, but only where no ``DistributedSampler`` does it."""
    objects = objects_across(loader.objects.module, loader.objects.catalogue)
    for origin in objects.passed(loader.option("dataset"), loader.options.point):
        found = _shard(objects, origin, set())
        if found is not None:
            return found
    for name in ("sampler", "batch_sampler"):
        for origin in objects.passed(loader.option(name), loader.options.point):
            if origin.site is not None:
                how = _class_that_divides(objects, origin.site)
                if how:
                    return Shard(how, origin.site, objects.at(origin.point))
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
    """Is it the part of a rank?"""
    is_by = partial(_is_by, objects, point)
    return _is_rank_slice(node, is_by) or _is_rank_block(node, is_by)


def _shard(objects: Objects, origin: Origin, seen: set[object]) -> Shard | None:
    node = origin.node
    if not isinstance(node, ir.Expr) or node in seen:
        return None
    seen.add(node)
    where = objects.at(origin.point)
    if _takes_part(objects, node, origin.point):
        return Shard("a rank-based slice", origin.site, where)
    if not isinstance(node, ir.Call) or origin.attributes:
        return None
    site = CallSite(node, origin.point)
    name = ir.last_name(node.func)
    if name in _SPLITTERS:
        return Shard(f"`{name}`", site, where)
    if name == "shard" and _mentions(node, _RANK):
        return Shard("`shard`", site, where)
    given = [argument.value for argument in node.args]
    if name in _SUBSETS and any(_takes_part(objects, each, origin.point) for each in given):
        return Shard("a rank-based subset", site, where)
    how = _class_that_divides(objects, site)
    if how:
        return Shard(how, site, where)
    for value in _datasets_in(node) if len(seen) < _MOST else ():
        for inner in objects.origins(value, origin.point):
            found = _shard(objects, inner, seen)
            if found is not None:
                return found
    return None


def _class_that_divides(objects: Objects, site: CallSite) -> str:
    """The class whose objects take the part of a rank, if a call makes one."""
    there, cls = objects.callee_anywhere(site) or (objects, None)
    if isinstance(cls, ir.Class) and any(_takes_part(there, *at) for at in _inside(there, cls)):
        return f"`{cls.name}`"
    return ""


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


def _is_rank_slice(node: ir.Expr, is_by: _IsBy) -> bool:
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
    return is_by(_RANK, first) and is_by(_WORLD, step)


def _is_rank_block(node: ir.Expr, is_by: _IsBy) -> bool:
    """``x[rank * size : (rank + 1) * size]`` or ``range(first, end)``, also through variables."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Slice):
        lower, upper = node.index.lower, node.index.upper
        one_by_one = node.index.step is None
    elif isinstance(node, ir.Call) and ir.last_name(node.func) == "range" and len(node.args) == 2:
        (lower, upper), one_by_one = (each.value for each in node.args), True
    else:
        return False
    return one_by_one and all(is_by(_RANK, each) for each in (lower, upper))


def _is_by(
    objects: Objects,
    point: Point,
    words: re.Pattern[str],
    node: ir.Expr | None,
    depth: int = _MAX_NAMES,
) -> bool:
    """Is a number computed from one of these, here or where its variables were assigned?"""
    if node is None or not depth or _mentions(node, words):
        return node is not None and depth > 0
    for name in expressions_in(node):
        if isinstance(name, ir.Expr) and path_of(name) is not None:
            for origin in objects.origins(name, point):
                if origin.node is name or not isinstance(origin.node, ir.Expr):
                    continue
                if any(words.search(each.lower()) for each in origin.attributes):
                    return True
                if _is_by(objects, origin.point, words, origin.node, depth - 1):
                    return True
    return False


def _mentions(node: ir.Expr | None, pattern: re.Pattern[str]) -> bool:
    return node is not None and any(pattern.search(token.lower()) for token in ir.tokens_of(node))
