"""``no_sync()`` around a backward pass whose forward pass has been left outside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.bindings import path_of
from distlint.analyzer.names import calls_of, placed
from distlint.fixers import names, statements
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.training import DDP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.bindings import Path, Point
    from distlint.analyzer.objects import Objects
    from distlint.rules.gradients._steps import Backward
    from distlint.source.finding import Fix

_SENT_BY_BACKWARD = re.compile(
    r"fsdp|fully_?shard|sharded_?d|deepspeed|megatron|parallelism", re.IGNORECASE
)
"""Wrappers whose ``no_sync`` is asked when gradients are sent, not in the forward."""


@dataclass(frozen=True, slots=True)
class LeftOutside:
    """A block, and the functions by which the model is called in front of it."""

    block: ir.With
    forwards: frozenset[str] = frozenset()


def around(backward: Backward, objects: Objects) -> Iterator[LeftOutside]:
    """The blocks around a backward pass in which the model is not called."""
    point = backward.site.point
    for here in point.around:
        if isinstance(here.owner, ir.With) and _is_no_sync(here.owner.context, point, objects):
            if not _runs_forward(here.owner):
                yield LeftOutside(here.owner)


def by_functions(objects: Objects) -> Iterator[LeftOutside]:
    """The blocks that call a function for the backward pass alone.

    Where another function calls the model, and is called right in front of the block.
    """
    for site in objects.calls({"no_sync"}):
        block, func = site.point.statement, site.call.func
        if not isinstance(block, ir.With) or block.context is not site.call:
            continue
        model = path_of(func.value) if isinstance(func, ir.Attribute) else None
        if model is None or not _is_no_sync(site.call, site.point, objects):
            continue
        forwards = {f.name for f in objects.module.functions if _calls(f.body, model)}
        sends = {f.name for f in objects.module.functions if "backward" in _called(f.body)}
        inside, before = _called(block.body), _called(_before(site.point))
        runs_forward = _calls(block.body, model) or not inside.isdisjoint(forwards)
        if not runs_forward and not inside.isdisjoint(sends) and not before.isdisjoint(forwards):
            yield LeftOutside(block, frozenset(forwards))


def _calls(block: ir.Block, model: Path) -> bool:
    return any(
        path_of(call.func) == model
        for statement, _ in placed(block)
        for call in calls_of(statement)
    )


def _called(block: Iterable[ir.Stmt]) -> set[str]:
    """The last names of what a block calls."""
    return {
        ir.last_name(call.func)
        for statement, _ in placed(tuple(block))
        for call in calls_of(statement)
    }


def _before(point: Point) -> Iterable[ir.Stmt]:
    """The plain statements in front of one, back to the next that has blocks."""
    here = point.around[-1]
    for statement in reversed(here.block[: here.index]):
        if not isinstance(statement, (ir.Assign, ir.AugAssign, ir.Evaluate)):
            return
        yield statement


def _is_no_sync(context: ir.Expr, point: Point, objects: Objects) -> bool:
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
    for statement, _ in placed(block.body):
        for item in calls_of(statement):
            if ir.last_name(item.func) in ("backward", "scale"):
                continue
            if ir.last_name(item.func) not in ("no_sync", "item", "detach", "mean", "sum", "float"):
                return True
    return False


def with_forward(left: LeftOutside, draft: Draft) -> Fix:
    """Move the call of the model, and what stands between, into ``with model.no_sync():``."""
    item = draft.node(left.block.site, cst.WithItem)
    region, context = draft.around(item, cst.With), item.item
    if region is None or len(region.items) != 1:
        raise Doubt("more than no_sync is entered")
    if not isinstance(context, cst.Call) or not isinstance(context.func, cst.Attribute):
        raise Doubt("whose no_sync it is is not known")
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
        raise Doubt("the forward is somewhere else")
    moved = before[calling[-1] :]
    if calling.count(calling[-1]) != len(calling) or not all(
        isinstance(each, (cst.Assign, cst.AugAssign)) for each in moved
    ):
        raise Doubt("there is more between the forward and the backward")
    row = region.body.body[0]
    first = row.body[0] if isinstance(row, cst.SimpleStatementLine) else row
    statements.move_before(draft, first, *moved)  # type: ignore[arg-type]
    return draft.fix("unsafe", "Call the model inside of no_sync() as well")
