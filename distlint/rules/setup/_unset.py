"""Processes that no call of ``set_device`` is for, and what their callers do without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere, objects_in
from distlint.analyzer.static.names import calls_of, nodes_of
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.gradients._steps import exclude
from distlint.rules.setup._device_settings import (
    SETTERS,
    binds,
    enters_device,
    is_set_by_framework,
    shows_one_gpu,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distlint.analyzer.ir import Function
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point

_SETS = "set_device"
_DEFAULT = frozenset({"set_default_device", "set_default_tensor_type"})
_MOST_CALLS = 4


def settings_for_others(guards: Guards, init: CallSite) -> list[CallSite]:
    """The calls of ``set_device`` in a file, if none of them is for the process of a group.

    They run where the group is not made, or in the process that starts the others.
    """
    objects = guards.objects
    tokens = objects.module.tokens
    found = list(objects.calls({_SETS}))
    if not found or not tokens.isdisjoint(SETTERS - {_SETS}) or _named(objects) != len(found):
        return []
    joining = list(_way_to(objects, init.point))
    spawned = "fork" not in tokens and any(_is_spawned(guards, each) for each in joining)
    for setting in found:
        setting_up = list(_way_to(objects, setting.point))
        excluded = any(_run_apart(one, other) for one in setting_up for other in joining)
        if not excluded and not (spawned and _starts_others(guards, setting_up)):
            return []
    return found


def _named(objects: Objects) -> int:
    """How often the function is named, called or not."""
    return sum(
        1
        for point in objects.points
        for node in nodes_of(point.statement)
        if isinstance(node, (ir.Name, ir.Attribute)) and ir.last_name(node) == _SETS
    )


def _way_to(objects: Objects, point: Point) -> Iterator[Point]:
    """A statement, and the only call of the function that it is in, and so on."""
    for _ in range(_MOST_CALLS):
        yield point
        function = point.scope.function
        callers = objects.callers(function) if function is not None else []
        if function is None or len(callers) != 1:
            return
        if any(True for _ in calls_elsewhere(objects.module, function)):
            return
        point = callers[0].point


def _is_spawned(guards: Guards, point: Point) -> bool:
    return point.scope.function is not None and guards.launchers.spawns(point.scope.function)


def _starts_others(guards: Guards, way: list[Point]) -> bool:
    """Does a statement run in the process that starts the others, and not in those?"""
    if any(_is_spawned(guards, each) for each in way):
        return False
    last = way[-1]
    if last.scope.function is None:
        tests = [here.owner.test for here in last.around if isinstance(here.owner, ir.If)]
        if not any("__main__" in ir.tokens_of(test) for test in tests):
            return False  # the started processes import the file
    return any(guards.launchers.starts_in(each.scope) for each in way)


def _run_apart(one: Point, other: Point) -> bool:
    """Do two statements of a function never run both: in two arms, or after an arm that leaves?"""
    if one.scope is not other.scope:
        return False
    return exclude(one, other) or _leaves_before(one, other) or _leaves_before(other, one)


def _leaves_before(first: Point, second: Point) -> bool:
    """Is a statement in a branch that returns before the other one?"""
    inside = {id(here.owner) for here in second.around}
    return first.statement.site < second.statement.site and any(
        isinstance(here.owner, ir.If)
        and id(here.owner) not in inside
        and ir.is_left(here.block)
        and not isinstance(here.block[-1], (ir.Continue, ir.Break))
        for here in first.around
    )


def uses_by_callers(objects: Objects, point: Point) -> list[tuple[Objects, ir.Call]]:
    """Where files that let a function make the group use GPU 0, if none of them sets a device."""
    users = dict.fromkeys(
        module
        for function in _functions_up(objects, point)
        for module, _ in calls_elsewhere(objects.module, function)
    )
    near = dict.fromkeys(other for user in users for other in files_near(user))
    if any(map(is_set_by_framework, near)) or any(map(binds, near)):
        return []
    if any(not _DEFAULT.isdisjoint(each.tokens) for each in near):
        return []
    known = [objects_in(each) for each in near]
    if any(_may_set(each) or enters_device(each) for each in known):
        return []
    found = [(where, use) for where in map(objects_in, users) for use in _bare_uses(where)]
    return [] if any(map(shows_one_gpu, known)) else found


def _functions_up(objects: Objects, point: Point) -> list[Function]:
    """The function of a statement, and those of its file that call it."""
    found = [point.scope.function] if point.scope.function is not None else []
    for function in found:  # grows meanwhile
        callers = [site.point.scope.function for site in objects.callers(function)]
        found += [each for each in callers if each is not None and each not in found]
    return found[:_MOST_CALLS]


def _may_set(objects: Objects) -> bool:
    """Is a function called, other than torch's, that has the device in its name?"""
    return any(
        "device" in name.lower() and not objects.called(site).startswith("torch.")
        for name in objects.called_names
        for site in objects.calls({name})
    )


def _bare_uses(objects: Objects) -> Iterator[ir.Call]:
    for point in objects.points:
        for call in calls_of(point.statement):
            if is_bare(call) or _is_bare_device(objects, CallSite(call, point)):
                yield call


def is_bare(call: ir.Call) -> bool:
    """``.cuda()``, ``.to("cuda")``, ``torch.ones(1, device="cuda")``: what allocates there."""
    name = ir.last_name(call.func)
    if name == "cuda" and isinstance(call.func, ir.Attribute):
        return not call.args
    values = [each.value for each in call.args if each.keyword == "device"]
    if name == "to" and call.args and call.args[0].keyword is None:
        values.append(call.args[0].value)
    return any(isinstance(each, ir.Literal) and each.value == "cuda" for each in values)


def _is_bare_device(objects: Objects, site: CallSite) -> bool:
    """``torch.device("cuda")``, and ``torch.device("cuda" if is_available() else "cpu")``."""
    if len(site.call.args) != 1 or objects.called(site) != "torch.device":
        return False
    given = site.call.args[0].value
    arms = (given.body, given.orelse) if isinstance(given, ir.Conditional) else (given,)
    return any(isinstance(each, ir.Literal) and each.value == "cuda" for each in arms)
