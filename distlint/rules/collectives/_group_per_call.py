"""Process groups that a function makes for itself in each call, and the loop that calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from distlint.analyzer import ir
from distlint.analyzer.static.callers import (
    called_elsewhere,
    calls_elsewhere,
    calls_within,
    objects_in,
)
from distlint.analyzer.static.names import Scope, calls_of, expressions_in, nodes_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.collectives._issued import collective_of

MAKER = "torch.distributed.new_group"
_ENDS = frozenset({"destroy_process_group", "init_process_group", "abort"})
_ASKS = frozenset({"get_world_size", "get_rank", "get_group_rank", "get_process_group_ranks"})
_DEPTH = 3
"""How many calls lie between the loop and the function."""
STEADY = frozenset(
    {
        "list", "tuple", "range", "set", "sorted", "len", "int", "get_world_size", "timedelta",
        "min", "max", "device_count",
    }
)  # fmt: skip
"""Functions that give the same for the same arguments."""
_TRAINS = re.compile(r"step|backward|epoch|batch|loader|train")

Loop = ir.For | ir.While


def made_per_call(objects: Objects) -> Iterator[tuple[CallSite, Objects, Loop]]:
    """The calls that make a group for one call of a function, and a training loop around those."""
    for site in objects.calls({"new_group"}):
        if objects.names.dotted(site.call.func, site.point.scope) != MAKER:
            continue
        if _loop_around(site.point) is None:
            found = _looped(objects, site, _needed(site), _DEPTH)
            if found is not None:
                yield site, *found


Place = tuple[Objects, Loop]


def _looped(
    objects: Objects, made: CallSite, needed: frozenset[str] | None, depth: int
) -> Place | None:
    """The loop in which the function of a call that makes groups is called again and again."""
    function = made.point.scope.function
    if function is None or needed is None or not depth or not _is_plain(made.point, function):
        return None
    if _is_returned(made):
        for where, site in _callers(objects, function):
            passed = _passed(where, site, function, needed)
            loop = _loop_around(site.point)
            if loop is not None:
                if _is_used(where, site) and _repeats(where, site, loop, passed):
                    return where, loop
            elif (found := _looped(where, site, passed, depth - 1)) is not None:
                return found
        return None
    return _called_in_loop(objects, function, needed, depth) if _is_used(objects, made) else None


def _called_in_loop(
    objects: Objects, function: ir.Function, needed: frozenset[str], depth: int
) -> Place | None:
    for where, site in _callers(objects, function) if depth else ():
        passed = _passed(where, site, function, needed)
        loop = _loop_around(site.point)
        if loop is not None:
            if _repeats(where, site, loop, passed):
                return where, loop
            continue
        outer = site.point.scope.function
        if outer is not None and passed is not None and _is_plain(site.point, outer):
            found = _called_in_loop(where, outer, passed, depth - 1)
            if found is not None:
                return found
    return None


def _callers(objects: Objects, function: ir.Function) -> Iterator[tuple[Objects, CallSite]]:
    for site in calls_within(objects, function):
        yield objects, site
    for module, site in calls_elsewhere(objects.module, function):
        yield objects_in(module), site


def _is_plain(point: Point, function: ir.Function) -> bool:
    """Does each call of the function get here, and is no group of the call before kept?"""
    if function.decorators or function.generator or not _ENDS.isdisjoint(function.tokens):
        return False
    return not any(isinstance(here.owner, (ir.If, ir.Try)) for here in point.around)


def _loop_around(point: Point) -> Loop | None:
    owners = (here.owner for here in reversed(point.around))
    return next((owner for owner in owners if isinstance(owner, (ir.For, ir.While))), None)


def _repeats(objects: Objects, site: CallSite, loop: Loop, passed: frozenset[str] | None) -> bool:
    """Does a loop train, and pass the same in every turn?"""
    if passed is None or not any(_TRAINS.search(token) for token in ir.block_tokens((loop,))):
        return False
    return _ENDS.isdisjoint(ir.block_tokens(loop.body)) and passed.isdisjoint(
        changing_in(objects, loop, site.call)
    )


def changing_in(objects: Objects, loop: Loop, besides: ir.Call | None = None) -> set[str]:
    """The variables that are not the same in every turn of a loop."""
    changing = set(ir.names_bound(loop.target)) if isinstance(loop, ir.For) else set()
    before = -1
    while before != len(changing):
        before = len(changing)
        for statement, _ in placed(loop.body):
            if isinstance(statement, ir.Assign):
                if statement.value is not besides and changes(objects, statement.value, changing):
                    changing |= ir.bound_by(statement)
            elif isinstance(statement, (ir.AugAssign, ir.For)):
                changing |= ir.names_bound(statement.target)
            else:
                changing |= ir.bound_by(statement)
    return changing


def changes(objects: Objects, value: ir.Expr, changing: Set[str]) -> bool:
    """Is a value made of something that changes, or by code that is not known to be steady?"""
    for node in expressions_in(value):
        if isinstance(node, ir.Name) and node.id in changing:
            return True
        if isinstance(node, ir.Call) and ir.last_name(node.func) not in STEADY:
            only = _only_value(objects, node)
            if only is None or changes(objects, only, frozenset()):
                return True
        if isinstance(node, (ir.Yield, ir.Opaque)):
            return True
    return False


def _only_value(objects: Objects, call: ir.Call) -> ir.Expr | None:
    """What a function of a file returns that does nothing else."""
    found = called_elsewhere(objects.module, call.func)
    own = [each for each in objects.module.functions if path_of(call.func) == (each.name,)]
    function = found[1] if found is not None else own[0] if len(own) == 1 else None
    only = function.body[0] if function is not None and len(function.body) == 1 else None
    return only.value if isinstance(only, ir.Return) else None


def _needed(site: CallSite) -> frozenset[str] | None:
    """The variables that the ranks of a group are made of; None if they are not known."""
    return _made_of(tuple(each.value for each in site.call.args), site.point.scope)


def _made_of(
    values: tuple[ir.Expr, ...], scope: Scope, *, follow: bool = True
) -> frozenset[str] | None:
    """All variables that expressions are made of, through the assignments of their function."""
    found: set[str] = set()
    open_ = list(values)
    while open_:
        for node in expressions_in(open_.pop()):
            if isinstance(node, ir.Call) and ir.last_name(node.func) not in STEADY:
                return None
            if isinstance(node, (ir.Yield, ir.Opaque)):
                return None
            if not isinstance(node, ir.Name) or node.id in found:
                continue
            found.add(node.id)
            for statement, _ in placed(scope.body) if follow else ():
                if isinstance(statement, ir.Assign) and node.id in ir.bound_by(statement):
                    open_.append(statement.value)
                elif node.id in ir.bound_by(statement):
                    return None
    return frozenset(found)


def _passed(
    objects: Objects, site: CallSite, function: ir.Function, needed: frozenset[str]
) -> frozenset[str] | None:
    """The variables that a call passes for the parameters that are needed."""
    params = [param for param in function.params if not param.star]
    values: list[ir.Expr] = []
    for index, param in enumerate(params):
        if param.name in needed and param.name != "self":
            given = objects.argument(site, param.name, index - bool(function.owner))
            if given.value is None and (not given.known or param.default is None):
                return None
            if given.value is not None:
                values.append(given.value)
    in_loop = _loop_around(site.point) is not None  # what changes there is looked at by itself
    return _made_of(tuple(values), site.point.scope, follow=not in_loop)


def _is_returned(made: CallSite) -> bool:
    """Does the function return what the call makes, alone or as one of several?"""
    statement = made.point.statement
    if isinstance(statement, ir.Return):
        return True
    names = _holders(made)
    return any(
        isinstance(each, ir.Return)
        and each.value is not None
        and any(isinstance(n, ir.Name) and n.id in names for n in expressions_in(each.value))
        for each, _ in placed(made.point.scope.body)
    )


def _holders(made: CallSite) -> frozenset[str]:
    """The variables that hold what a call makes."""
    statement = made.point.statement
    if not isinstance(statement, ir.Assign) or not all(
        isinstance(target, ir.Name) for target in statement.targets
    ):
        return frozenset()
    return ir.bound_by(statement)


def _is_used(objects: Objects, made: CallSite) -> bool:
    """Is a group used by collectives of its function alone, and not stored?"""
    names, scope = _holders(made), made.point.scope
    if not names:
        return _communicates(objects, made.point, made.call)
    used = False
    for point in objects.points_in(scope):
        statement = point.statement
        mentions = statement is not made.point.statement and any(
            isinstance(node, ir.Name) and node.id in names for node in nodes_of(statement)
        )
        if mentions and not _communicates(objects, point, None):
            if not _only_asks(statement, names):
                return False
            continue
        used = used or mentions
    return used


def _only_asks(statement: ir.Stmt, names: frozenset[str]) -> bool:
    """Does a statement do nothing with a group but ask for its size, or the rank in it?"""
    asked = {
        id(argument.value)
        for node in nodes_of(statement)
        if isinstance(node, ir.Call) and ir.last_name(node.func) in _ASKS
        for argument in node.args
    }
    return all(
        id(node) in asked
        for node in nodes_of(statement)
        if isinstance(node, ir.Name) and node.id in names
    )


def _communicates(objects: Objects, point: Point, group: ir.Call | None) -> bool:
    """Does a statement call a collective, and is it given the group?"""
    for call in calls_of(point.statement):
        if call is group or collective_of(objects, CallSite(call, point)) is None:
            continue
        if group is None or any(group in expressions_in(argument.value) for argument in call.args):
            return True
    return False
