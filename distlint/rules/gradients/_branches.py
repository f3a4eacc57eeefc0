"""Settings on which a statement is reached, and whether two statements need different ones."""

from __future__ import annotations

from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of

_DEPTH = 4
"""How many variables and parts of a test are followed."""


class Setting(NamedTuple):
    """A variable that has to be true, or to be equal to something: ``args.strategy == "fsdp"``."""

    path: Path
    equal: object
    """The literal or dotted name that it is compared with; None if its truth is asked for."""
    holds: bool


def settings_of(
    objects: Objects, test: ir.Expr, wanted: bool, point: Point, depth: int = _DEPTH
) -> set[Setting]:
    """What must hold of the settings so that a test comes out as wanted."""
    if not depth:
        return set()
    if isinstance(test, ir.Not):
        return settings_of(objects, test.value, not wanted, point, depth)
    if isinstance(test, ir.BoolOp):
        if (test.op == "and") is not wanted:
            return set()
        parts = (settings_of(objects, each, wanted, point, depth - 1) for each in test.values)
        return {setting for part in parts for setting in part}
    if isinstance(test, ir.Compare):
        return _compared(objects, test, wanted, point)
    path = path_of(test)
    if path is None:
        return set()
    found = {Setting(path, None, wanted)}
    held = _held(objects, test, point)
    if held is not None:
        found |= settings_of(objects, held[0], wanted, held[1], depth - 1)
    return found


def _held(objects: Objects, node: ir.Expr, point: Point) -> tuple[ir.Expr, Point] | None:
    """The only value that a function assigns to a variable, and where."""
    if not isinstance(node, ir.Name):
        return None
    assigned = list(objects.assigned_to(node.id, point.scope))
    statement = assigned[0].statement if len(assigned) == 1 else None
    if not isinstance(statement, ir.Assign) or not isinstance(statement.targets[0], ir.Name):
        return None
    return statement.value, assigned[0]


def _compared(objects: Objects, test: ir.Compare, wanted: bool, point: Point) -> set[Setting]:
    if len(test.ops) != 1 or test.ops[0] not in ("==", "!=", "is", "is not"):
        return set()
    left, right = test.left, test.rights[0]
    if isinstance(left, ir.Literal):
        left, right = right, left
    path, equal = path_of(left), _compared_with(right)
    if path is None or equal is None:
        return set()
    found = {Setting(path, equal, wanted is (test.ops[0] in ("==", "is")))}
    held = _held(objects, left, point)
    constant = _compared_with(held[0]) if held is not None else None
    if constant is not None:
        found.add(Setting(path, constant, True))
    return found


def _compared_with(node: ir.Expr) -> object:
    return node.value if isinstance(node, ir.Literal) else path_of(node)


def contradict(one: set[Setting], other: set[Setting]) -> bool:
    """Do two sets of settings never hold together, or does one never hold?"""
    together = one | other
    for path, equal, holds in together:
        if (path, equal, not holds) in together:
            return True
        if holds and equal is not None:
            if any(
                each.path == path and each.holds and each.equal not in (None, equal)
                for each in together
            ):
                return True
    return False
