"""Losses that a dict holds: a backward pass goes through some, and a loop keeps all of them.

losses = model(batch)
sum(losses.values()).backward()
for name, value in losses.items():
    totals[name] += value
"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, names_given
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.gradients._steps import Backward
from distlint.rules.memory._adding import adds
from distlint.rules.training import leaves_no_gradient

Loop = ir.For | ir.While
Kept = tuple[ir.Stmt, Path, Path]
_DEPTH = 4
"""Through how many variables a loss is followed to the dict that holds it."""


def kept_items(objects: Objects, loop: Loop, backward: Backward) -> Iterator[Kept]:
    """The statements that add up or store the items of a dict with the loss, as they are.

    With what they are added to, and the variable of an item.
    """
    inside = [
        point
        for point in objects.points_in(backward.site.point.scope)
        if any(here.owner is loop and here.block is loop.body for here in point.around)
    ]
    held = set(_dicts(backward.loss, inside, _DEPTH))
    for name in held:
        if not _is_made_once(name, inside):
            continue
        for point in inside:
            if any(leaves_no_gradient(here.owner) for here in point.around):
                continue
            if isinstance(point.statement, ir.For):
                yield from _of_loop(point.statement, name)


def _dicts(node: ir.Expr, inside: list[Point], depth: int) -> Iterator[str]:
    """The dicts that hold what a loss is made of: ``losses["box"]``, ``sum(losses.values())``."""
    for each in expressions_in(node):
        if isinstance(each, ir.Subscript) and isinstance(each.value, ir.Name):
            if isinstance(each.index, ir.Literal) and isinstance(each.index.value, str):
                yield each.value.id
        elif isinstance(each, ir.Call) and isinstance(each.func, ir.Attribute):
            if each.func.attr == "values" and isinstance(each.func.value, ir.Name):
                yield each.func.value.id
    path = path_of(node)
    for point in inside if depth and path is not None else ():
        statement = point.statement
        if isinstance(statement, ir.Assign) and path in map(path_of, statement.targets):
            yield from _dicts(statement.value, inside, depth - 1)


def _is_made_once(name: str, inside: list[Point]) -> bool:
    """Is a dict made by one call, that is no comprehension of numbers?"""
    made = [
        point.statement
        for point in inside
        if name in names_given(point.statement) and not isinstance(point.statement, ir.Evaluate)
    ]
    made = [each for each in made if not _fills(each, name)]
    return (
        len(made) == 1
        and isinstance(made[0], ir.Assign)
        and isinstance(made[0].value, ir.Call)
        and path_of(made[0].value.func) not in (("dict",), ("reduce_dict",))
    )


def _fills(statement: ir.Stmt, name: str) -> bool:
    """Does a statement give a dict another item?"""
    return isinstance(statement, ir.Assign) and not any(
        isinstance(each, (ir.Name, ir.Display)) and name in ir.names_in(each)
        for each in statement.targets
    )


def _of_loop(loop: ir.For, name: str) -> Iterator[Kept]:
    """What a loop over the items of a dict keeps of each of them."""
    item = _item_of(loop, name)
    if item is None:
        return
    for statement in loop.body:
        if item[0] in names_given(statement) or _fills_item(statement, name):
            return
        for kept in adds(statement, item):
            if kept not in (item, (name,)):
                yield statement, kept, item


def _fills_item(statement: ir.Stmt, name: str) -> bool:
    return isinstance(statement, ir.Assign) and any(
        isinstance(each, ir.Subscript) and path_of(each.value) == (name,)
        for each in statement.targets
    )


def _item_of(loop: ir.For, name: str) -> Path | None:
    """The variable of ``for key, value in losses.items()``."""
    call = loop.iterable
    if not isinstance(call, ir.Call) or not isinstance(call.func, ir.Attribute):
        return None
    if path_of(call.func.value) != (name,):
        return None
    if call.func.attr == "values":
        return path_of(loop.target)
    if call.func.attr == "items" and isinstance(loop.target, ir.Display):
        return path_of(loop.target.items[-1])
    return None
