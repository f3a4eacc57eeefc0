"""Loops over epochs in other files than the one that makes the sampler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere
from distlint.analyzer.static.inheritance import calls_by_bases
from distlint.analyzer.static.journeys import (
    Holder,
    Journey,
    journey,
    things_of,
)
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.origins import NAMESPACES
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point
from distlint.rules.data._epoch_seeds import is_set_by_hand
from distlint.rules.data._epochs import passes_over, point_of, takes_next
from distlint.rules.data._loaders_around import goes_over, wrapping
from distlint.rules.data._reordered import is_reordered_elsewhere
from distlint.rules.data._same_epoch import is_same_in_each_pass
from distlint.rules.data._told import is_told_by_a_callback
from distlint.rules.data._training import TRAINS, trains_near
from distlint.rules.training import (
    BATCH_SAMPLER,
    LOADER,
    ONLY_LOOKS,
    SAMPLER,
    Made,
    draws_from,
    evaluates,
    goes_through_argument,
    is_evaluation,
    is_named_for_evaluation,
    loaders,
    loops_around,
    names_of,
    repeats,
)

_DEPTH = 4
"""Through how many returns and calls a sampler and its loop are followed."""
_SET_EPOCH = "set_epoch"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A loop over epochs, and the file that it is in."""

    objects: Objects
    loop: ir.For | ir.While


def epochs_elsewhere(sampler: Made) -> Elsewhere | None:
    """A loop over epochs of training in another file, where nothing tells the sampler of them."""
    if sampler.objects.module.project is None or is_for_evaluation(sampler.site, ()):
        return None
    drawn = [each for each in loaders(sampler.objects) if draws_from(each, sampler)]
    if any(is_named_for_evaluation(each.site) for each in drawn):
        return None
    start = tuple(Holder(sampler.objects, (each.call, ())) for each in (sampler, *drawn))
    return next(_search(start, sampler.site, _DEPTH), None)


def _search(start: tuple[Holder, ...], made: CallSite, depth: int) -> Iterator[Elsewhere]:
    """The loops over epochs of what one call made, here and where its function is called."""
    found = _followed(start)
    if found.is_lost or _is_told(found):
        return
    for holder in found.holders:
        for use in uses_of(holder):
            loop = _repeated(holder, use, made, _DEPTH)
            if loop is not None and _trains(holder, use, loop[0]):
                yield Elsewhere(*loop)
    if not depth:
        return
    taken: dict[CallSite, list[Holder]] = {}
    for site, holder in found.returned():
        if not is_for_evaluation(site, holder.thing[1]):
            taken.setdefault(site, []).append(holder)
    for site, holders in taken.items():
        yield from _search(tuple(holders), site, depth - 1)


def _followed(start: tuple[Holder, ...]) -> Journey:
    """Where a sampler and its loaders go; what goes through a loader in its place is one."""
    start = _with_loaders(start)
    while True:
        found = journey(start, is_looked_at)
        known = {(each.objects, each.thing) for each in found.holders}
        more = [
            each
            for each in (*wrapping(found.holders), *_with_loaders(found.holders))
            if (each.objects, each.thing) not in known
        ]
        if found.is_lost or not more:
            return found
        start = (*start, *more)


def _with_loaders(start: tuple[Holder, ...]) -> tuple[Holder, ...]:
    """Also the loaders that draw from a sampler which another file has made."""
    found = list(start)
    for holder in found:  # grows meanwhile
        for site in holder.objects.calls_to(LOADER, BATCH_SAMPLER):
            given = [a.value for a in site.call.args if holder.is_held(a.value, site.point)]
            drawn = Holder(holder.objects, (site.call, ()))
            if given and drawn not in found:
                found.append(drawn)
    return tuple(found)


def is_looked_at(objects: Objects, site: CallSite) -> bool:
    if site.name in ONLY_LOOKS:  # unless it is a function of the project: its own `cycle`
        return called_elsewhere(objects.module, site.call.func) is None
    return site.name in ("DataLoader", "BatchSampler", *NAMESPACES) or goes_through_argument(
        objects, site
    )


