"""Whether what was loaded from a file, or a part of it, goes into a model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.names import Scope, calls_of, expressions_in, expressions_of, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

_DEPTH = 2
"""Through how many calls and returns what was loaded is followed."""
_SAVE = "torch.save"
_COUNTS = re.compile(r"schedul|scaler|LR$|warmup", re.IGNORECASE)
_PLAIN = re.compile(
    r"^\w*(scaler|scheduler)(_state(_dict)?)?$|^\w*(epoch|iter|iteration|step|args|config)s?$"
)
"""Keys of a checkpoint behind which there are numbers and options."""
_FROM_CPU = frozenset({"shard_full_optim_state_dict", "scatter_full_optim_state_dict"})
"""What FSDP hands them, ``full_optim_state_dict``, has been moved to the CPU."""
_SETS_GENERATOR = "set_rng_state"
"""Torch keeps the states of all generators on the CPU, those of GPUs as well."""
RESTORES = frozenset({"load_state_dict", _SETS_GENERATOR, "set_model_state_dict"})


def restores(site: CallSite, objects: Objects) -> bool:
    """Does what was loaded, or a part of it, go into a model, here or where it is handed on to?"""
    return _is_restored(objects_across(objects.module, objects.catalogue), site, _DEPTH)


def _is_restored(objects: Objects, site: CallSite, depth: int) -> bool:
    """Does the value of a call, or a part of it, go into a model?"""
    if _restores_here(objects, site.point, None):
        return True
    if isinstance(site.point.statement, ir.Return):
        return depth > 0 and _by_callers(objects, site.point.scope, depth - 1)
    return _is_restored_as(
        objects, site.point.scope, frozenset(_bound(site.point.statement)), depth
    )


def _is_restored_as(objects: Objects, scope: Scope, loaded: frozenset[str], depth: int) -> bool:
    """The same for what some variables of a function hold."""
    held = loaded
    for statement, around in placed(scope.body):
        if not held.isdisjoint(ir.tokens_of(statement)):
            read = _read(statement)
            if not held.isdisjoint(read) and read.isdisjoint(_FROM_CPU):
                point = Point(scope, around)
                if _restores_here(objects, point, held):
                    return not _is_all_plain(objects, scope, loaded)
                if depth and _is_handed_on(objects, point, held, depth - 1):
                    return True
                held |= frozenset(_bound(statement))
    return False


def _is_handed_on(objects: Objects, point: Point, held: frozenset[str], depth: int) -> bool:
    """Does what a statement returns, or passes to a function, go into a model there?"""
    if isinstance(point.statement, ir.Return):
        return _by_callers(objects, point.scope, depth)
    for site in (CallSite(call, point) for call in calls_of(point.statement)):
        if all(held.isdisjoint(ir.tokens_of(each.value)) for each in site.call.args):
            continue
        there, function = objects.function_called(site) or (objects, None)
        scope = there.scope_of(function) if function is not None else None
        if function is None or scope is None or scope is point.scope:
            continue
        given = {
            param.name
            for param, value in there.params_given(function, site)
            if not held.isdisjoint(ir.tokens_of(value))
        }
        if _is_restored_as(there, scope, frozenset(given), depth):
            return True
    return False


def _by_callers(objects: Objects, scope: Scope, depth: int) -> bool:
    """Does what a function returns go into a model where several ranks call it?"""
    return scope.function is not None and any(
        _is_restored(there, caller, depth)
        and guards_of(there.module, there.catalogue).on_many_ranks(caller.point.scope, caller)
        for there, caller in objects.callers_anywhere(scope.function)
    )


def _restores_here(objects: Objects, point: Point, held: frozenset[str] | None) -> bool:
    """Does the statement restore a state, from one of these names, which is no schedule's alone?

    Where a name stands for the model itself, made by what was loaded, nothing of that is restored.
    """
    if not mentions(point.statement):
        return False
    sites = [CallSite(call, point) for call in calls_of(point.statement)]
    into = [site for site in sites if site.name in RESTORES]
    if held is not None and into:
        given = [argument.value for site in into for argument in site.call.args]
        if all(held.isdisjoint(ir.tokens_of(value)) for value in given):
            return False
    return not into or not all(_counts_only(objects, site) for site in into)


def _is_all_plain(objects: Objects, scope: Scope, names: frozenset[str]) -> bool:
    """Is it read key by key, and does the module save a file of such keys, with numbers alone?"""
    uses, taken = 0, []
    for statement, _ in placed(scope.body):
        uses -= sum(name in names for name in _bound(statement))
        for part in expressions_of(statement):
            for node in expressions_in(part):
                uses += isinstance(node, ir.Name) and node.id in names
                taken += _key_taken(node, names)
    return uses == len(taken) > 0 and any(
        keys.issuperset(taken) and all(map(_PLAIN.search, keys)) for keys in _saved_keys(objects)
    )


def _key_taken(node: ir.Expr, names: frozenset[str]) -> list[str]:
    """``state["epoch"]``, ``state.get("epoch")``: the key, where it is written out."""
    if isinstance(node, ir.Subscript):
        held, key = node.value, node.index
    elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.args:
        held, key = node.func.value, node.args[0].value
        if node.func.attr != "get":
            return []
    else:
        return []
    is_one = isinstance(held, ir.Name) and held.id in names
    return [key.value] if is_one and isinstance(key, ir.Literal) and type(key.value) is str else []


def _saved_keys(objects: Objects) -> Iterator[frozenset[str]]:
    """The keys of the dicts that the module saves, where all are written out."""
    for site in objects.calls_to(_SAVE):
        state = objects.argument(site, "obj", 0).value
        for origin in objects.origins(state, site.point) if state is not None else ():
            if isinstance(origin.node, ir.DictDisplay) and not origin.attributes:
                keys = [k.value if isinstance(k, ir.Literal) else None for k in origin.node.keys]
                named = [key for key in keys if isinstance(key, str)]
                if len(named) == len(keys):
                    yield frozenset(named)


def mentions(statement: ir.Stmt) -> bool:
    return any(not RESTORES.isdisjoint(ir.tokens_of(part)) for part in expressions_of(statement))


def _counts_only(objects: Objects, site: CallSite) -> bool:
    """Is it the whole state of a scheduler or scaler, or of a generator, which is on no device?"""
    func, arguments = site.call.func, site.call.args
    if site.name == _SETS_GENERATOR:
        return not any(map(_has_key, arguments))
    if not isinstance(func, ir.Attribute) or len(arguments) != 1:
        return False
    if isinstance(arguments[0].value, ir.Subscript):
        return False  # there is more in that file
    if _COUNTS.search(ir.last_name(func.value)):
        return True
    made = [origin.call for origin in objects.origins(func.value, site.point)]
    return bool(made) and all(
        call is not None and _COUNTS.search(ir.last_name(call.func)) for call in made
    )


def _has_key(argument: ir.Argument) -> bool:
    """Is it taken from a dict, in which there may be more: ``state["rng"]``?"""
    return any(
        isinstance(node, ir.Subscript)
        and not (isinstance(node.index, ir.Literal) and isinstance(node.index.value, int))
        for node in expressions_in(argument.value)
    )


def _bound(statement: ir.Stmt) -> Iterator[str]:
    targets: tuple[ir.Expr, ...] = ()
    if isinstance(statement, ir.Assign):
        targets = statement.targets
    elif isinstance(statement, ir.For):
        targets = (statement.target,)
    for target in targets:
        for item in target.items if isinstance(target, ir.Display) else (target,):
            if isinstance(item, ir.Subscript):
                item = item.value
            if isinstance(item, ir.Name):
                yield item.id
            elif isinstance(item, ir.Attribute):
                yield item.attr


def _read(statement: ir.Stmt) -> frozenset[str]:
    if isinstance(statement, ir.Assign):
        return ir.tokens_of(statement.value)
    found: set[str] = set()
    for part in expressions_of(statement):
        found |= ir.tokens_of(part)
    return frozenset(found)
