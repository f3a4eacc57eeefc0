"""Training in other files than the one that makes the loader."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from distlint.analyzer.project.module import Module
from distlint.analyzer.static.journeys import Holder, journey
from distlint.rules.data._epochs_elsewhere import is_for_evaluation, is_looked_at, uses_of
from distlint.rules.data._training import BACKWARD, trains_near
from distlint.rules.data._whole_data import has_all
from distlint.rules.training import Made

_DEPTH = 4
"""Through how many returns a loader is followed."""


def trained_elsewhere(loader: Made, divides: Callable[[Module], bool]) -> Iterator[Module]:
    """The files on the way of a loader that gives each rank all of the data to where another file
    trains on it; none if one of them may divide the data, or the loader goes out of sight.
    """
    objects = loader.objects
    if objects.module.project is None or not has_all(objects, loader):
        return
    if is_for_evaluation(loader.site, ()):
        return
    yield from _search((Holder(objects, (loader.call, ())),), divides, _DEPTH)


def _search(
    start: tuple[Holder, ...], divides: Callable[[Module], bool], depth: int
) -> Iterator[Module]:
    found = journey(start, is_looked_at)
    modules = list(dict.fromkeys(each.objects.module for each in found.holders))
    if found.is_lost or any(map(divides, modules)):
        return
    if any(_trains(holder) for holder in found.holders):
        yield from modules
        return
    for site, holder in found.returned() if depth else ():
        if not is_for_evaluation(site, holder.thing[1]):
            for each in _search((holder,), divides, depth - 1):
                yield from (*modules, each)


def _trains(holder: Holder) -> bool:
    """Does a file go through the loader and train, also by functions that it calls?"""
    return any(trains_near(holder.objects, use, BACKWARD) for use in uses_of(holder))
