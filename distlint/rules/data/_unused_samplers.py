"""Samplers that a script makes and then does not pass to its loader."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import calls, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.training import (
    Made,
    evaluates,
    is_named_for_evaluation,
    loaders,
    names_of,
    samplers,
)
from distlint.source.finding import Fix

_ONLY_ASKS = frozenset({"len", "print", "isinstance", "type", "hasattr"})

_ONE_PROCESS = re.compile(r"distributed|world|ddp|rank|num_gpus|n_gpu|parallel", re.I)


def forgotten(objects: Objects) -> Iterator[tuple[Made, Made]]:
    """Samplers that no loader draws from, and loaders of the same data without a sampler."""
    if "DistributedSampler" not in objects.module.words:
        return
    for sampler in samplers(objects):
        if not _is_used(objects, sampler) and not is_named_for_evaluation(sampler.site):
            for loader in loaders(objects):
                if _lacks_sampler(loader) and _same_data(loader, sampler):
                    yield sampler, loader


def _is_used(objects: Objects, sampler: Made) -> bool:
    """Does anything but the caller get a sampler: a loader, another call, an object?"""
    statement = sampler.site.point.statement
    names = names_of(sampler.site)
    if not isinstance(statement, ir.Assign):
        return True
    value = statement.value
    arms = (value.body, value.orelse) if isinstance(value, ir.Conditional) else (value,)
    if not any(each is sampler.call for each in arms):
        return True
    if not all(isinstance(target, ir.Name) for target in statement.targets):
        return True
    if any(site.name not in _ONLY_ASKS for site, _ in objects.uses.passed_to(sampler.call)):
        return True
    scope = sampler.site.point.scope
    if any(_keeps(point.statement, names, statement) for point in objects.points_in(scope)):
        return True
    functions = objects.module.functions if scope.function is None else ()
    return any(not function.tokens.isdisjoint(names) for function in functions)


def _keeps(statement: ir.Stmt, names: Collection[str], made: ir.Stmt) -> bool:
    """May a statement keep one of these variables, other than as an argument of a call?"""
    if isinstance(statement, ir.For):
        return not ir.tokens_of(statement.iterable).isdisjoint(names)
    if isinstance(statement, (ir.Assign, ir.Evaluate)):
        if statement is made or isinstance(statement.value, ir.Call) or binds_constant(statement):
            return False
    elif not isinstance(statement, (ir.Define, ir.DefineClass)):
        return False
    return not ir.tokens_of(statement).isdisjoint(names)


def binds_constant(statement: ir.Stmt) -> bool:
    """``sampler = None``, as the other arm of a branch has it."""
    return isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Literal)


def _lacks_sampler(loader: Made) -> bool:
    return (
        all(loader.option(name).absent for name in ("sampler", "batch_sampler"))
        and not is_named_for_evaluation(loader.site)
        and not evaluates(loader.site.point)
        and not chooses_by_mode(loader)
    )


def _same_data(loader: Made, sampler: Made) -> bool:
    """Do a loader and a sampler get the same data set, by its name?"""
    one, other = loader.option("dataset").value, sampler.option("dataset").value
    if one is None or other is None or loader.options is not loader.site:
        return False
    path = path_of(one)
    if path is None or path != path_of(other):
        return False
    return loader.site.point.scope is sampler.site.point.scope or path[0] == "self"


def given(loader: Made, sampler: Made, draft: Draft) -> Fix:
    """The loader gets the sampler that is there, in place of shuffling."""
    call = draft.node(loader.call.site, cst.Call)
    name = next(iter(names_of(sampler.site)))
    if not names.available(draft, name, call):
        raise CannotFix("the sampler may not be there yet")
    if loader.constant("shuffle", False) is True:
        calls.set_keyword(draft, call, "shuffle", "False", 2)
    calls.add_argument(draft, call, f"sampler={name}")
    return draft.fix("unsafe", "Pass the sampler to the loader")


def chooses_by_mode(loader: Made) -> bool:
    """Is a loader made in a branch on whether there are several processes?"""
    return any(
        isinstance(here.owner, ir.If)
        and any(_ONE_PROCESS.search(token) for token in ir.tokens_of(here.owner.test))
        for here in loader.site.point.around
    )
