"""Scores of the samples of one rank: what is computed of predictions that a loop collects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope, calls_of, expressions_in
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, place_of
from distlint.catalogue.catalogue import Catalogue
from distlint.rules.gradients._flow import Flow, kept
from distlint.rules.gradients._shard_means import Shards, collected_in, shards_of, used_at

_DEPTH = 3
"""Through how many calls a score, or the predictions that it is computed of, is followed."""

_SUMS = frozenset({"all_reduce", "reduce"})
_GATHERS = frozenset({"all_gather", "gather"})
_MEANS = frozenset({"mean", "sum", "average", "nanmean"})
_CURVES = frozenset({"exp", "sqrt"})
"""Functions by which the mean of the values is not the value of the mean."""
_EXTREMES = frozenset({"MAX", "MIN", "PRODUCT", "max", "min"})
"""Operations of a reduction that give no mean."""


@dataclass(frozen=True, slots=True)
class LocalScore:
    """A score of one rank's samples: the statement that is wrong, and the one that relies on it."""

    point: Point
    used: Point
    averaged: bool
    """Do the ranks average their scores, or does one use its own?"""
    of_mean: bool = False
    """Is it computed of a mean, so that the mean is what should have been averaged?"""
    use: str = "computed here"
    """What the other statement has to do with it."""


def scores_of_shards(objects: Objects) -> Iterator[LocalScore]:
    """The scores of a part of the data that are averaged, or that one rank uses for all."""
    shards, told = shards_of(objects), set[int]()
    curves = (_of_curve(objects, site, shards) for site in objects.calls(_CURVES))
    calls = objects.nodes(ir.Call) if may_score(objects) else ()
    scores = (_of_samples(objects, CallSite(*each), shards) for each in calls)
    for found in (*curves, *scores):
        if found is not None and found.point.statement.site not in told:
            told.add(found.point.statement.site)
            yield found


def may_score(objects: Objects) -> bool:
    """Is a function that computes a score known to a file, or to one that it imports?"""
    module, project = objects.module, objects.module.project
    others = map(project.catalogue_of, module.imports) if project is not None else ()
    return any(map(_score_names, (objects.catalogue, *others)))


@lru_cache(maxsize=64)
def _score_names(catalogue: Catalogue) -> frozenset[str]:
    """The last names of the functions that compute a score."""
    return frozenset(
        each.name.rpartition(".")[2] for each in catalogue.entries() if each.score is not None
    )


def _of_curve(objects: Objects, site: CallSite, shards: Shards) -> LocalScore | None:
    """What is computed of the mean of one rank's samples, if the ranks average it."""
    mean = _of_mean(objects, site)
    if mean is None or not _is_own(objects, mean, site.point, shards, _DEPTH, site.call):
        return None
    at = _averaged_at(objects, site, _DEPTH)
    return _averaged(objects, at, site.point, of_mean=True) if at is not None else None


def _of_samples(objects: Objects, site: CallSite, shards: Shards) -> LocalScore | None:
    """The score of one rank's samples that a call computes, if it is taken for that of all."""
    is_mean = _is_mean(objects, site, shards)
    if is_mean is None:
        return None
    reduced = _averaged_at(objects, site, _DEPTH)
    if reduced is not None:
        return None if is_mean else _averaged(objects, reduced, site.point)
    used = used_at(objects, site)
    return LocalScore(site.point, used, averaged=False) if used is not None else None


def _averaged(
    objects: Objects, reduced: Point, computed: Point, *, of_mean: bool = False
) -> LocalScore:
    """A score that is averaged over the ranks: where that is, if in its own file."""
    if reduced.scope.module is objects.module:
        return LocalScore(reduced, computed, averaged=True, of_mean=of_mean)
    return LocalScore(computed, reduced, averaged=True, of_mean=of_mean, use="averaged here")


def _is_mean(objects: Objects, site: CallSite, shards: Shards) -> bool | None:
    """Is what a call scores of one rank's samples, and a mean over them? None for no such score."""
    for value, is_mean in _scored(objects, site, _DEPTH):
        if _is_own(objects, value, site.point, shards, _DEPTH, site.call):
            return is_mean
    return None


def _of_mean(objects: Objects, site: CallSite) -> ir.Expr | None:
    """The mean of which a call computes ``exp`` or ``sqrt``: a perplexity, an RMSE."""
    func, args = site.call.func, site.call.args
    if ir.last_name(func) not in _CURVES or objects.callee(site) is not None or len(args) > 1:
        return None
    value = args[0].value if args else func.value if isinstance(func, ir.Attribute) else None
    if value is None:
        return None
    made = [value, *(each.node for each in objects.origins(value, site.point))]
    is_mean = any(
        (isinstance(each, ir.Binary) and each.op == "/")
        or (isinstance(each, ir.Call) and ir.last_name(each.func) in _MEANS - {"sum"})
        for each in made
    )
    return value if is_mean else None


def _scored(objects: Objects, site: CallSite, depth: int) -> Iterator[tuple[ir.Expr, bool]]:
    """What a call computes a score of, itself or by a function of the project that it calls."""
    known = _score_names(objects.catalogue)
    may_score = site.name in known or objects.module.aliases.get(site.name) in known
    entry = objects.catalogue.lookup(objects.called(site) or "?") if may_score else None
    if entry is not None and entry.score is not None:
        yield from ((argument.value, entry.score.mean) for argument in site.call.args)
        return
    there, function = (depth and objects.function_called(site)) or (objects, None)
    names = _scored_names(there, function, depth) if function is not None else ()
    for param, value in there.params_given(function, site) if function and names else ():
        yield from ((value, is_mean) for name, is_mean in names if name == param.name)


