"""What a dict has under a name, where statements fill it before it is passed as ``**options``.

options = {"batch_size": 8}
if distributed:
    options["sampler"] = DistributedSampler(data)
options.update(drop_last=True)
loader = DataLoader(data, **options)
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import Around, Scope, placed
from distlint.analyzer.static.objects.arguments import Passed, changed_in
from distlint.analyzer.static.objects.classes import Classes, is_static
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import (
    Binding,
    Path,
    Point,
    Search,
    item_of,
    path_of,
)

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.origins import Origins

_DEPTH = 6
"""Through how many variables, calls and returns a dict is followed."""


class NoValue(Enum):
    """Why a dict has no value under a name that could be named."""

    ABSENT = auto()
    UNKNOWN = auto()


Found = tuple[ir.Expr, Point] | NoValue
"""A value and where it is evaluated."""


class DictItems:
    """The items of the dicts of one module."""

    def __init__(self, index: Index, classes: Classes, origins: Origins) -> None:
        self._index = index
        self._classes = classes
        self._origins = origins

    @cached_property
    def changed(self) -> frozenset[object]:
        """What made the objects that the module changes."""
        return frozenset(node for node, _ in self._changes)

    @cached_property
    def _changes(self) -> list[tuple[object, Scope]]:
        return [
            (origin.node, point.scope)
            for node, point in changed_in(self._index)
            for origin in self._origins.of(node, point)
        ]

    def item(self, node: ir.Expr, point: Point, name: str) -> Passed:
        """What a dict has under a name at a statement."""
        found = self.found(node, point, name)
        values = tuple(each for each in found if not isinstance(each, NoValue))
        if NoValue.UNKNOWN not in found:
            if not values:
                return Passed(None)
            if len(found) == 1 and values[0][1].scope is point.scope:
                return Passed(values[0][0], True, values)
        return Passed(None, False, values)

    def found(self, node: ir.Expr, point: Point, name: str) -> list[Found]:
        """All that a dict may have under a name at a statement."""
        scopes: list[Scope] = []
        found = dict.fromkeys(self._look_up(node, point, name, _DEPTH, scopes))
        if self._changes_elsewhere(node, point, scopes):
            found[NoValue.UNKNOWN] = None
        return list(found)

    def _changes_elsewhere(self, node: ir.Expr, point: Point, scopes: list[Scope]) -> bool:
        """Does a function that was not looked into change the dict?"""
        made = {origin.node for origin in self._origins.of(node, point)}
        return any(
            each in made and scope not in scopes
            for items in dict.fromkeys((self, *map(self._at, scopes)))
            for each, scope in items._changes
        )

    def _at(self, scope: Scope) -> DictItems:
        """The items of the dicts of the file that a function stands in."""
        return self._origins.of_module(scope.module).dicts

    def _look_up(
        self, node: ir.Expr, point: Point, name: str, depth: int, scopes: list[Scope]
    ) -> Iterator[Found]:
        if not depth:
            yield NoValue.UNKNOWN
            return
        there = self._at(point.scope)
        if there is not self:
            yield from there._look_up(node, point, name, depth, scopes)
            return
        inner = _inside(node, name)
        path = path_of(node)
        if inner is not None:
            for value, is_dict in inner:
                if is_dict:
                    yield from self._look_up(value, point, name, depth - 1, scopes)
                else:
                    yield value, point
            if not inner:
                yield NoValue.ABSENT
        elif path is not None:
            yield from self._of_path(path, point, name, depth, scopes)
        elif isinstance(node, ir.Call):
            yield from self._of_call(CallSite(node, point), name, depth, scopes)
        else:
            yield NoValue.UNKNOWN

    def _of_path(
        self, path: Path, point: Point, name: str, depth: int, scopes: list[Scope]
    ) -> Iterator[Found]:
        scope = point.scope
        scopes.append(scope)
        bindings, complete = Search((*path, item_of(name)), scope).before(point.around)
        yield from self._bound(bindings, name, depth, scopes)
        function = scope.function
        if complete:
            return
        if function is not None and path[0] in function.locals:
            yield from self._at_start(function, path, name, depth, scopes)
        elif function is not None and scope.outer is not None:
            outer = scope.outer
            scopes.append(outer)
            bindings, complete = Search((*path, item_of(name)), outer, True).in_block(outer.body)
            yield from self._bound(bindings, name, depth, scopes)
            if not complete:
                yield NoValue.UNKNOWN
        else:
            yield NoValue.UNKNOWN

    def _bound(
        self, bindings: list[Binding], name: str, depth: int, scopes: list[Scope]
    ) -> Iterator[Found]:
        for binding in bindings:
            if not isinstance(binding.node, ir.Expr) or binding.items:
                yield NoValue.UNKNOWN
            elif not binding.rest:
                yield binding.node, binding.point
            elif binding.rest == (item_of(name),):
                yield from self._look_up(binding.node, binding.point, name, depth - 1, scopes)
            else:
                yield NoValue.UNKNOWN

    def _at_start(
        self, function: ir.Function, path: Path, name: str, depth: int, scopes: list[Scope]
    ) -> Iterator[Found]:
        """An item of a dict that a function is given, or that its object keeps."""
        param = next((each for each in function.params if each.name == path[0]), None)
        cls = self._classes.by_method.get(function)
        if param is None or param.star:
            yield NoValue.UNKNOWN
        elif cls is not None and function.params[0] is param and len(path) > 1:
            for each in self._classes.with_bases(cls):
                rest = (*path[1:], item_of(name))
                bindings = list(self._classes.assigned_by_methods(each, rest))
                yield from self._bound(bindings, name, depth, scopes)
                scopes += [s for m in each.methods.values() if (s := self._index.scope_of(m))]
        elif len(path) > 1:
            yield NoValue.UNKNOWN
        else:
            yield from self._from_callers(function, param, name, depth, scopes)

    def _from_callers(
        self, function: ir.Function, param: ir.Param, name: str, depth: int, scopes: list[Scope]
    ) -> Iterator[Found]:
        position = next(n for n, each in enumerate(function.params) if each is param)
        bound = function in self._classes.by_method and not is_static(function)
        callers = self._origins.calls.callers(function)
        for site in callers:
            passed = self._origins.argument(site, param.name, position - bound)
            if passed.value is None:
                yield NoValue.UNKNOWN
            else:
                yield from self._look_up(passed.value, site.point, name, depth - 1, scopes)
        if not callers:
            yield NoValue.UNKNOWN

    def _of_call(
        self, site: CallSite, name: str, depth: int, scopes: list[Scope]
    ) -> Iterator[Found]:
        """An item of the dict that a function of the module returns, or that ``copy`` repeats."""
        func = site.call.func
        there, function = self._origins.calls.called(site) or (self._origins, None)
        scope = there.scope_of(function) if isinstance(function, ir.Function) else None
        if scope is not None and scope.function is not None and not scope.function.generator:
            for statement, around in placed(scope.body):
                if isinstance(statement, ir.Return) and statement.value is not None:
                    here: tuple[Around, ...] = around
                    yield from self._look_up(
                        statement.value, Point(scope, here), name, depth - 1, scopes
                    )
        elif isinstance(func, ir.Attribute) and func.attr == "copy" and not site.call.args:
            yield from self._look_up(func.value, site.point, name, depth - 1, scopes)
        else:
            yield NoValue.UNKNOWN


def _inside(node: ir.Expr, name: str) -> list[tuple[ir.Expr, bool]] | None:
    """The values that a dict is written down with for a name, and whether these are dicts.

    None if the expression spells out no dict.
    """
    if isinstance(node, ir.Conditional):
        return [(node.body, True), (node.orelse, True)]
    if isinstance(node, ir.Call) and path_of(node.func) == ("dict",):
        given = [a for a in node.args if a.keyword == name or not a.keyword]
        return [(a.value, not a.keyword) for a in given]
    if not isinstance(node, ir.DictDisplay):
        return None
    found: list[tuple[ir.Expr, bool]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ir.Literal) and key.value == name:
            found = [(value, False)]
        elif not isinstance(key, ir.Literal):
            found.append((value if key is None else ir.Opaque(0), True))
    return found
