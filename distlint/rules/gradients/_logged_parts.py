"""Metrics that a LightningModule logs of the outputs that each rank collects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.gradients._flow import Flow

_FILLS = frozenset({"append", "extend"})
_JOINS = frozenset({"cat", "concat", "concatenate", "stack", "vstack", "hstack"})
_AT_THE_END = re.compile(r"^(?:on_)?(?:validation|test|train|training)_epoch_end$")
MEETS = re.compile(r"reduce|gather|broadcast|sync|barrier|world_size|num_replicas")
"""What a function says that puts values of ranks together."""


def logged_parts(objects: Objects) -> Iterator[CallSite]:
    """What a LightningModule logs at the end of an epoch, of a list that each rank has filled."""
    for cls in objects.classes.subclasses_of("lightning.pytorch.LightningModule"):
        methods = frozenset(cls.methods.values())
        kept = frozenset(_kept_lists(objects, methods))
        for site in objects.calls({"log", "log_dict"}) if kept else ():
            method = site.point.scope.function
            if method not in methods or not _AT_THE_END.search(method.name):
                continue
            if path_of(site.call.func) != ("self", site.name):
                continue
            if any(each.keyword in ("sync_dist", "rank_zero_only") for each in site.call.args):
                continue
            run = [method, *(each for each in methods if each.name in method.tokens)]
            if any(MEETS.search(token) for each in run for token in each.tokens):
                continue
            if _comes_from(objects, site, kept):
                yield site


def trained_by_parts(objects: Objects) -> Iterator[tuple[Point, Point]]:
    """Where a LightningModule sets, of what each rank has collected, an attribute that it trains
    by, and where it trains by it.
    """
    for cls in objects.classes.subclasses_of("lightning.pytorch.LightningModule"):
        methods = frozenset(cls.methods.values())
        training = list(_called_by(cls, "training_step"))
        for method in sorted(methods, key=lambda each: each.name):
            run = [method, *(each for each in methods if each.name in method.tokens)]
            scope = objects.scope_of(method)
            if scope is None or not _AT_THE_END.search(method.name) or method in training:
                continue
            if any(MEETS.search(token) for each in run for token in each.tokens):
                continue
            given = {each.name for each in method.params[1:]}
            lists: set[Path] = {("self", each) for each in _kept_lists(objects, methods)}
            for name, point in _set_by(objects, scope, lists, given):
                read = next(filter(None, (_read(objects, m, name) for m in training)), None)
                if read is not None:
                    yield point, read


def _called_by(cls: ir.Class, name: str) -> Iterator[ir.Function]:
    """A method of a class, and those that it calls, also through others."""
    found = [cls.methods[name]] if name in cls.methods else []
    for each in found:  # grows meanwhile
        yield each
        found += [m for m in cls.methods.values() if m.name in each.tokens and m not in found]


def _set_by(
    objects: Objects, scope: Scope, lists: set[Path], given: set[str]
) -> Iterator[tuple[str, Point]]:
    """The attributes of ``self`` that a function sets by what it is given, or by some lists."""
    points = sorted(objects.points_in(scope), key=lambda each: each.statement.site)
    for point in points:  # what is an item of something given is given
        if isinstance(point.statement, ir.For) and not given.isdisjoint(
            ir.tokens_of(point.statement.iterable)
        ):
            given = given | ir.names_bound(point.statement.target)
    for point in points:
        statement = point.statement
        targets: tuple[ir.Expr, ...] = ()
        if isinstance(statement, ir.Assign):
            targets = statement.targets
        elif isinstance(statement, ir.AugAssign):
            targets = (statement.target,)
        for path in filter(None, map(path_of, targets)):
            if path[0] == "self" and len(path) == 2 and path not in lists:
                flow = Flow(objects, scope, path)
                if flow.comes_from(frozenset(given)) or not lists.isdisjoint(flow.sources):
                    yield path[1], point


def _read(objects: Objects, method: ir.Function, name: str) -> Point | None:
    """Where a method reads an attribute of ``self``."""
    scope = objects.scope_of(method)
    for point in objects.points_in(scope) if scope is not None and name in method.tokens else ():
        if any(path_of(node) == ("self", name) for node in nodes_of(point.statement)):
            return point
    return None


def _kept_lists(objects: Objects, methods: frozenset[ir.Function]) -> Iterator[str]:
    """The attributes that methods put outputs into, or put together into one."""
    for site in objects.calls(_FILLS | _JOINS):
        func = site.call.func
        held = site.call.args[0].value if site.name in _JOINS and site.call.args else None
        if site.name in _FILLS and isinstance(func, ir.Attribute):
            held = func.value
        path = path_of(held)
        if site.point.scope.function in methods and path is not None and len(path) == 2:
            if path[0] == "self":
                yield path[1]


def _comes_from(objects: Objects, site: CallSite, kept: frozenset[str]) -> bool:
    """Does a value that is logged come from one of these lists, by the names in between?"""
    carried = set(kept)
    points = objects.points_in(site.point.scope)
    for point in sorted(points, key=lambda point: point.statement.site):
        statement = point.statement
        if isinstance(statement, ir.Assign) and not carried.isdisjoint(
            ir.tokens_of(statement.value)
        ):
            for target in statement.targets:
                carried |= ir.tokens_of(target) - {"self"}
    return any(not carried.isdisjoint(ir.tokens_of(each.value)) for each in site.call.args)
