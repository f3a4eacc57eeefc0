"""Calls of ``set_epoch`` with a number that is the same in each pass over the data.

start = checkpoint["epoch"]
for epoch in range(start, epochs):
    sampler.set_epoch(start)  # the number that a run begins with, not that of the pass
"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import names_given, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.training import loops_around, repeats

_DEPTH = 5
"""Through how many variables, parameters and calls a number is followed."""
_ARGUMENTS = frozenset({"parse_args", "parse_known_args"})
_NUMBERS = frozenset({"int", "max", "min", "abs"})
_RANGES = frozenset({("range",), ("trange",)})
_SETS_ANY = frozenset({"setattr", "__dict__", "vars"})


def is_same_in_each_pass(objects: Objects, told: CallSite) -> bool:
    """Is a call of ``set_epoch`` given a number that nothing changes between two passes?"""
    given = [argument.value for argument in told.call.args if not argument.star]
    return len(given) == len(told.call.args) == 1 and (
        _is_fixed(objects, given[0], told.point, _DEPTH) or _begins_loop(given[0], told.point)
    )


def _begins_loop(node: ir.Expr, point: Point) -> bool:
    """Is it the number from which a loop after a statement counts on?

    sampler.set_epoch(start)
    for epoch in range(start, epochs):
        ...
    """
    path = path_of(node)
    if path is None or any(loops_around(point)):
        return False
    return any(
        _counts_from(statement, path)
        for here in point.around
        for statement in here.block[here.index + 1 :]
    )


def _counts_from(statement: ir.Stmt, path: Path) -> bool:
    if isinstance(statement, ir.For):
        call = statement.iterable
        while isinstance(call, ir.Call) and path_of(call.func) not in _RANGES and call.args:
            call = call.args[0].value  # tqdm(range(start, epochs))
        return (
            isinstance(call, ir.Call) and len(call.args) > 1 and path_of(call.args[0].value) == path
        )
    if not isinstance(statement, ir.While) or not isinstance(statement.test, ir.Compare):
        return False
    return path_of(statement.test.left) == path and any(
        isinstance(inner, ir.AugAssign) and path_of(inner.target) == path
        for inner in statement.body
    )


def _is_fixed(objects: Objects, node: ir.Expr, point: Point, depth: int) -> bool:
    """Has an expression one value in each run of a statement?"""
    if isinstance(node, ir.Literal):
        return True
    if not depth:
        return False
    path = path_of(node)
    if path is not None and len(path) == 1:
        return _is_fixed_name(objects, path[0], point, depth)
    if path is not None and len(path) == 2:
        return _is_fixed_attribute(objects, node, point)
    if isinstance(node, ir.Call) and path_of(node.func) not in {(name,) for name in _NUMBERS}:
        return False
    if not isinstance(node, (ir.Call, ir.Unary, ir.Binary)):
        return False
    inner = (
        [argument.value for argument in node.args]
        if isinstance(node, ir.Call)
        else [each for each in ir.children(node) if isinstance(each, ir.Expr)]
    )
    return all(_is_fixed(objects, each, point, depth - 1) for each in inner)


def _is_fixed_name(objects: Objects, name: str, point: Point, depth: int) -> bool:
    scope = point.scope
    while scope.function is not None and name not in scope.function.locals and scope.outer:
        scope = scope.outer
    if any(name in each.outer for each in objects.module.functions):
        return False  # a function writes it, whenever it runs
    binders = [each for each in objects.points_in(scope) if name in names_given(each.statement)]
    function = scope.function
    if function is not None and scope.has_param(name):
        return not binders and _is_given_fixed(objects, function, name, depth)
    if not binders or not all(map(_is_plain, binders)):
        return False
    if function is None or scope is not point.scope or _passes_around(objects, point):
        return True
    values = [(p.statement.value, p) for p in binders if isinstance(p.statement, ir.Assign)]
    return all(_is_fixed(objects, value, at, depth - 1) for value, at in values)


def _is_plain(point: Point) -> bool:
    """Is it an assignment outside of loops?"""
    return isinstance(point.statement, ir.Assign) and not any(loops_around(point))


def _passes_around(objects: Objects, told: Point) -> bool:
    """Does a function that runs once go through the data in a loop around a statement?

    Not a loop over samplers, each of which is told of one pass.
    """
    function = told.scope.function
    loops = [each for each in loops_around(told) if repeats(each)]
    statement = told.statement
    func = getattr(getattr(statement, "value", None), "func", None)
    path = path_of(func)
    if not loops or function is None or path is None:
        return False
    if any(path[0] in names_given(each) for each in loops):
        return False
    return not any(any(loops_around(site.point)) for site in objects.callers(function))


def _is_given_fixed(objects: Objects, function: ir.Function, name: str, depth: int) -> bool:
    """Do all calls of a function pass one value for a parameter?"""
    position = next(n for n, each in enumerate(function.params) if each.name == name)
    callers = objects.callers(function)
    if function.owner or len(callers) < sum(function.name in _mentions(p) for p in objects.points):
        return False  # methods may be called by others, functions handed on
    if objects.module.importers(function.name):
        return False
    passed = [(objects.argument(site, name, position), site.point) for site in callers]
    return bool(passed) and all(
        each.value is not None and _is_fixed(objects, each.value, at, depth - 1)
        for each, at in passed
    )


def _mentions(point: Point) -> Iterator[str]:
    return (node.id for node in nodes_of(point.statement) if isinstance(node, ir.Name))


def _is_fixed_attribute(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it an attribute that the project gives a value only when it sets up or resumes?"""
    if not isinstance(node, ir.Attribute) or not _SETS_ANY.isdisjoint(objects.module.tokens):
        return False
    written = list(_writers(objects, node.attr))
    if any(not _is_plain(each) for each in written):
        return False
    if path_of(node.value) != ("self",):
        origins = objects.origins(node.value, point)
        return (
            not written
            and bool(origins)
            and all(
                each.call is not None and ir.last_name(each.call.func) in _ARGUMENTS
                for each in origins
            )
        )
    cls = objects.own_class(node.value, point)
    known = cls is not None and not cls.bases and _is_known_alone(objects, cls, node.attr)
    return known and bool(written) and all(_is_set_up(objects, each) for each in written)


def _writers(objects: Objects, name: str) -> Iterator[Point]:
    """The statements of a file that give an attribute of this name a value, on any object."""
    for point in objects.points:
        statement = point.statement
        targets = statement.targets if isinstance(statement, (ir.Assign, ir.Delete)) else ()
        if isinstance(statement, (ir.AugAssign, ir.For, ir.With)) and statement.target is not None:
            targets = (statement.target,)
        for target in targets:
            items = target.items if isinstance(target, ir.Display) else (target,)
            if any(isinstance(each, ir.Attribute) and each.attr == name for each in items):
                yield point


def _is_known_alone(objects: Objects, cls: ir.Class, name: str) -> bool:
    """Does no file that knows a class speak of an attribute of this name?"""
    return all(name not in each.tokens for each in objects.module.importers(cls.name))


def _is_set_up(objects: Objects, point: Point) -> bool:
    """Does a statement set an object up, or resume a run: is it in no function run by a loop?"""
    function = point.scope.function
    if function is None or function.name == "__init__":
        return True
    assert isinstance(point.statement, ir.Assign)
    if not point.scope.has_param(getattr(point.statement.value, "id", "")):
        return not any(any(loops_around(site.point)) for site in objects.callers(function))
    return False
