"""Where a call leads in the function that it calls, by the constants that it passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.names import Around
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, is_none
from distlint.analyzer.static.reaching_definitions import Point, Search


class _Required(NamedTuple):
    """A test, what it has to come out as on the way to a statement, and where it stands."""

    test: ir.Expr
    wanted: bool
    place: Point


def leads_to(objects: Objects, point: Point, call: CallSite) -> bool:
    """May a call lead to a statement, past the tests of the parameters for which it passes a
    constant?"""
    return all(_outcome(objects, each, call) in (None, each.wanted) for each in _required(point))


def _required(point: Point) -> Iterator[_Required]:
    """The branches around a statement, and those before it that leave the function."""
    for depth, here in enumerate(point.around):
        outside = point.around[:depth]
        if isinstance(here.owner, ir.If):
            is_body = here.block is here.owner.body
            yield _Required(here.owner.test, is_body, Point(point.scope, outside))
        for index, each in enumerate(here.block[: here.index]):
            if isinstance(each, ir.If) and ir.is_left(each.body) != ir.is_left(each.orelse):
                at = Around(here.block, index, here.owner)
                yield _Required(
                    each.test, ir.is_left(each.orelse), Point(point.scope, (*outside, at))
                )


def _outcome(objects: Objects, required: _Required, call: CallSite) -> bool | None:
    """What a test of a parameter comes out as in a call; None if that is not known."""
    test, negated = required.test, False
    while isinstance(test, ir.Not):
        test, negated = test.value, not negated
    asks_for_none = isinstance(test, ir.Compare) and test.ops in {("is",), ("is not",)}
    name = test.left if isinstance(test, ir.Compare) and asks_for_none else test
    if not isinstance(name, ir.Name):
        return None
    value = _passed(objects, name.id, required.place, call)
    if value is ...:
        return None
    if isinstance(test, ir.Compare):
        if not is_none(test.rights[0]):
            return None
        return ((value is None) is (test.ops == ("is",))) is not negated
    return bool(value) is not negated


def _passed(objects: Objects, name: str, place: Point, call: CallSite) -> object:
    """The constant that a call passes for a parameter, as long as it is one; else Ellipsis."""
    function = place.scope.function
    params = {each.name: (i, each) for i, each in enumerate(function.params)} if function else {}
    if function is None or name not in params:
        return ...
    if place.around and Search((name,), place.scope).before(place.around)[0]:
        return ...  # it is something else by then
    position, param = params[name]
    given = objects.argument(call, name, position - bool(function.owner))
    default = param.default.value if isinstance(param.default, ir.Literal) else ...
    return objects.constant(given, call.point, default)
