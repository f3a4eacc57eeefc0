"""Windows of gradient accumulation: the micro-steps, and the optimizer's step at their end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.gradients._steps import BACKWARD, backwards, conditions, exclude
from distlint.rules.gradients._wrapper_names import name_of
from distlint.rules.setup._order import meant

_WINDOW = re.compile(r"accum|sync_gradients|micro|boundary|update_freq|do_step|should_step|is_last")


class Steps:
    """The steps of optimizers in a module, by the loop of each and by the tests it depends on."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._backwards = [backward.site for backward in backwards(objects)]
        self._passes = {turn_of(site.point) for site in self._backwards}
        self._steps: dict[tuple[int, int], list[tuple[int, list[ir.If], CallSite]]] = {}
        self._exits: dict[int, tuple[list[int], list[int]]] = {}
        for site, step in _made_steps(objects):
            inner = () if step is site else conditions(step.point)
            asked = (*conditions(site.point), *inner)
            counting = [each for each in asked if _counts(each.test)]
            entry = (site.point.statement.site, counting, site)
            self._steps.setdefault(turn_of(site.point), []).append(entry)

    def of_window(self, clip: CallSite) -> CallSite | None:
        """The step that is made once in several iterations, while the clip is made in each."""
        turn, mine = turn_of(clip.point), list(conditions(clip.point))
        if turn not in self._passes:
            return None
        start, exit_ = clip.point.statement.site, self._exit_after(clip.point)
        for site, counting, step in self._steps.get(turn, ()):
            if site > start and (
                (exit_ is not None and site > exit_) or any(each not in mine for each in counting)
            ):
                return step
        return None

    def of_micro_step(self, clip: CallSite) -> CallSite | None:
        """The step of a window, while the clip is made in those of its turns that make no step.

        In the other arm of an ``if`` about the window, or with ``no_sync()``.
        """
        sends_later = _is_in_no_sync(clip.point)
        is_there, site = False, clip.point.statement.site
        step: CallSite | None = None
        for each in self._of_function(clip):
            is_other = exclude(each.point, clip.point)
            if is_other and (sends_later or self._is_about_window(each.point, clip.point)):
                step = step or each
            elif each.point.statement.site > site and not is_other:
                is_there = is_there or not sends_later or _is_in_no_sync(each.point)
                step = step or (each if sends_later else None)
        return step if not is_there and self._follows_pass(clip) else None

    def _of_function(self, clip: CallSite) -> list[CallSite]:
        """The steps of the clip's turn, or of all its function if the clip is in ``no_sync()``."""
        turn = turn_of(clip.point)
        return [
            step
            for key, entries in self._steps.items()
            if key == turn or (key[0] == turn[0] and _is_in_no_sync(clip.point))
            for _, _, step in entries
        ]

    def _is_about_window(self, step: Point, clip: Point) -> bool:
        """Are two statements in different arms of an ``if`` that tests for the end of a window?"""
        arms = {id(here.owner): here.block for here in step.around}
        return any(
            isinstance(here.owner, ir.If)
            and arms.get(id(here.owner), here.block) is not here.block
            and any(_counts(each) for each in meant(self._objects, here.owner.test, clip))
            for here in clip.around
        )

    def _follows_pass(self, clip: CallSite) -> bool:
        return any(
            turn_of(site.point) == turn_of(clip.point)
            and site.point.statement.site < clip.point.statement.site
            and not exclude(site.point, clip.point)
            for site in self._backwards
        )

    def _exit_after(self, clip: Point) -> int | None:
        """The site of the next statement of the block that skips the rest of some iterations."""
        here = clip.around[-1]
        if id(here.block) not in self._exits:
            found = [
                (index, statement.site)
                for index, statement in enumerate(here.block)
                if isinstance(statement, ir.If)
                and _leaves(statement.body)
                and _counts(statement.test)
            ]
            self._exits[id(here.block)] = [index for index, _ in found], [site for _, site in found]
        indexes, sites = self._exits[id(here.block)]
        after = bisect_right(indexes, here.index)
        return sites[after] if after < len(sites) else None


def _made_steps(objects: Objects) -> Iterator[tuple[CallSite, CallSite]]:
    """The steps of optimizers, and the calls of functions, of whatever file, that make one."""
    yield from ((step, step) for step in objects.calls({"step"}) if is_optimizer(step))
    for site in (CallSite(*each) for each in objects.nodes(ir.Call)):
        there, function = function_called(objects, site) or (objects, None)
        if function is None or not BACKWARD.isdisjoint(function.tokens):
            continue  # it trains by itself
        scope = there.scope_of(function)
        for step in there.calls_in(scope, {"step"}) if scope is not None else ():
            if is_optimizer(step):
                yield site, step


def turn_of(point: Point) -> tuple[int, int]:
    """What statements share that are in the same loop of one function, or in none of its loops."""
    for here in reversed(point.around):
        if isinstance(here.owner, (ir.For, ir.While)):
            return id(point.scope), id(here.owner)
    return id(point.scope), 0


def is_optimizer(step: CallSite) -> bool:
    func = step.call.func
    last = name_of(func.value) if isinstance(func, ir.Attribute) else ""
    return re.search(r"opt|scaler|amp|trainer", last.lower()) is not None


def _leaves(block: ir.Block) -> bool:
    return bool(block) and isinstance(block[-1], (ir.Return, ir.Continue))


def _counts(test: ir.Expr) -> bool:
    """Does a test look at the number of the turn, or speak of a window of turns?"""
    stack: list[object] = [test]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Binary) and node.op == "%":
            return True
        stack.extend(ir.children(node))
    return _speaks_of_window(test)


def _speaks_of_window(node: ir.Expr) -> bool:
    return any(_WINDOW.search(token.lower()) for token in ir.tokens_of(node))


def at_the_end(objects: Objects, point: Point) -> bool:
    """Is a statement under a condition that speaks of the end of a window?"""
    return any(
        _counts(each) for owner in conditions(point) for each in meant(objects, owner.test, point)
    )


def accumulates(point: Point) -> bool:
    """Does a statement stand in ``with accelerator.accumulate(...)``?"""
    return any(
        isinstance(here.owner, ir.With) and "accumulate" in ir.tokens_of(here.owner.context)
        for here in point.around
    )


def _is_in_no_sync(point: Point) -> bool:
    """Is a statement in ``with model.no_sync():``, which keeps the gradients on their rank?"""
    return any(
        isinstance(here.owner, ir.With)
        and isinstance(here.owner.context, ir.Call)
        and ir.last_name(here.owner.context.func) == "no_sync"
        for here in point.around
    )
