"""Windows of gradient accumulation that lose gradients, keep old ones, or never send any."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.gradients._steps import BACKWARD, backwards
from distlint.rules.memory._handed import handed_over, method_calls
from distlint.rules.setup._order import meant
from distlint.rules.training import loops_around

Loop = ir.For | ir.While

_AVERAGES = re.compile(
    r"all_?reduce|reduce_grad|average|sync_(?:grad|param|model)|allreduce|broadcast|consensus"
)
"""Words for averaging gradients or parameters by hand."""
_EMPTIES = frozenset({"zero_grad", "grad", "set_to_none", "clear_grad", "zero_grads"})
_OWN_STEPS = re.compile(r"optim|^opt$|_opt$", re.IGNORECASE)


_IsNoSync = Callable[[ir.Expr, Point, Objects], bool]


class Lost(NamedTuple):
    """A statement that spoils the windows, and what it does."""

    site: int
    message: str
    effect: str
    help: str


def lost_windows(objects: Objects) -> Iterator[Lost]:
    """What goes wrong with the gradients of windows in a file that counts them itself."""
    passes = [each.site for each in (*backwards(objects), *handed_over(objects))]
    for step in objects.calls({"step"}):
        optimizer = _optimizer(step)
        loop = next(loops_around(step.point), None)
        if optimizer is None or loop is None:
            continue
        around = [each for each in passes if each.point.scope is step.point.scope]
        yield from _emptied_each_time(objects, step, optimizer, loop, around)
        if any(_in(each.point, loop) for each in around):
            yield from _never_emptied(objects, step, optimizer, loop)


def _optimizer(step: CallSite) -> Path | None:
    func = step.call.func
    path = path_of(func.value) if isinstance(func, ir.Attribute) else None
    return path if path is not None and _OWN_STEPS.search(path[-1]) else None


def _emptied_each_time(
    objects: Objects, step: CallSite, optimizer: Path, loop: Loop, passes: list[CallSite]
) -> Iterator[Lost]:
    """``zero_grad()`` in each turn of a loop that steps at each n-th."""
    if not _is_counted(objects, step.point, loop):
        return
    if any(
        _receiver(each) == optimizer and _is_in_each_turn(each.point, loop)
        for each in objects.calls_in(step.point.scope, {"step"})
    ):
        return
    if not all(_is_in_each_turn(each.point, loop) for each in passes if _in(each.point, loop)):
        return  # one of them may be for the optimizer that steps now and then
    if not any(_is_in_each_turn(each.point, loop) for each in passes):
        return
    for site, emptied in method_calls(objects, step.point.scope, "zero_grad"):
        if path_of(emptied) == optimizer and _is_in_each_turn(site.point, loop):
            yield Lost(
                site.call.site,
                "`zero_grad()` runs for each batch, but `step()` only for each window",
                "the gradients of all batches but the last one of a window are lost",
                "Call `zero_grad()` after `step()`, under the same condition",
            )


def _never_emptied(objects: Objects, step: CallSite, optimizer: Path, loop: Loop) -> Iterator[Lost]:
    """``zero_grad()`` before a loop that steps again and again, and nowhere in it."""
    if not _EMPTIES.isdisjoint(ir.block_tokens(loop.body)):
        return
    scope = step.point.scope
    before = [
        site
        for site, emptied in method_calls(objects, scope, "zero_grad")
        if path_of(emptied) == optimizer and site.call.site < step.call.site
    ]
    if not before or _ends(step.point, loop) or _may_be_emptied(objects, loop, step.point):
        return
    if not _is_in_each_turn(step.point, loop) and not _is_counted(objects, step.point, loop):
        return
    yield Lost(
        step.call.site,
        "`zero_grad()` is called before the loop only",
        "each step uses the sum of all gradients so far",
        "Call `zero_grad()` after each `step()`",
    )


def _receiver(site: CallSite) -> Path | None:
    func = site.call.func
    return path_of(func.value) if isinstance(func, ir.Attribute) else None


def _inside(point: Point, loop: Loop) -> list[object]:
    """The statements between a loop and a statement in it, outermost first."""
    owners = [here.owner for here in point.around]
    return [*owners[owners.index(loop) + 1 :]] if loop in owners else [None]


def _in(point: Point, loop: Loop) -> bool:
    return any(here.owner is loop for here in point.around)


def _is_in_each_turn(point: Point, loop: Loop) -> bool:
    return all(isinstance(owner, ir.With) for owner in _inside(point, loop))


def _is_counted(objects: Objects, point: Point, loop: Loop) -> bool:
    """Is a statement of a loop under a test ``... % n == 0``, also in a variable?"""
    return any(
        isinstance(owner, ir.If) and any(map(_is_remainder, meant(objects, owner.test, point)))
        for owner in _inside(point, loop)
    )


def _is_remainder(test: ir.Expr) -> bool:
    if isinstance(test, ir.BoolOp):
        return any(map(_is_remainder, test.values))
    return (
        isinstance(test, ir.Compare)
        and isinstance(test.left, ir.Binary)
        and test.left.op == "%"
        and test.ops == ("==",)
        and not (isinstance(test.left.right, ir.Literal) and test.left.right.value == 1)
    )


def _ends(point: Point, loop: Loop) -> bool:
    """Does the loop end after a step: an attempt that is made again where it fails?"""
    return any(
        isinstance(each, (ir.Break, ir.Return))
        for here in point.around
        if here.owner is loop or loop in _owners(point, here.owner)
        for each in here.block[here.index :]
    )


def _owners(point: Point, owner: object) -> list[object]:
    """The statements around one of those that a statement stands in."""
    owners: list[object] = [here.owner for here in point.around]
    return owners[: owners.index(owner)] if owner in owners else []


def _may_be_emptied(objects: Objects, loop: Loop, point: Point) -> bool:
    """May a function that the loop calls empty the gradients?"""
    for statement, _ in placed(loop.body):
        for call in calls_of(statement):
            called = objects.function_called(CallSite(call, point))
            if called is not None and not _EMPTIES.isdisjoint(called[1].tokens):
                return True
            if "zero" in ir.last_name(call.func) or "reset" in ir.last_name(call.func):
                return True
    return False


def never_sent(objects: Objects, is_no_sync: _IsNoSync) -> Iterator[Lost]:
    """``no_sync()`` around all backward passes of a function that steps after them."""
    if any(map(_AVERAGES.search, objects.module.words)):
        return
    handed = [each.site for each in handed_over(objects)]
    for scope in objects.names.scopes:
        passes = [each.site for each in backwards(objects, scope)]
        passes += [each for each in handed if each.point.scope is scope]
        steps = [s for s in objects.calls_in(scope, {"step"}) if _optimizer(s) is not None]
        if not passes or not steps:
            continue
        blocks = [_no_sync_around(each.point, is_no_sync, objects) for each in passes]
        first = blocks[0]
        if first is None or None in blocks or _sends_elsewhere(objects, passes):
            continue
        if all(step.call.site > passes[0].call.site for step in steps):
            yield Lost(
                first.site,
                "all backward passes before `step()` run in `no_sync()`",
                "gradients are never averaged: the replicas of the ranks drift apart",
                "Leave the last micro-batch of each window out of `no_sync()`",
            )


def _no_sync_around(point: Point, is_no_sync: _IsNoSync, objects: Objects) -> ir.With | None:
    """The ``with model.no_sync():`` that a backward pass surely runs in."""
    for here in point.around:
        if isinstance(here.owner, ir.With) and is_no_sync(here.owner.context, point, objects):
            return here.owner
    return None


def _sends_elsewhere(objects: Objects, passes: list[CallSite]) -> bool:
    """Does the function call another one that goes backward?"""
    known = [each.call for each in passes]
    for each in objects.points_in(passes[0].point.scope):
        for call in calls_of(each.statement):
            called = objects.function_called(CallSite(call, each)) if call not in known else None
            if called is not None and not BACKWARD.isdisjoint(called[1].tokens):
                return True
    return False


def unprepared_steps(objects: Objects) -> Iterator[Lost]:
    """Steps in ``accumulate()`` of an optimizer that Accelerate does not know."""
    for step in objects.calls({"step"}):
        func = step.call.func
        if not isinstance(func, ir.Attribute) or not _accumulates(objects, step.point):
            continue
        if any(isinstance(here.owner, ir.If) and _asks(here.owner) for here in step.point.around):
            continue
        origins = objects.origins(func.value, step.point)
        made = [each.site for each in origins if each.site is not None]
        if not made or len(made) < len(origins):
            continue
        if all(_is_unprepared(objects, each) for each in made):
            yield Lost(
                step.call.site,
                "the optimizer in `accumulate()` is not prepared",
                "it steps after each micro-batch, with gradients that are not averaged yet",
                "Pass the optimizer to `accelerator.prepare`",
            )


def _asks(branch: ir.If) -> bool:
    return "sync_gradients" in ir.tokens_of(branch.test)


def _accumulates(objects: Objects, point: Point) -> bool:
    """Is a statement in ``accelerator.accumulate()`` of several batches?"""
    for here in point.around:
        context = here.owner.context if isinstance(here.owner, ir.With) else None
        if not isinstance(context, ir.Call):
            continue
        if objects.called(CallSite(context, point)) != "accelerate.Accelerator.accumulate":
            continue
        assert isinstance(context.func, ir.Attribute)
        return any(
            origin.site is not None and _counts_several(objects, origin.site)
            for origin in objects.origins(context.func.value, point)
        )
    return False


def _counts_several(objects: Objects, made: CallSite) -> bool:
    steps = objects.argument(made, "gradient_accumulation_steps")
    plugin = objects.argument(made, "gradient_accumulation_plugin")
    if steps.absent and plugin.absent:
        return False
    return plugin.value is not None or objects.constant(steps, made.point, 1) != 1


def _is_unprepared(objects: Objects, made: CallSite) -> bool:
    called = objects.called(made)
    return (
        called.startswith("torch.optim.")
        and "lr_scheduler" not in called
        and not any(_takes_over(objects, site) for site, _ in objects.uses.passed_to(made.call))
    )


def _takes_over(objects: Objects, site: CallSite) -> bool:
    """May a call prepare an optimizer, or hand it on? A scheduler only keeps it."""
    called = objects.function_called(site)
    if called is not None:
        return not _calls_methods_only(called[1])
    return "sched" not in site.name.lower() and not objects.called(site).startswith(
        "torch.optim.lr_scheduler."
    )


def _calls_methods_only(function: ir.Function) -> bool:
    """Does a function nothing with its parameters but call their methods?"""
    nodes = list(ir.own_nodes(function.body))
    funcs = [node.func for node in nodes if isinstance(node, ir.Call)]
    called = {id(func.value) for func in funcs if isinstance(func, ir.Attribute)}
    names = {param.name for param in function.params}
    return all(
        id(node) in called for node in nodes if isinstance(node, ir.Name) and node.id in names
    )
