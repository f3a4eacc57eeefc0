"""Rank checks before the process group is made, which then take each process for rank 0."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import calls_of, expressions_in, nodes_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.setup._order import INIT, inits, may_be_made, surely_before

_INIT = INIT.rpartition(".")[2]
_SAYS = frozenset(
    {"print", "info", "debug", "warning", "error", "log", "write", "flush", "basicConfig", "join"}
)
"""What is harmless on each rank: a line is printed several times."""


_ASKS = frozenset({"is_initialized"})
_DEPTH = 2
"""How many functions lead to the one that makes the group."""


def too_early(objects: Objects) -> Iterator[tuple[int, int, str]]:
    """What is taken for rank 0 before the group is made: its site, that of the group, and why."""
    told, makes = set[int](), list(_making(objects))
    for init in makes:
        for point in objects.points_in(init.point.scope):
            if not surely_before(point, init.point) or _may_follow(point, makes):
                continue
            for call in calls_of(point.statement):
                site = CallSite(call, point)
                if call.site not in told and _acts_as_first(objects, site):
                    if not may_be_made(objects, site):
                        told.add(call.site)
                        yield call.site, init.call.site, f"`{site.name}` is called"
        for point, flag in _late_flags(objects, init.point):
            yield point.statement.site, init.call.site, f"`{flag}` is used"


def _may_follow(point: Point, makes: list[CallSite]) -> bool:
    """Does a call that makes the group stand before a statement of the same function?"""
    return any(
        each.point.scope is point.scope and each.call.site < point.statement.site for each in makes
    )


def _making(objects: Objects) -> Iterator[CallSite]:
    """The calls that make the group, themselves or by functions of the project."""
    yield from inits(objects)
    known: dict[tuple[ir.Function, int], bool] = {}
    for call, point in objects.nodes(ir.Call):
        site = CallSite(call, point)
        found = function_called(objects, site)
        if found is not None and _surely_makes(*found, _DEPTH, known):
            yield site


def _surely_makes(
    objects: Objects,
    function: ir.Function,
    depth: int,
    known: dict[tuple[ir.Function, int], bool],
) -> bool:
    """Does a function make the group whenever it is called, also through others?"""
    key = (function, depth)
    if key not in known:
        known[key] = False  # the answer for a function that calls itself
        known[key] = _makes(objects, function, depth, known)
    return known[key]


def _makes(
    objects: Objects,
    function: ir.Function,
    depth: int,
    known: dict[tuple[ir.Function, int], bool],
) -> bool:
    module = objects.module
    if not any(_INIT in each.words for each in (module, *module.imports)):
        return False
    if _INIT not in function.tokens and not depth:
        return False
    scope = objects.scope_of(function)
    for statement, around in placed(function.body):
        if not all(isinstance(here.owner, (type(None), ir.With)) for here in around):
            continue
        for call in calls_of(statement):
            if ir.last_name(call.func) == _INIT:
                return True
            if not depth or scope is None:
                continue
            inner = function_called(objects, CallSite(call, Point(scope, around)))
            if inner is not None and inner[1] is not function:
                if _surely_makes(*inner, depth - 1, known):
                    return True
    return False


def _acts_as_first(objects: Objects, site: CallSite) -> bool:
    """Does a call ask a helper that falls back on rank 0, or do something if that says so?"""
    if answers_as_first(objects, site):
        return True
    found = function_called(objects, site)
    if found is None:
        return False
    where, function = found
    scope = where.scope_of(function)
    return any(
        isinstance(point.statement, ir.If)
        and _asks_helper(where, point.statement.test, point)
        and does_something(point.statement.body)
        for point in (where.points_in(scope) if scope is not None else ())
    )


def answers_as_first(objects: Objects, site: CallSite) -> bool:
    """Does a call ask a helper that falls back on rank 0?"""
    found = function_called(objects, site)
    return found is not None and found[1] in _falling_back(found[0]).get(found[1].name, ())


def _asks_helper(objects: Objects, test: ir.Expr, point: Point) -> bool:
    for node in expressions_in(test):
        found = (
            function_called(objects, CallSite(node, point)) if isinstance(node, ir.Call) else None
        )
        if found is not None and found[1] in _falling_back(found[0]).get(found[1].name, ()):
            return True
    return False


def does_something(block: ir.Block) -> bool:
    """Does a block do more than to print and to log?"""
    calls = [node for node in ir.own_nodes(block) if isinstance(node, ir.Call)]
    return any(ir.last_name(call.func) not in _SAYS for call in calls)


@lru_cache(maxsize=32)
def _falling_back(objects: Objects) -> dict[str, list[ir.Function]]:
    """Functions that answer as on rank 0 where there is no group, by name; also through others."""
    found: dict[str, list[ir.Function]] = {}
    asks = _ASKS | {each.name for each in objects.module.functions if _asks_for_group(each)}
    for _ in range(2):
        for function in objects.module.functions:
            if function not in found.get(function.name, ()) and (
                _falls_back(function.body, asks) or not found.keys().isdisjoint(_returned(function))
            ):
                found.setdefault(function.name, []).append(function)
    return found


def _asks_for_group(function: ir.Function) -> bool:
    """Does a function say whether there is a group, and nothing else?"""
    if "is_initialized" not in function.tokens or "get_rank" in function.tokens:
        return False
    returns = [each for each, _ in placed(function.body) if isinstance(each, ir.Return)]
    return bool(returns) and not any(
        isinstance(node, ir.Call)
        and ir.last_name(node.func) not in ("is_initialized", "is_available")
        for node in ir.own_nodes(function.body)
    )


def _returned(function: ir.Function) -> frozenset[str]:
    """The names in what a function of one line returns."""
    body = function.body
    if len(body) == 1 and isinstance(body[0], ir.Return) and body[0].value is not None:
        return ir.tokens_of(body[0].value)
    return frozenset()


def _falls_back(block: ir.Block, asks: frozenset[str]) -> bool:
    """``get_rank() if is_initialized() else 0``, in one expression or as a branch that returns."""
    for index, statement in enumerate(block):
        for node in nodes_of(statement):
            if isinstance(node, ir.Conditional) and not asks.isdisjoint(ir.tokens_of(node.test)):
                if _is_rank_or_first(node.body, node.orelse):
                    return True
        if isinstance(statement, ir.If) and not asks.isdisjoint(ir.tokens_of(statement.test)):
            one, other = map(_answer, (statement.body, statement.orelse or block[index + 1 :]))
            if one is not None and other is not None and _is_rank_or_first(one, other):
                return True
    return False


def _answer(arm: ir.Block) -> ir.Expr | None:
    return arm[0].value if arm and isinstance(arm[0], ir.Return) else None


def _is_rank_or_first(first: ir.Expr, second: ir.Expr) -> bool:
    """Is one of them a question for the rank, and the other what holds for rank 0?"""
    return any(
        isinstance(one, ir.Literal)
        and (one.value is True or (one.value == 0 and type(one.value) is int))
        and "get_rank" in ir.tokens_of(other)
        for one, other in ((first, second), (second, first))
    )


def _late_flags(objects: Objects, init: Point) -> Iterator[tuple[Point, str]]:
    """Where a flag that says rank 0 by default is seen before the group is made."""
    points = objects.points_in(init.scope)
    for late in points:
        statement = late.statement
        if not (isinstance(statement, ir.Assign) and surely_before(init, late)):
            continue
        for target in statement.targets:
            path = path_of(target)
            if path is None or len(path) < 2 or "get_rank" not in ir.tokens_of(statement.value):
                continue
            if not any(
                _is_on(cls.attributes.get(path[-1])) for cls in objects.module.classes.values()
            ):
                continue
            for point in points:
                if point.statement.site < init.statement.site and _sees(point.statement, path):
                    yield point, path[-1]


def _is_on(default: ir.Expr | None) -> bool:
    return isinstance(default, ir.Literal) and default.value is True


def _sees(statement: ir.Stmt, path: tuple[str, ...]) -> bool:
    """Does a statement read a flag, or hand on the object that has it?"""
    if isinstance(statement, ir.Assign) and any(
        path_of(each) == path for each in statement.targets
    ):
        return False
    return any(
        path_of(node) == path
        or (
            isinstance(node, ir.Call)
            and any(path_of(argument.value) == path[:-1] for argument in node.args)
        )
        for node in nodes_of(statement)
        if isinstance(node, ir.Expr)
    )