@lru_cache(maxsize=512)
def _scored_names(
    objects: Objects, function: ir.Function, depth: int
) -> tuple[tuple[str, bool], ...]:
    """The variables of a function of which it returns a score, and whether that is a mean."""
    found: dict[tuple[str, bool], None] = {}
    for inner in _calls_in(objects, objects.scope_of(function)):
        is_kept = isinstance(inner.point.statement, (ir.Assign, ir.Return))
        for value, is_mean in _scored(objects, inner, depth - 1) if is_kept else ():
            if not _is_returned(objects, inner):
                continue
            for flow in _flows(objects, value, inner.point):
                names = sorted({path[0] for path in flow.sources})
                if any((name, is_mean) not in found for name in names) and not flow.meets_before():
                    found.update(dict.fromkeys((name, is_mean) for name in names))
    return tuple(found)


def _calls_in(objects: Objects, scope: Scope | None) -> Iterator[CallSite]:
    for point in objects.points_in(scope) if scope is not None else ():
        yield from (CallSite(call, point) for call in calls_of(point.statement))


def _flows(
    objects: Objects, value: ir.Expr, point: Point, given_to: ir.Call | None = None
) -> Iterator[Flow]:
    """What each of the variables in an expression comes from."""
    for each in expressions_in(value):
        if isinstance(each, ir.Name):
            yield Flow(objects, point.scope, each.id, given_to)


def _is_own(
    objects: Objects,
    value: ir.Expr,
    point: Point,
    shards: Shards,
    depth: int,
    scored: ir.Call | None = None,
) -> bool:
    """Is an expression made of what a loop over one rank's samples collects, and of that alone?

    What the call that computes the score is inside of comes later.
    """
    found = False
    for flow in _flows(objects, value, point, scored):
        if flow.meets_before():
            return False
        found = found or any(
            collected_in(objects, shards, path, point) for path in sorted(flow.sources)
        )
        found = found or any(
            _collects(objects, site, shards, depth) for site in flow.made_by_calls()
        )
    return found


def _collects(objects: Objects, site: CallSite, shards: Shards, depth: int) -> bool:
    """Does a function of the project return what a loop over one rank's samples collects?"""
    there, function = objects.function_called(site) or (objects, None)
    scope = there.scope_of(function) if function is not None else None
    if scope is None or not depth:
        return False
    shards = shards if there is objects else shards_of(there)
    returns = [
        (point.statement.value, point)
        for point in there.points_in(scope)
        if isinstance(point.statement, ir.Return) and point.statement.value is not None
    ]
    return any(_is_own(there, value, point, shards, depth - 1) for value, point in returns)


def _is_returned(objects: Objects, site: CallSite) -> bool:
    statement = site.point.statement
    if isinstance(statement, ir.Return):
        return True
    return any(flow.is_returned() for flow in kept(objects, site))


def _averaged_at(objects: Objects, site: CallSite, depth: int) -> Point | None:
    """Where the ranks average the value of a call, here or where the function is called."""
    for call in calls_of(site.point.statement):
        if call is not site.call and any(each is site.call for each in expressions_in(call)):
            if _averages(objects, CallSite(call, site.point)):
                return site.point
    for flow in kept(objects, site):
        for other in _calls_in(objects, site.point.scope):
            if other.call is not site.call and flow.is_given(other.call):
                if _averages(objects, other):
                    return other.point
    function = site.point.scope.function
    if not depth or function is None or not _is_returned(objects, site):
        return None
    callers = objects.callers_anywhere(function)
    averaged = (_averaged_at(there, caller, depth - 1) for there, caller in callers)
    return next((point for point in averaged if point is not None), None)


def _averages(objects: Objects, site: CallSite, depth: int = _DEPTH) -> bool:
    """Do the ranks average what a call is given, or add it up?"""
    entry = objects.catalogue.lookup(objects.called(site) or "?")
    if entry is not None and entry.collective is not None:
        if entry.collective.kind in _SUMS:
            return all(_EXTREMES.isdisjoint(ir.tokens_of(each.value)) for each in site.call.args)
        return entry.collective.kind in _GATHERS and _is_meaned(objects, site)
    there, function = objects.function_called(site) or (objects, None)
    return function is not None and depth > 0 and _averages_inside(there, function, depth - 1)


@lru_cache(maxsize=512)
def _averages_inside(objects: Objects, function: ir.Function, depth: int) -> bool:
    scope = objects.scope_of(function)
    return any(_averages(objects, inner, depth) for inner in _calls_in(objects, scope))


def _is_meaned(objects: Objects, site: CallSite) -> bool:
    """Is a mean taken of what a call gathers, or of the list that it fills?"""
    flows = list(kept(objects, site))
    filled = place_of(site.call.args[0].value) if len(site.call.args) > 1 else None
    if filled is not None:
        flows.append(Flow(objects, site.point.scope, filled))
    for other in _calls_in(objects, site.point.scope):
        if ir.last_name(other.call.func) in _MEANS and other.call is not site.call:
            if any(each is site.call for each in expressions_in(other.call)):
                return True
            if other.call.site > site.call.site and any(f.is_given(other.call) for f in flows):
                return True
    return False
