"""Values that are numbers of Python, or lists and arrays: no tensor, and so on no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects

_MAKES_NUMBERS = frozenset({"int", "float", "bool", "len", "id", "hash"})
_KEEPS_NUMBERS = frozenset({"abs", "max", "min", "round", "sum"})
_METHODS = frozenset({"item", "tolist", "numpy"})
_LIBRARIES = ("numpy.", "math.", "time.", "random.", "os.", "sklearn.")
_LISTS = (ir.Display, ir.Comprehension)


def is_no_tensor(
    objects: Objects, node: ir.Expr, point: Point, outer: frozenset[str] = frozenset()
) -> bool:
    """Is a value a number, a list or an array, whatever is in it?

    ``outer`` are the variables that are being looked at: ``total = total + len(batch)``.
    """
    if isinstance(node, _LISTS):
        return True
    if isinstance(node, ir.Literal):
        return isinstance(node.value, (int, float))
    if isinstance(node, ir.Not):
        return True
    if isinstance(node, ir.Unary):
        return is_no_tensor(objects, node.value, point, outer)
    if isinstance(node, ir.Binary):
        sides = (node.left, node.right)
        return all(is_no_tensor(objects, each, point, outer) for each in sides)
    if isinstance(node, ir.Conditional):
        arms = (node.body, node.orelse)
        return all(is_no_tensor(objects, each, point, outer) for each in arms)
    if isinstance(node, ir.Call):
        return _is_made(objects, CallSite(node, point), outer)
    return isinstance(node, ir.Name) and _is_variable(objects, node.id, point, outer)


def _is_made(objects: Objects, site: CallSite, outer: frozenset[str]) -> bool:
    func, args = site.call.func, site.call.args
    if isinstance(func, ir.Attribute) and func.attr in _METHODS and not args:
        return True
    if objects.called(site).startswith(_LIBRARIES):
        return True
    if not isinstance(func, ir.Name) or objects.callee(site) is not None:
        return False
    return func.id in _MAKES_NUMBERS or (
        func.id in _KEEPS_NUMBERS
        and bool(args)
        and all(
            not isinstance(each.value, _LISTS)
            and is_no_tensor(objects, each.value, site.point, outer)
            for each in args
        )
    )


def _is_variable(objects: Objects, name: str, point: Point, outer: frozenset[str]) -> bool:
    """Does a function assign nothing else to a variable?"""
    if name in outer:
        return True
    if point.scope.has_param(name):
        return False
    values = list(_assigned(objects, name, point))
    return bool(values) and all(
        value is not None and is_no_tensor(objects, value, at, outer | {name})
        for value, at in values
    )


def _assigned(objects: Objects, name: str, point: Point) -> Iterator[tuple[ir.Expr | None, Point]]:
    for each in objects.points_in(point.scope):
        statement = each.statement
        if name not in ir.bound_by(statement):
            continue
        if isinstance(statement, ir.AugAssign):
            yield statement.value, each
        elif isinstance(statement, ir.Assign):
            for target in statement.targets:
                if name in ir.names_bound(target):
                    yield _part(target, statement.value, name), each
        else:
            yield None, each


def _part(target: ir.Expr, value: ir.Expr, name: str) -> ir.Expr | None:
    """What a variable is given by ``a, b = 0, 0``."""
    if isinstance(target, ir.Name):
        return value
    if isinstance(target, ir.Display) and isinstance(value, ir.Display):
        pairs = zip(target.items, value.items, strict=False)
        found = [v for t, v in pairs if isinstance(t, ir.Name) and t.id == name]
        return found[0] if len(found) == 1 and len(target.items) == len(value.items) else None
    return None
