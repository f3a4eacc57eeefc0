"""Generators that are seeded by the rank, and whether the data of a loader are drawn from them.

torch.manual_seed(seed + rank)
loader = DataLoader(data, shuffle=True)   # other samples on each rank
loader = DataLoader(data)                 # the same ones, in the order of the data
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere, objects_in
from distlint.analyzer.static.guards.guards import Guards
from distlint.analyzer.static.names import Scope, expressions_in
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.data._differences import difference, seedings
from distlint.rules.data._whole_data import is_of_all
from distlint.rules.training import Made

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module

_SHUFFLES = "torch"
"""The generator by which loaders shuffle."""


def draws_apart(loader: Made) -> bool:
    """May the ranks draw different samples, since a generator is seeded by the rank?"""
    seeded = _streams_by_rank(loader.objects)
    if not seeded:
        return False
    shuffles = loader.constant("shuffle", False) is not False or is_of_all(loader)
    if shuffles and _is_one(_SHUFFLES, seeded):
        return True
    files = list(_files_of_data(loader))
    return not files or any(_draws(each, seeded) for each in (loader.objects, *files))


def _streams_by_rank(objects: Objects) -> set[str]:
    """The generators that a module seeds by the rank; ``*`` where a helper seeds them."""
    found: set[str] = set()
    for site in seedings(objects):
        if _is_by_rank(objects, site):
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


def is_seeded_alike(guards: Guards, scope: Scope) -> bool:
    """May a file that leads to a scope, or one that such a file imports, seed all ranks alike?

    Not if each seed there depends on the rank. What a function named after seeding passes on is
    judged where that is called.
    """
    files = files_that_seed(guards, scope)
    seeds = [(each, s) for m in files if (each := objects_in(m)) for s in seedings(each)]
    own = [(objects, site) for objects, site in seeds if not _is_handed_on(objects, site)]
    return bool(files) and not (own and all(_is_by_rank(*each) for each in own))


def files_that_seed(guards: Guards, scope: Scope) -> list[Module]:
    """The files that lead to a scope, or that such a file imports, which speak of seeds.

    Not only of those of the generators that they make.
    """
    files = {
        module.key: module
        for objects in guards.objects_leading_to(scope)
        for module in objects.module.import_closure()
        if any("seed" in word.lower() for word in module.words)
    }
    return [each for each in files.values() if not _seeds_its_own(each)]


def _seeds_its_own(module: Module) -> bool:
    """Does a file speak of seeds only where it seeds generators that it makes?"""
    if {word for word in module.words if "seed" in word.lower()} != {"manual_seed"}:
        return False
    objects = objects_in(module)
    return all(is_of_one_generator(objects, each) for each in seedings(objects))


def is_of_one_generator(objects: Objects, site: CallSite) -> bool:
    """Does a call seed a generator that was made for some draws: ``generator.manual_seed(0)``?"""
    func = site.call.func
    if not isinstance(func, ir.Attribute):
        return False
    made = objects.origins(func.value, site.point)
    return bool(made) and all(
        each.site is not None and objects.called(each.site) == "torch.Generator" for each in made
    )


def _is_by_rank(objects: Objects, site: CallSite) -> bool:
    return any(difference(objects, a.value, site.point) == "the rank" for a in site.call.args)


def _is_handed_on(objects: Objects, site: CallSite) -> bool:
    """Is the seed a parameter of a function that says that it seeds?"""
    function = site.point.scope.function
    if function is None or "seed" not in function.name.lower():
        return False
    return any(
        isinstance(node, ir.Name) and site.point.scope.has_param(node.id)
        for argument in site.call.args
        for node in expressions_in(argument.value)
    )
