"""Loaders for training that get all of the data, beside loaders for evaluation that get a part."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.data._dividing_words import DIVIDES, TORCH_NAMES
from distlint.rules.data._rank_seeds import draws_apart
from distlint.rules.data._unused_samplers import binds_constant
from distlint.rules.data._whole_data import may_train_on_all
from distlint.rules.training import (
    BATCH_SAMPLER,
    SAMPLER,
    Made,
    evaluates,
    is_evaluation,
    loaders,
    names_of,
)


def unlike_evaluation(objects: Objects, hook: str) -> Iterator[tuple[CallSite, Made]]:
    """A loader that shuffles all of the data, where a sampler divides those for evaluation.

    ``hook`` is the method by which a framework asks for loaders.
    """
    if not any("DistributedSampler" in each.tokens for each in objects.module.import_closure()):
        return
    across = objects_across(objects.module, objects.catalogue)
    drawn = [(each, site) for each in loaders(across) for site in _samplers_of(each)]
    if not drawn or not all(_is_for_evaluation(loader) for loader, _ in drawn):
        return
    made = [site.call for _, site in drawn]
    spoken = TORCH_NAMES.union(
        name
        for point in across.points
        if isinstance(point.statement, ir.Assign)
        for name in map(ir.last_name, point.statement.targets)
        if any(each.node in made for each in across.origins(point.statement.value, point))
    )
    if any(DIVIDES.search(word) for word in objects.module.tokens - spoken - _constants(objects)):
        return
    for loader in loaders(objects):
        if (
            may_train_on_all(objects, loader)
            and loader.constant("shuffle", False) is True
            and not draws_apart(loader)
            and not _is_hook(loader, hook)
        ):
            yield drawn[0][1], loader


def _samplers_of(loader: Made) -> Iterator[CallSite]:
    """The ``DistributedSampler``s that a loader draws from, itself or through a batch sampler."""
    objects = loader.objects
    waiting = [*loader.origins("sampler"), *loader.origins("batch_sampler")]
    for origin in waiting:  # grows meanwhile
        if origin.site is None:
            continue
        if objects.is_call_to(origin.site, SAMPLER):
            yield origin.site
        elif objects.is_call_to(origin.site, BATCH_SAMPLER):
            waiting += objects.passed(objects.argument(origin.site, "sampler", 0), origin.point)


def _is_for_evaluation(loader: Made) -> bool:
    data = loader.option("dataset").value
    names = (*names_of(loader.site), ir.last_name(data) if data is not None else "")
    return any(map(is_evaluation, names)) or evaluates(loader.site.point)


def _is_hook(loader: Made, hook: str) -> bool:
    """Does a framework call the function that makes it, and may divide the data itself?"""
    function = loader.site.point.scope.function
    return function is not None and function.name in {hook, "train_dataloader"}


def _constants(objects: Objects) -> set[str]:
    """The variables to which only constants are assigned, mostly None, and attributes of them."""
    found: dict[str, bool] = {}
    for point in objects.points:
        if isinstance(point.statement, ir.Assign):
            is_constant = binds_constant(point.statement)
            for name in map(ir.last_name, point.statement.targets):
                keeps = ir.last_name(point.statement.value) == name
                found[name] = found.get(name, True) and (is_constant or keeps)
    return {name for name, is_constant in found.items() if is_constant}