def is_for_evaluation(site: CallSite, path: Path) -> bool:
    """Do the names at a call, or on the way to the object in its value, speak of evaluation?"""
    function = site.point.scope.function
    names = [*names_of(site), site.name, *path]
    return any(map(is_evaluation, names)) or (function is not None and evaluates(site.point))


def _is_told(found: Journey) -> bool:
    """May a file that holds the sampler or its loader tell it the epoch, or shuffle the data?"""
    if any(map(is_reordered_elsewhere, found.holders)):
        return True
    for objects in dict.fromkeys(holder.objects for holder in found.holders):
        if is_set_by_hand(objects):
            return True
        if _SET_EPOCH not in objects.module.words:
            continue
        sites = list(objects.calls({_SET_EPOCH}))
        held = [each for each in found.holders if each.objects is objects]
        if not sites or not all(
            is_same_in_each_pass(objects, site) or _is_for_another(held, site) for site in sites
        ):
            return True
    return any(is_told_by_a_callback(each.objects) for each in found.holders)


def _is_for_another(held: list[Holder], site: CallSite) -> bool:
    """Is a call of ``set_epoch`` surely for another sampler, by the call that made that?"""
    func = site.call.func
    if not isinstance(func, ir.Attribute):
        return False
    objects = held[0].objects
    things = list(things_of(objects, func.value, site.point))
    if not things or any(_may_be(each, thing) for each in held for thing in things):
        return False
    return all(
        isinstance(node, ir.Call) and _is_maker(objects, CallSite(node, site.point))
        for node, _ in things
    )


def _may_be(holder: Holder, thing: tuple[object, Path]) -> bool:
    node, path = thing
    same = holder.thing[1][: len(path)] == path[: len(holder.thing[1])]
    return node is holder.thing[0] and same


def _is_maker(objects: Objects, site: CallSite) -> bool:
    """Does a call make a sampler or a loader of its own?"""
    if objects.is_call_to(site, LOADER, SAMPLER):
        return True
    return called_elsewhere(objects.module, site.call.func) is not None


def uses_of(holder: Holder) -> Iterator[Point]:
    """Where a file goes through an object that it holds, once; also through ``enumerate``."""
    for point in holder.objects.points:
        if not evaluates(point) and not passes_over(point.statement):
            if any(holder.is_held(node, point) for node in goes_over(point.statement)):
                yield point


def _repeated(
    holder: Holder, use: Point, made: CallSite, depth: int
) -> tuple[Objects, ir.For | ir.While] | None:
    """The loop in which a statement is run once more, here or where its function is called."""
    for loop in loops_around(use):
        if repeats(loop) and all(here.owner is not loop for here in made.point.around):
            point, held = point_of(holder.objects, loop), holder.thing[0]
            if not isinstance(held, ir.Call) or not takes_next(holder.objects, point, held):
                return holder.objects, loop
    function = use.scope.function
    if function is None or not depth or use.scope is made.point.scope:
        return None
    for caller in holder.objects.callers(function):
        if not evaluates(caller.point):
            found = _repeated(holder, caller.point, made, depth - 1)
            if found is not None:
                return found
    for where, caller in calls_by_bases(holder.objects, function):
        told = where is not holder.objects and _SET_EPOCH in where.module.words
        if not told and not evaluates(caller.point):
            found = _repeated(replace(holder, objects=where), caller.point, made, depth - 1)
            if found is not None:
                return found
    if holder.given_at is not None and holder.giver is not None:
        if not evaluates(holder.given_at.point) and holder.thing[0] is function:
            return _repeated(holder.giver, holder.given_at.point, made, depth - 1)
    return None


def _trains(holder: Holder, use: Point, where: Objects) -> bool:
    """Do the files of the loops train, the functions that they call, or who takes from them?"""
    if trains_near(holder.objects, use) or not where.module.tokens.isdisjoint(TRAINS):
        return True
    function, giver = use.scope.function, holder.giver
    passes_on = function is not None and function.generator  # `cycle(loader)`
    return passes_on and giver is not None and not giver.objects.module.tokens.isdisjoint(TRAINS)
