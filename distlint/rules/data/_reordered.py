"""Data sets that are put into another order for each epoch, so that the sampler need not shuffle.

for epoch in range(epochs):
    loader.dataset.shuffle(seed=epoch)
    for batch in loader:
        ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import Holder, function_called
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.data._same_epoch import is_same_in_each_pass
from distlint.rules.training import Made, draws_from, loaders, loops_around

_REORDERS = re.compile(r"shuffle|permut|randperm|reorder|resample")


def is_reordered(objects: Objects, sampler: Made) -> bool:
    """Does a file put the data of a sampler into another order in each pass?"""
    data = {origin.node for origin in sampler.origins("dataset")}
    drawn = [each.call for each in loaders(objects) if draws_from(each, sampler)]

    def is_data(node: ir.Expr, point: Point) -> bool:
        origins = objects.origins(node, point)
        known = [o.node in data or (o.node in drawn and o.attributes == _DATASET) for o in origins]
        if known and all(known):
            return True
        return isinstance(node, ir.Attribute) and is_data(node.value, point)  # data.files

    return any(
        is_data(node, site.point) for site in _reordering(objects) for node in _involved(site)
    )


_DATASET = ("dataset",)


def is_reordered_elsewhere(holder: Holder) -> bool:
    """Does a file do so with the data set of a loader that another one has made?"""
    return any(
        rest[:1] == _DATASET
        for site in _reordering(holder.objects)
        for node in _involved(site)
        for rest in holder.rest(node, site.point)
    )


def _reordering(objects: Objects) -> Iterator[CallSite]:
    """The calls that shuffle something, by another number or generator each time they are run."""
    for call, point in objects.nodes(ir.Call):
        site = CallSite(call, point)
        if (point.scope.function is not None or any(loops_around(point))) and (
            _REORDERS.search(site.name) or _shuffles_inside(objects, site)
        ):
            if not is_same_in_each_pass(objects, site):
                yield site


def _shuffles_inside(objects: Objects, site: CallSite) -> bool:
    """Does a function of the project call something that shuffles?"""
    objects, function = function_called(objects, site) or (objects, None)
    scope = objects.scope_of(function) if function is not None else None
    names = filter(_REORDERS.search, objects.called_names) if scope is not None else ()
    return scope is not None and any(True for _ in objects.calls_in(scope, set(names)))


def _involved(site: CallSite) -> Iterator[ir.Expr]:
    """What a call is made on, and what it is given."""
    if isinstance(site.call.func, ir.Attribute) and path_of(site.call.func) is not None:
        yield site.call.func.value
    yield from (argument.value for argument in site.call.args)
