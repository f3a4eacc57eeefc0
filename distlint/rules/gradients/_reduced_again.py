"""Running totals that are reduced in the loop that adds to them."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, expressions_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, place_of
from distlint.rules.gradients._gathered import is_loop
from distlint.rules.gradients._summed_over_ranks import adds_up


def reduced_totals(objects: Objects) -> Iterator[tuple[CallSite, ir.AugAssign]]:
    """Where such a total is reduced, and where it is added to."""
    for site in _reduced_in_place(objects):
        path = place_of(objects.argument(site, "tensor", 0).value)
        loop = site.point.around[-1].owner
        if path is None:
            continue
        added = None
        for point in objects.points_in(site.point.scope):
            if all(here.owner is not loop for here in point.around):
                continue
            statement = point.statement
            if isinstance(statement, ir.AugAssign) and place_of(statement.target) == path:
                added = statement if statement.op == "+" else None
                if added is None:
                    break
            elif _rebinds(statement, path):
                added = None
                break
        if added is not None and _is_read(objects, path, site, added):
            yield site, added


def _reduced_in_place(objects: Objects) -> Iterator[CallSite]:
    """Statements of loops by which the ranks add up a value in place, also by a helper's."""
    for point in objects.points:
        statement, call = point.statement, getattr(point.statement, "value", None)
        if isinstance(statement, ir.Evaluate) and isinstance(call, ir.Call) and call.args:
            site = CallSite(call, point)
            if _is_plain(site) and adds_up(objects, site):
                yield site


def _is_read(objects: Objects, path: Path, site: CallSite, added: ir.Stmt) -> bool:
    """Does anything look at the total, beside what adds to it and what reduces it?"""
    for point in objects.points_in(site.point.scope):
        statement = point.statement
        if statement is added or statement is site.point.statement:
            continue
        roots = expressions_of(statement)
        if isinstance(statement, ir.Assign):
            roots = (statement.value,)
        if any(_holds(root, path) for root in roots):
            return True
    return False


def _holds(node: ir.Expr, place: Path) -> bool:
    return any(place_of(part) == place for part in expressions_in(node))


def _is_plain(site: CallSite) -> bool:
    """Is the call a statement of its own, in the loop's body itself, without a subgroup?"""
    owner = site.point.around[-1].owner
    return is_loop(owner) and all(argument.keyword != "group" for argument in site.call.args)


def _rebinds(statement: ir.Stmt, path: Path) -> bool:
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    if isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
        func = statement.value.func  # total.zero_(), total.copy_(...)
        if isinstance(func, ir.Attribute) and func.attr.endswith("_"):
            return place_of(func.value) == path
    return any(_holds(target, path) for target in targets)
