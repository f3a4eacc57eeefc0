"""Generators that are seeded by the rank, and whether the data of a loader are drawn from them.

torch.manual_seed(seed + rank)
loader = DataLoader(data, shuffle=True)   # other samples on each rank
loader = DataLoader(data)                 # the same ones, in the order of the data
"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer.static.callers import called_elsewhere, objects_in
from distlint.analyzer.static.objects.objects import Objects
from distlint.rules.data._differences import difference, seedings
from distlint.rules.training import Made

_SHUFFLES = "torch"
"""The generator by which loaders shuffle."""


def draws_apart(loader: Made) -> bool:
    """May the ranks draw different samples, since a generator is seeded by the rank?"""
    seeded = _streams_by_rank(loader.objects)
    if not seeded:
        return False
    if loader.constant("shuffle", False) is not False and _is_one(_SHUFFLES, seeded):
        return True
    files = list(_files_of_data(loader))
    return not files or any(_draws(each, seeded) for each in (loader.objects, *files))


def _streams_by_rank(objects: Objects) -> set[str]:
    """The generators that a module seeds by the rank; ``*`` where a helper seeds them."""
    found: set[str] = set()
    for site in seedings(objects):
        if any(difference(objects, a.value, site.point) == "the rank" for a in site.call.args):
            entry = objects.catalogue.lookup(objects.called(site))
            known = entry.seed.streams if entry is not None and entry.seed is not None else ()
            found.update(known or ("*",))
    return found


def _is_one(stream: str, seeded: set[str]) -> bool:
    return stream in seeded or "*" in seeded


def _files_of_data(loader: Made) -> Iterator[Objects]:
    """The files that make the data set, where all of what it is made by is known."""
    objects = loader.objects
    for origin in loader.origins("dataset"):
        if origin.site is None:
            return
        there = called_elsewhere(objects.module, origin.site.call.func)
        yield objects_in(there[0]) if there is not None else objects


def _draws(objects: Objects, seeded: set[str]) -> bool:
    """Does a file draw from one of these generators?"""
    for site in objects.calls(objects.called_names):
        called = objects.called(site)
        entry = objects.catalogue.lookup(called) if called else None
        local = entry.local if entry is not None else None
        if local is not None and local.stream is not None and _is_one(local.stream, seeded):
            return True
    return False
