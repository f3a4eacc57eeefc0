"""Metrics that a LightningModule logs of the outputs that each rank collects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of

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
