"""Loaders that give all of the data to each rank."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static.inheritance import imported_class
from distlint.analyzer.static.objects.objects import Objects
from distlint.rules.data._differences import difference
from distlint.rules.data._shards import own_shard_of
from distlint.rules.data._training import BACKWARD, trains_near
from distlint.rules.data._unused_samplers import chooses_by_mode
from distlint.rules.training import Made, evaluates, goes_elsewhere, is_named_for_evaluation

_OF_ALL = ("torch.utils.data.RandomSampler", "torch.utils.data.SequentialSampler")


def trains_on_all(objects: Objects, loader: Made) -> bool:
    """Does a loader give each rank all of the data, and does this file train on it?"""
    return may_train_on_all(objects, loader) and _is_trained_on(objects, loader)


def may_train_on_all(objects: Objects, loader: Made) -> bool:
    """Does a loader give each rank all of the data, and goes nowhere but where that is seen?"""
    return has_all(objects, loader) and not goes_elsewhere(objects, loader)


def has_all(objects: Objects, loader: Made) -> bool:
    """Does a loader give each rank all of the data, as far as the file shows?"""
    return (
        loader.option("batch_sampler").absent
        and (loader.option("sampler").absent or is_of_all(loader))
        and loader.constant("batch_size", 1) is not None
        and not is_named_for_evaluation(loader.site)
        and not evaluates(loader.site.point)
        and not chooses_by_mode(loader)
        and own_shard_of(loader) is None
        and not _knows_its_part(loader)
    )


def is_of_all(loader: Made) -> bool:
    """Does a loader draw from a sampler that goes through all data, in order or shuffled?

    Not one with a generator or a number of samples, by which the ranks may divide them.
    """
    origins = loader.origins("sampler")
    return bool(origins) and all(
        origin.site is not None
        and loader.objects.is_call_to(origin.site, *_OF_ALL)
        and len(origin.site.call.args) == 1
        for origin in origins
    )


def _knows_its_part(loader: Made) -> bool:
    """Is the data set a stream, or made with the rank, or a test split?"""
    for where, origin in loader.places("dataset"):
        if origin.site is None:
            continue
        cls = where.callee(origin.site)
        if cls is None:
            there = imported_class(where, origin.site.call.func)
            cls = there[1] if there is not None else None
        if isinstance(cls, ir.Class):
            tokens = {token for method in cls.methods.values() for token in method.tokens}
            if "__iter__" in cls.methods or any("rank" in token for token in tokens):
                return True
        for argument in origin.site.call.args:
            if difference(where, argument.value, origin.point) is not None:
                return True
            if argument.keyword == "train" and _is_false(argument.value):
                return True
    return False


def _is_false(node: ir.Expr) -> bool:
    return isinstance(node, ir.Literal) and node.value is False


def _is_trained_on(objects: Objects, loader: Made) -> bool:
    """Is it gone through, and not only where the code evaluates?"""
    uses = [
        use
        for use in objects.uses.iterated_by(loader.call)
        if trains_near(objects, use, BACKWARD)  # else a function that is not here does it
    ]
    uses += [
        site.point for site, _ in objects.uses.passed_to(loader.call) if objects.is_undefined(site)
    ]
    return any(not evaluates(use) for use in uses)
