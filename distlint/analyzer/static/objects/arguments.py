"""Which expression a call passes for a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of


@dataclass(frozen=True, slots=True)
class Passed:
    """What a call passes for a parameter: None for nothing, unless ``known`` is False.

    It is not known after ``*args`` and ``**kwargs`` that are not spelled out in the module, nor
    where it is one of several items of a dict: ``items`` has what it may be.
    """

    value: ir.Expr | None
    known: bool = True
    items: tuple[tuple[ir.Expr, Point], ...] = ()

    @property
    def absent(self) -> bool:
        return self.known and self.value is None


Items = Callable[[ir.Expr, Point, str], Passed]
"""What the dict at a point has under a name."""


def passed_for(site: CallSite, name: str, position: int | None, items: Items) -> Passed:
    """What a call passes for the parameter of this name and position."""
    known = True
    for index, argument in enumerate(site.call.args):
        if argument.keyword == name:
            return Passed(argument.value)
        if argument.star == "*":
            known = known and position is None
        elif argument.star:
            item = items(argument.value, site.point, name)
            if item.value is not None or item.items:
                return item
            known = known and item.known
        elif index == position and argument.keyword is None and known:
            return Passed(argument.value)
    return Passed(None, known)


def items_of(made: ir.Expr | ir.Function | ir.Class) -> dict[str, ir.Expr] | None:
    """The items of a dict that an expression spells out; None if it does not."""
    if isinstance(made, ir.Call) and path_of(made.func) == ("dict",):
        items = {a.keyword: a.value for a in made.args}
        return {k: v for k, v in items.items() if k} if None not in items else None
    if not isinstance(made, ir.DictDisplay):
        return None
    found: dict[str, ir.Expr] = {}
    for key, value in zip(made.keys, made.values, strict=True):
        if not (isinstance(key, ir.Literal) and isinstance(key.value, str)):
            return None
        found[key.value] = value
    return found


def changed_in(index: Index) -> list[tuple[ir.Expr, Point]]:
    """The expressions whose objects a module changes, by an item or by a method of dicts."""
    found: list[tuple[ir.Expr, Point]] = []
    for point in index.points:
        statement = point.statement
        targets: tuple[ir.Expr, ...] = ()
        if isinstance(statement, (ir.Assign, ir.Delete)):
            targets = statement.targets
        elif isinstance(statement, (ir.AugAssign, ir.For)):
            targets = (statement.target,)
        found += [(t.value, point) for t in targets if isinstance(t, ir.Subscript)]
    for site in index.calls({"update", "setdefault", "pop", "clear", "popitem"}):
        if isinstance(site.call.func, ir.Attribute):
            found.append((site.call.func.value, site.point))
    return found
