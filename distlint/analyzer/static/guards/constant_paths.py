"""Where a call leads in the function that it calls, by the constants that it passes."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import Gate, gates_before
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, is_none
from distlint.analyzer.static.reaching_definitions import Point, Search


def leads_to(objects: Objects, point: Point, call: CallSite) -> bool:
    """May a call lead to a statement, past the tests of the parameters for which it passes a
    constant?"""
    return all(
        each.wanted is None or _outcome(objects, each, call) in (None, each.wanted)
        for each in gates_before(point)
    )


def _outcome(objects: Objects, gate: Gate, call: CallSite) -> bool | None:
    """What a test of a parameter comes out as in a call; None if that is not known."""
    test, negated = gate.test, False
    while isinstance(test, ir.Not):
        test, negated = test.value, not negated
    asks_for_none = isinstance(test, ir.Compare) and test.ops in {("is",), ("is not",)}
    name = test.left if isinstance(test, ir.Compare) and asks_for_none else test
    if not isinstance(name, ir.Name):
        return None
    value = _passed(objects, name.id, gate.place, call)
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
