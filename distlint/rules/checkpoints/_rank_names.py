"""Whether the name of a file or directory is made with the rank, on every way to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import passed_by_name, run_by
from distlint.analyzer.static.guards.guards import guards_in
from distlint.analyzer.static.journeys import returned_by
from distlint.analyzer.static.objects.sites import CallSite

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.reaching_definitions import Point

_RANK = re.compile(r"^((local|global)_)?rank$|^get_((local|global)_)?rank$|^process_index$")
_VARIABLES = frozenset({"RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"})
_FORMS = frozenset({"join", "joinpath", "Path", "str", "int", "format", "zfill"})
"""Calls whose value holds what they are given."""
_JOINS = frozenset({"+", "/"})
_DEPTH = 4
"""How many variables and functions are followed."""


def is_named_by_rank(guards: Guards, node: ir.Expr, point: Point) -> bool:
    """Is a name made with the rank, where it is used or where what it is made of is assigned?"""
    if any(_RANK.search(token) for token in ir.tokens_of(node)):
        return True
    return _holds(guards, node, point, _DEPTH)


def _holds(guards: Guards, node: ir.Expr, point: Point, depth: int) -> bool:
    if _is_rank(node):
        return True
    if isinstance(node, (ir.Name, ir.Attribute)):
        return depth > 0 and _is_assigned(guards, node, point, depth - 1)
    if isinstance(node, ir.Call) and ir.last_name(node.func) not in _FORMS:
        return depth > 0 and _is_returned(guards, CallSite(node, point), depth - 1)
    return any(_holds(guards, part, point, depth) for part in _parts(node))


def _is_rank(node: ir.Expr) -> bool:
    if isinstance(node, ir.Call) and _RANK.search(ir.last_name(node.func)):
        return True
    if isinstance(node, ir.Call) and ir.last_name(node.func) in ("get", "getenv"):
        return any(_is_variable(each.value) for each in node.args[:1])
    if isinstance(node, ir.Subscript):
        return _is_variable(node.index)
    return isinstance(node, (ir.Name, ir.Attribute)) and bool(_RANK.search(ir.last_name(node)))


def _is_variable(node: ir.Expr) -> bool:
    return isinstance(node, ir.Literal) and node.value in _VARIABLES


def _parts(node: ir.Expr) -> Iterator[ir.Expr]:
    """What a text or a path is joined of."""
    if isinstance(node, ir.Format):
        yield from node.parts
    elif isinstance(node, ir.Binary) and node.op in _JOINS:
        yield from (node.left, node.right)
    elif isinstance(node, ir.Binary) and node.op == "%" and _is_text(node.left):
        yield from node.right.items if isinstance(node.right, ir.Display) else (node.right,)
    elif isinstance(node, ir.Call):
        if isinstance(node.func, ir.Attribute):
            yield node.func.value
        yield from (each.value for each in node.args)


def _is_text(node: ir.Expr) -> bool:
    return isinstance(node, ir.Format) or (
        isinstance(node, ir.Literal) and isinstance(node.value, str)
    )


def _is_assigned(guards: Guards, node: ir.Name | ir.Attribute, point: Point, depth: int) -> bool:
    """Does each assignment that may be meant give it such a name?"""
    found = [
        (value, where)
        for value, where in guards.assignments.reaching(node, point)
        if where.statement is not point.statement
    ]
    if isinstance(node, ir.Attribute) and len(found) > 1:
        return False  # it may be that of another object
    return bool(found) and all(_holds(guards, value, where, depth) for value, where in found)


def _is_returned(guards: Guards, site: CallSite, depth: int) -> bool:
    """Does a function of the project return such a name, or one with what it is given?"""
    run = run_by(guards.objects, site)
    if run is None or run[1].generator:
        return False
    objects, function = run
    there = guards if objects is guards.objects else guards_in(objects.module)
    passed = passed_by_name(function, site.call) or {}
    given = {
        name
        for name, value in passed.items()
        if value is not None and _holds(guards, value, site.point, depth)
    }
    returned = list(returned_by(objects, function))
    return bool(returned) and all(
        _holds(there, value, at, depth) or not given.isdisjoint(_names(value))
        for value, at in returned
    )


def _names(node: ir.Expr) -> Iterator[str]:
    """The variables that a name is joined of."""
    if isinstance(node, ir.Name):
        yield node.id
    else:
        for part in _parts(node):
            yield from _names(part)
