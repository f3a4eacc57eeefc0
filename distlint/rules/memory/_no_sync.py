"""``no_sync()`` around a backward pass whose forward pass has been left outside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.training import DDP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Path, Point
    from distlint.rules.gradients._steps import Backward
    from distlint.source.finding import Fix

_SENT_BY_BACKWARD = re.compile(
    r"fsdp|fully_?shard|sharded_?d|deepspeed|megatron|parallelism", re.IGNORECASE
)
"""Wrappers whose ``no_sync`` is asked when gradients are sent, not in the forward."""
_NO_FORWARD = frozenset({"backward", "scale", "no_sync", "item", "detach", "mean", "sum", "float"})
"""What is called around a backward pass, and is no model."""


@dataclass(frozen=True, slots=True)
class LeftOutside:
    """A block, and the functions by which the model is called in front of it."""

    block: ir.With
    forwards: frozenset[str] = frozenset()


def around(backward: Backward, objects: Objects) -> Iterator[LeftOutside]:
    """The blocks around a backward pass in which the model is not called."""
    point = backward.site.point
    for here in point.around:
        if isinstance(here.owner, ir.With) and is_no_sync(here.owner.context, point, objects):
            if not _runs_forward(here.owner):
                yield LeftOutside(here.owner)


def by_functions(objects: Objects) -> Iterator[LeftOutside]:
    """The blocks that call a function for the backward pass alone.

    Where another function calls the model, and is called right in front of the block.
    """
    blocks = list(_blocks(objects))
    calls = [(f.name, list(_calls_in(f.body))) for f in objects.module.functions if blocks]
    sends = {name for name, made in calls if "backward" in _last_names(made)}
    for block, point, model in blocks:
        forwards = {name for name, made in calls if model in _paths(made)}
        inside = list(_calls_in(block.body))
        before = _last_names(_calls_in(_before(point)))
        runs_forward = model in _paths(inside) or not forwards.isdisjoint(_last_names(inside))
        sends_inside = not sends.isdisjoint(_last_names(inside))
        if sends_inside and not runs_forward and not forwards.isdisjoint(before):
            yield LeftOutside(block, frozenset(forwards))


def _blocks(objects: Objects) -> Iterator[tuple[ir.With, Point, Path]]:
    """Each ``with model.no_sync():``, its place, and the model."""
    for site in objects.calls({"no_sync"}):
        block, func = site.point.statement, site.call.func
        model = path_of(func.value) if isinstance(func, ir.Attribute) else None
        if model is not None and isinstance(block, ir.With) and block.context is site.call:
            if is_no_sync(site.call, site.point, objects):
                yield block, site.point, model


def _calls_in(block: ir.Block) -> Iterator[ir.Call]:
    return (call for statement, _ in placed(block) for call in calls_of(statement))


def _last_names(calls: Iterable[ir.Call]) -> set[str]:
    return {ir.last_name(call.func) for call in calls}


def _paths(calls: Iterable[ir.Call]) -> set[Path | None]:
    return {path_of(call.func) for call in calls}


def _before(point: Point) -> ir.Block:
    """The plain statements in front of one, back to the next that does more."""
    here = point.around[-1]
    plain = takewhile(_is_plain, reversed(here.block[: here.index]))
    return tuple(plain)


def _is_plain(statement: ir.Stmt) -> bool:
    if isinstance(statement, ir.If):  # ``if scale is not None: loss *= scale``
        return all(isinstance(each, ir.AugAssign) for each in (*statement.body, *statement.orelse))
    return isinstance(statement, (ir.Assign, ir.AugAssign, ir.Evaluate))


def is_no_sync(context: ir.Expr, point: Point, objects: Objects) -> bool:
    """Is it ``no_sync()`` of a wrapper that asks for it in the forward?"""
    if not isinstance(context, ir.Call) or ir.last_name(context.func) != "no_sync":
        return False
    if not isinstance(context.func, ir.Attribute):
        return True
    made = [o.site for o in objects.origins(context.func.value, point) if o.site is not None]
    if any(objects.is_call_to(site, *DDP) for site in made):
        return True
    if any(isinstance(objects.callee(site), ir.Class) for site in made):
        return False  # a wrapper of the file's own
    return not any(map(_SENT_BY_BACKWARD.search, objects.module.words))


def _runs_forward(block: ir.With) -> bool:
    """May the model be called in the block?"""
    return not _last_names(_calls_in(block.body)) <= _NO_FORWARD


def with_forward(left: LeftOutside, draft: Draft) -> Fix:
    """Move the call of the model, and what stands between, into ``with model.no_sync():``."""
    item = draft.node(left.block.site, cst.WithItem)
    region, context = draft.around(item, cst.With), item.item
    if region is None or len(region.items) != 1:
        raise CannotFix("more than no_sync is entered")
    if not isinstance(context, cst.Call) or not isinstance(context.func, cst.Attribute):
        raise CannotFix("whose no_sync it is is not known")
    forwards = left.forwards | {names.dotted(context.func.value)} - {None}
    before = statements.siblings(draft, region)
    before = before[: before.index(region)]
    calling = [
        index
        for index, statement in enumerate(before)
        for node in names.inside(statement)
        if isinstance(node, cst.Call) and names.dotted(node.func) in forwards
    ]
    if not calling or not isinstance(region.body, cst.IndentedBlock):
        raise CannotFix("the forward is somewhere else")
    moved = before[calling[-1] :]
    if calling.count(calling[-1]) != len(calling) or not all(
        isinstance(each, (cst.Assign, cst.AugAssign)) for each in moved
    ):
        raise CannotFix("there is more between the forward and the backward")
    row = region.body.body[0]
    first = row.body[0] if isinstance(row, cst.SimpleStatementLine) else row
    statements.move_before(draft, first, *moved)  # type: ignore[arg-type]
    return draft.fix("unsafe", "Call the model inside `no_sync()` as well")
