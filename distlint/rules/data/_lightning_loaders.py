"""Loaders that Lightning leaves as they are: its Trainer was asked to add no sampler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.across import origins_across
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.neighbourhood import files_above
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.data._shards import divides_by_rank
from distlint.rules.data._whole_data import has_all
from distlint.rules.training import Made, loaders

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module

_TRAINER = "lightning.pytorch.Trainer"
_OPTIONS = ("use_distributed_sampler", "replace_sampler_ddp")
"""Options of Lightning 2, and of Lightning 1, that let the Trainer add samplers."""

_HOOK = "train_dataloader"
_DIVIDES = re.compile(r"sampler|shard|webdataset|^wds$|streaming|by_node", re.IGNORECASE)


def left_alone(objects: Objects) -> Iterator[tuple[Made, Module, CallSite]]:
    """The loaders of all data that a Trainer on several devices trains on, and the Trainer."""
    made = {each.call: each for each in loaders(objects)}
    found = {loader.call: loader for loader in _of_hooks(objects, made)}
    above = files_above(objects.module) if found else [objects.module]
    for module in above:
        where = objects_in(module) if module is not objects.module else objects
        for trainer in _trainers_without(where) if "fit" in module.tokens else ():
            fitted = dict(found)
            if where is objects:
                fitted.update((each.call, each) for each in _fitted(objects, made, trainer))
            for loader in fitted.values():
                if _has_all(objects, loader):
                    found.pop(loader.call, None)
                    yield loader, module, trainer


def _has_all(objects: Objects, loader: Made) -> bool:
    function = loader.site.point.scope.function
    words = function.tokens if function is not None else objects.module.tokens
    return (
        not any(map(_DIVIDES.search, words.difference(_OPTIONS)))
        and has_all(objects, loader)
        and not any(map(divides_by_rank, objects.module.import_closure()))
    )


def _of_hooks(objects: Objects, made: dict[ir.Call, Made]) -> Iterator[Made]:
    """The loaders that methods named ``train_dataloader`` return."""
    for function in objects.module.functions:
        scope = objects.scope_of(function)
        if function.name != _HOOK or not function.owner or scope is None:
            continue
        for statement, around in placed(function.body):
            if isinstance(statement, ir.Return) and statement.value is not None:
                yield from _loaders_in(objects, made, statement.value, Point(scope, around))


def _fitted(objects: Objects, made: dict[ir.Call, Made], trainer: CallSite) -> Iterator[Made]:
    """The loaders for training that a Trainer is given in ``fit``."""
    for site in objects.calls({"fit"}):
        func = site.call.func
        if not isinstance(func, ir.Attribute):
            continue
        if any(each.call is trainer.call for each in objects.origins(func.value, site.point)):
            for name in ("train_dataloaders", "train_dataloader"):
                value = objects.argument(site, name, 1).value
                if value is not None:
                    yield from _loaders_in(objects, made, value, site.point)


def _loaders_in(
    objects: Objects, made: dict[ir.Call, Made], node: ir.Expr, point: Point
) -> Iterator[Made]:
    for origin in objects.origins(node, point):
        if origin.call is not None and origin.call in made:
            yield made[origin.call]
        elif isinstance(origin.node, (ir.Display, ir.DictDisplay)) and origin.item is None:
            values = (
                origin.node.items if isinstance(origin.node, ir.Display) else origin.node.values
            )
            for each in values:
                for inner in objects.origins(each, origin.point):
                    if inner.call is not None and inner.call in made:
                        yield made[inner.call]


def _trainers_without(objects: Objects) -> Iterator[CallSite]:
    """The Trainers on several devices that are asked to add no samplers."""
    if not {"Trainer"} & objects.module.words:
        return
    sites = list(objects.calls_to(_TRAINER))
    for site in objects.calls({"from_argparse_args"}):
        func = site.call.func
        if isinstance(func, ir.Attribute) and ir.last_name(func.value) == "Trainer":
            sites.append(site)
    for site in sites:
        if any(_is_false(objects, site, name) for name in _OPTIONS) and not _is_alone(
            objects, site
        ):
            yield site


def _is_false(objects: Objects, site: CallSite, name: str) -> bool:
    values = list(_given(objects, site, name))
    return bool(values) and all(value is False for value in values)


def _given(objects: Objects, site: CallSite, name: str) -> Iterator[object]:
    """The constants that a call passes for an option, also in a dict of another file."""
    passed = objects.argument(site, name)
    for value, point in passed.items or ((passed.value, site.point),):
        if value is not None:
            yield from (each.constant for _, each in origins_across(objects, value, point))
            return
    for argument in site.call.args:
        if argument.star == "**":
            for where, origin in origins_across(objects, argument.value, site.point):
                for value in _items(origin.node, name):
                    yield from (each.constant for each in where.origins(value, origin.point))


def _items(node: object, name: str) -> Iterator[ir.Expr]:
    if isinstance(node, ir.DictDisplay):
        for key, value in zip(node.keys, node.values, strict=False):
            if isinstance(key, ir.Literal) and key.value == name:
                yield value
    elif isinstance(node, ir.Call) and ir.last_name(node.func) == "dict":
        yield from (each.value for each in node.args if each.keyword == name)


def _is_alone(objects: Objects, site: CallSite) -> bool:
    """Does a Trainer run on one device, as far as its options show?"""
    for name in ("devices", "gpus"):
        values = list(_given(objects, site, name))
        nodes = objects.argument(site, name).value
        is_one = bool(values) and all(value in (1, "1") for value in values)
        if is_one or (isinstance(nodes, ir.Display) and len(nodes.items) == 1):
            return not any(count not in (1, None) for count in _given(objects, site, "num_nodes"))
    return False
