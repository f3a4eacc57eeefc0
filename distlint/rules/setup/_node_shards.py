"""Data that a rank takes by its number on the node, out of as many parts as the job has ranks."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.objects.arguments import Passed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

Part = tuple[Point, ir.Expr, ir.Expr]
"""Where a part is taken, which one, and of how many."""

_STEPS = frozenset({"range", "islice"})
_SHARDS = {
    "shard": ("index", 1, "num_shards", 0),
    "split_dataset_by_node": ("rank", 1, "world_size", 2),
}
"""What divides a data set: the names and positions of the part and of the number of parts."""


def parts_taken(objects: Objects) -> Iterator[Part]:
    """``data[i::n]``, ``range(i, end, n)``, ``data.shard(n, i)``, ``if step % n == i``."""
    for taken, point in objects.nodes(ir.Subscript):
        index = taken.index
        if isinstance(index, ir.Slice) and index.lower is not None and index.step is not None:
            yield point, index.lower, index.step
    for site in objects.calls(_STEPS):
        by_place = [each.value for each in site.call.args if not each.star and not each.keyword]
        if len(by_place) == len(site.call.args) and len(by_place) >= 3:
            yield site.point, by_place[-3], by_place[-1]
    for site in objects.calls(_SHARDS):
        part = _given(objects, site)
        if part is not None:
            yield part
    for node, point in objects.nodes(ir.Compare):
        if len(node.ops) == 1 and node.ops[0] in ("==", "!="):
            for one, other in ((node.left, node.rights[0]), (node.rights[0], node.left)):
                if isinstance(one, ir.Binary) and one.op == "%":
                    yield point, other, one.right


def is_left_out(passed: Passed) -> bool:
    """Is nothing passed, or what stands for it: None, -1?"""
    value = passed.value
    if isinstance(value, ir.Unary) and isinstance(value.value, ir.Literal):
        return value.op == "-" and value.value.value == 1
    return passed.absent or (isinstance(value, ir.Literal) and value.value in (None, -1))


def _given(objects: Objects, site: CallSite) -> Part | None:
    name, place, count, count_place = _SHARDS[site.name]
    which = objects.argument(site, name, place).value
    of = objects.argument(site, count, count_place).value
    return (site.point, which, of) if which is not None and of is not None else None
