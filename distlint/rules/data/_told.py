"""What a file's calls of ``set_epoch`` tell a sampler: nothing, too late, or what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere, calls_within, objects_in
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, path_of
from distlint.rules.data._epoch_seeds import is_set_by_hand
from distlint.rules.data._same_epoch import is_same_in_each_pass
from distlint.rules.training import Made, draws_from, is_evaluation, loaders, samplers

_SET_EPOCH = "set_epoch"
_TRAINS = frozenset({"backward", "step"})


def told_late(objects: Objects) -> Iterator[tuple[CallSite, ir.For]]:
    """The calls of ``set_epoch`` with the epoch of a loop, behind the training in that loop."""
    for site in objects.calls({_SET_EPOCH}):
        epoch = site.call.args[0].value if len(site.call.args) == 1 else None
        func = site.call.func
        if epoch is None or path_of(epoch) is None or not isinstance(func, ir.Attribute):
            continue
        if is_evaluation(ir.last_name(func.value)):
            continue
        for here in site.point.around:
            loop = here.owner
            if not isinstance(loop, (ir.For, ir.While)) or here.block is not loop.body:
                continue
            if not _counts(loop, path_of(epoch), here.index):
                continue
            trained = _training(loop.body[: here.index])
            if trained is not None and not _is_told_before(objects, site, loop):
                yield site, trained


def _counts(loop: ir.For | ir.While, epoch: Path | None, index: int) -> bool:
    """Does a loop count epochs from 0, and has it not counted on before its statement ``index``?"""
    if isinstance(loop, ir.For):
        return path_of(loop.target) == epoch and not _begins_late(loop.iterable)
    if not isinstance(loop.test, ir.Compare) or path_of(loop.test.left) != epoch:
        return False
    return not any(
        isinstance(statement, ir.AugAssign) and path_of(statement.target) == epoch
        for statement in loop.body[:index]
    )


def _training(block: ir.Block) -> ir.For | None:
    """The loop over batches in which the model is trained."""
    for statement in block:
        if isinstance(statement, ir.For) and ir.block_tokens(statement.body) >= _TRAINS:
            return statement
    return None


def _begins_late(iterable: ir.Expr) -> bool:
    """Does a loop over epochs begin at 1, so that the order of epoch 0 comes once?"""
    if isinstance(iterable, ir.Call) and len(iterable.args) >= 2:
        first = iterable.args[0].value
        return isinstance(first, ir.Literal) and first.value != 0
    return False


def _is_told_before(objects: Objects, late: CallSite, loop: ir.For | ir.While) -> bool:
    return any(
        site is not late
        and site.call.site < late.call.site
        and any(here.owner is loop for here in site.point.around)
        and not _stand_side_by_side(site, late)
        for site in objects.calls({_SET_EPOCH})
    )


def _stand_side_by_side(site: CallSite, late: CallSite) -> bool:
    """Do two calls stand side by side, for two samplers?"""
    return site.point.around[-1].block is late.point.around[-1].block


def may_be_told(objects: Objects, sampler: Made) -> bool:
    """Does the module call ``set_epoch`` on this sampler, or on something that may hold it?

    Or does it set what that would set?
    """
    if is_set_by_hand(objects):
        return True
    sites = list(objects.calls({_SET_EPOCH}))
    if _SET_EPOCH in objects.module.words and not (
        sites
        and all(
            is_same_in_each_pass(objects, site) or _is_told_to_another(objects, site, sampler)
            for site in sites
        )
    ):
        return True
    return is_told_by_a_callback(objects)


@lru_cache(maxsize=64)
def is_told_by_a_callback(objects: Objects) -> bool:
    """Does a function of another file, which nothing calls by name, tell its argument the epoch?

    Of a hook it is not known which sampler it is given.
    """
    for module in files_near(objects.module) if objects.module.project is not None else ():
        if module is not objects.module and _SET_EPOCH in module.words:
            there = objects_in(module)
            if any(_is_on_argument_of_a_hook(there, site) for site in there.calls({_SET_EPOCH})):
                return True
    return False


def _is_on_argument_of_a_hook(objects: Objects, site: CallSite) -> bool:
    function, func = site.point.scope.function, site.call.func
    if function is None or not isinstance(func, ir.Attribute):
        return False
    given = {each.name for each in function.params[1 if function.owner else 0 :]}
    origins = objects.origins(func.value, site.point)
    if given.isdisjoint(path[0] for each in origins if (path := _taken_from(each.node))):
        return False
    called = any(True for _ in calls_within(objects, function))
    return not called and next(calls_elsewhere(objects.module, function), None) is None


def _taken_from(node: ir.Expr | ir.Function | ir.Class) -> Path | None:
    """What an attribute is taken from: ``run`` of ``run.loader``, ``getattr(run, "loader")``."""
    if isinstance(node, ir.Call) and ir.last_name(node.func) == "getattr" and node.args:
        return _taken_from(node.args[0].value)
    return path_of(node) if isinstance(node, ir.Expr) else None


def same_epoch_calls(objects: Objects, sampler: Made) -> Iterator[CallSite]:
    """The calls that tell a sampler the same number in each pass."""
    if _SET_EPOCH in objects.module.words:
        for site in objects.calls({_SET_EPOCH}):
            if not _is_told_to_another(objects, site, sampler):
                yield site


def _is_told_to_another(objects: Objects, site: CallSite, sampler: Made) -> bool:
    """Is a call of ``set_epoch`` surely for another sampler, itself or through its loader?"""
    if not isinstance(site.call.func, ir.Attribute):
        return False
    told = site.call.func.value
    is_held = False
    while isinstance(told, ir.Attribute) and told.attr in ("sampler", "batch_sampler"):
        told, is_held = told.value, True
    origins = [o for o in objects.origins(told, site.point) if o.constant is not None]
    if is_held:
        known = {loader.call: loader for loader in loaders(objects)}
        holders = [known.get(each.call) if each.call else None for each in origins]
        return bool(holders) and all(
            each is not None and not draws_from(each, sampler) for each in holders
        )
    made = {each.call for each in samplers(objects)} - {sampler.call}
    return bool(origins) and all(each.call in made for each in origins)
