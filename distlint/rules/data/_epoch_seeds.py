"""Samplers that are given the epoch as a part of their seed, or as an attribute.

sampler = DistributedSampler(data, seed=seed + epoch)  # made again in each epoch
sampler.epoch = epoch
"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere, objects_in
from distlint.analyzer.static.names import expressions_in, names_given
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.training import Made, loops_around

_DEPTH = 4
"""Through how many variables and calls a seed is followed."""
_COUNTED = frozenset({"epoch", "seed"})
"""What a sampler makes its order of."""


def is_seeded_by_epoch(sampler: Made) -> bool:
    """Does a loop count in the seed that a sampler is made with?"""
    seed = sampler.option("seed").value
    return seed is not None and _counts(
        sampler.objects, seed, sampler.options.point, _DEPTH, frozenset()
    )


def _counts(
    objects: Objects, node: ir.Expr, point: Point, depth: int, seen: frozenset[ir.Expr]
) -> bool:
    """Does a loop change a number from turn to turn?"""
    if node in seen:
        return False
    seen |= {node}
    for each in expressions_in(node):
        if isinstance(each, ir.Attribute) and _is_counted(objects, each.attr):
            return True
        if not isinstance(each, ir.Name):
            continue
        if any(each.id in _bound_by(loop) for loop in loops_around(point)):
            return True
        if depth and any(
            _counts(where, value, at, depth - 1, seen)
            for where, value, at in _values(objects, each.id, point)
        ):
            return True
    return False


def _values(objects: Objects, name: str, point: Point) -> Iterator[tuple[Objects, ir.Expr, Point]]:
    """What a variable is assigned in its function, or what calls pass for it."""
    for at in objects.assigned_to(name, point.scope):
        if isinstance(at.statement, ir.Assign):
            yield objects, at.statement.value, at
    function = point.scope.function
    if function is None or not point.scope.has_param(name):
        return
    params = [each.name for each in function.params if not each.star]
    index = params.index(name) - bool(function.owner) if name in params else None
    sites = [(objects, site) for site in objects.callers(function)]
    sites += [
        (objects_in(module), site) for module, site in calls_elsewhere(objects.module, function)
    ]
    for where, site in sites:
        value = where.argument(site, name, index).value
        if value is not None:
            yield where, value, site.point


def _bound_by(loop: ir.For | ir.While) -> frozenset[str]:
    """The variables that a loop counts with."""
    names = set(names_given(loop)) if isinstance(loop, ir.For) else set()
    for statement in loop.body:
        if isinstance(statement, ir.AugAssign):
            names |= set(names_given(statement))
    return frozenset(names)


def _is_counted(objects: Objects, name: str) -> bool:
    """Does a file count with an attribute of this name?"""
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, (ir.For, ir.AugAssign)):
            target = statement.target
            if isinstance(target, ir.Attribute) and target.attr == name:
                return True
    return False


def is_set_by_hand(objects: Objects) -> bool:
    """Does a loop assign the epoch or the seed of a sampler?"""
    return any(map(_sets, objects.points))


def _sets(point: Point) -> bool:
    statement = point.statement
    if isinstance(statement, ir.AugAssign):
        targets: tuple[ir.Expr, ...] = (statement.target,)
    elif isinstance(statement, ir.Assign) and not isinstance(statement.value, ir.Literal):
        targets = statement.targets
        if not any(loops_around(point)) and "epoch" not in ir.tokens_of(statement.value):
            return False
    else:
        return False
    return any(
        isinstance(target, ir.Attribute)
        and target.attr in _COUNTED
        and "sampler" in (path_of(target.value) or ("",))[-1].lower()
        for target in targets
    )
