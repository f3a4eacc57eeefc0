"""Values that are added up over the ranks, and divided by too little afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope, calls_of, expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, place_of
from distlint.rules.gradients._flow import Flow, kept
from distlint.rules.gradients._shard_means import inner_of, quotients, summed_in
from distlint.rules.training import loops_around

_SUMS = frozenset(
    {
        "torch.distributed.all_reduce",
        "torch.distributed.reduce",
        "accelerate.Accelerator.reduce",
    }
)
"""What adds up by default, and not only some of the ranks' values."""

_NO_SUMS = frozenset({"MAX", "MIN", "PRODUCT", "AVG", "max", "min", "mean", "avg", "op", "group"})
_WORLD = re.compile(
    r"world|n_?procs|num_proc|n_?gpu|num_gpus|replica|get_size|(^|_)w(s|size)$|num_devices"
    r"|device_count|n_?ranks|num_ranks",
    re.IGNORECASE,
)
"""What a function says that knows how many ranks there are."""

_DIVIDES = frozenset({"div", "div_", "true_divide", "mul", "mul_", "mean", "average", "scale"})
_LOOKS = frozenset({"int", "float", "max", "print", "item", "len", "round", "format"})
_DEPTH = 2


def own_counts(objects: Objects) -> Iterator[tuple[Point, CallSite]]:
    """Where a sum over all ranks is divided by the count of one rank, and where it is reduced."""
    for site in _reductions(objects):
        given = _given(objects, site)
        scope = site.point.scope
        if given is None:
            continue
        divided = _quotients_in(objects, scope)
        flow = Flow(objects, scope, given)
        after = [
            (node, point)
            for path in sorted(flow.made)
            for node, point in divided.get(path, ())
            if point.statement.site > site.point.statement.site
        ]
        for node, point in sorted(after, key=lambda each: each[1].statement.site):
            if _is_by_own_count(objects, node, point, flow, site):
                yield point, site
                break


_Quotients = dict[Path, list[tuple[ir.Binary, Point]]]


def _quotients_in(objects: Objects, scope: Scope) -> _Quotients:
    """The quotients of a function, by what is divided."""
    found: _Quotients = {}
    for point in objects.points_in(scope):
        for node in quotients(point.statement):
            if isinstance(node, ir.Binary) and node.op == "/":
                path = scaled_path(node.left)
                if path is not None:
                    found.setdefault(path, []).append((node, point))
    return found


def _is_by_own_count(
    objects: Objects, node: ir.Binary, point: Point, flow: Flow, site: CallSite
) -> bool:
    """Is it the reduced sum, divided by what the loop that made it counts on this rank?"""
    count = scaled_path(node.right)
    if count is not None and _is_shared(objects, count, site):
        return False
    scope = point.scope
    loops = [loop for path in sorted(flow.sources) for loop in summed_in(objects, scope, path)]
    return any(
        _counts(objects, loop, node.right, count, point) for loop in loops
    ) and not _is_divided_later(objects, node, point)


def added_means(objects: Objects) -> Iterator[tuple[Point, CallSite]]:
    """Means of one rank that are added up over all, and never divided: the mean, the reduction."""
    for site in _reductions(objects):
        value = site.call.args[0].value
        for node, point in _means_in(objects, value, site):
            if _is_local_mean(objects, node, point) and not (
                _is_divided_later(objects, node, point)
                or _is_divided_later(objects, site.call, site.point, _given(objects, site))
            ):
                yield point, site
                break


@lru_cache(maxsize=8)
def _reductions(objects: Objects) -> tuple[CallSite, ...]:
    """The calls by which ranks add up what they are given, themselves or by a helper.

    In functions that divide, and do not know how many ranks there are.
    """
    scopes = [scope for scope in objects.names.scopes if _divides_in(objects, scope)]
    return tuple(
        site
        for site in (
            CallSite(call, point)
            for scope in scopes
            for point in objects.points_in(scope)
            for call in calls_of(point.statement)
        )
        if site.call.args and not site.call.args[0].star and adds_up(objects, site)
    )


def _divides_in(objects: Objects, scope: Scope) -> bool:
    return not _knows_world(scope.function) and any(
        isinstance(node, ir.Binary) and node.op == "/"
        for point in objects.points_in(scope)
        for node in quotients(point.statement)
    )


def adds_up(objects: Objects, site: CallSite, depth: int = _DEPTH) -> bool:
    """Do the ranks add up what a call is given, by itself or by a helper that it calls?"""
    if objects.called(site) in _SUMS:
        given = [each for each in site.call.args if each.keyword in ("op", "group", "reduction")]
        given += [each for each in site.call.args[1:] if each.keyword is None]
        said = {token for each in given for token in ir.tokens_of(each.value)}
        return _NO_SUMS.isdisjoint(said) and all(each.keyword != "group" for each in given)
    found = objects.function_called(site) if depth else None
    return found is not None and _adds_inside(*found, depth - 1)


@lru_cache(maxsize=64)
def _adds_inside(objects: Objects, function: ir.Function, depth: int) -> bool:
    """Does a function only add up its first parameter, and return it?"""
    params = [each.name for each in function.params if each.name != "self"]
    scope = objects.scope_of(function)
    if scope is None or not params or _knows_world(function) or function.generator:
        return False
    flow = Flow(objects, scope, params[0])
    reduces = False
    for point in objects.points_in(scope):
        if any(
            isinstance(node, ir.Binary) and node.op in "/*" for node in nodes_of(point.statement)
        ):
            return False
        for call in calls_of(point.statement):
            if ir.last_name(call.func) in _DIVIDES:
                return False
            reduces = reduces or (
                flow.is_given(call) and adds_up(objects, CallSite(call, point), depth)
            )
    return reduces


def _knows_world(function: ir.Function | None) -> bool:
    return function is None or any(map(_WORLD.search, function.tokens))


def _given(objects: Objects, site: CallSite) -> Path | None:
    """The variable that holds what is added up: what is reduced in place, or the result."""
    statement = site.point.statement
    if isinstance(statement, ir.Assign):
        return place_of(statement.targets[0])
    return place_of(site.call.args[0].value)


def scaled_path(node: ir.Expr) -> Path | None:
    """The variable in ``total``, ``self.total.item()``, ``float(total)`` or ``100 * total``."""
    while True:
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and not node.args:
            node = node.func.value
        elif isinstance(node, ir.Call) and ir.last_name(node.func) in _LOOKS and node.args:
            if ir.last_name(node.func) == "len":
                return None
            node = node.args[0].value
        elif isinstance(node, ir.Binary) and node.op == "*":
            if isinstance(node.left, ir.Literal):
                node = node.right
            elif isinstance(node.right, ir.Literal):
                node = node.left
            else:
                return None
        else:
            return place_of(node)


def _counts(
    objects: Objects, loop: ir.For, node: ir.Expr, count: Path | None, point: Point
) -> bool:
    """Is a divisor what the loop counts on this rank, or the length of what it goes over?"""
    if loop in {here.owner for here in point.around}:
        return False
    if isinstance(node, ir.Call) and place_of(node.func) == ("len",) and len(node.args) == 1:
        path = place_of(node.args[0].value)
        return path is not None and path in (
            place_of(loop.iterable),
            place_of(inner_of(loop.iterable)),
        )
    return count is not None and loop in summed_in(objects, point.scope, count)


def _is_shared(objects: Objects, count: Path, reduced: CallSite) -> bool:
    """May the ranks put a count together, or is it given to what is not looked into?"""
    flow = Flow(objects, reduced.point.scope, count)
    return any(
        flow.is_given(call) and ir.last_name(call.func) not in _LOOKS
        for each in objects.points_in(reduced.point.scope)
        for call in calls_of(each.statement)
    )


def _means_in(
    objects: Objects, value: ir.Expr, site: CallSite
) -> Iterator[tuple[ir.Binary, Point]]:
    """The quotients that a value is, or is made of."""
    for node in expressions_in(value):
        if isinstance(node, ir.Binary) and node.op == "/":
            yield node, site.point
    path = place_of(value)
    if path is None:
        return
    flow = Flow(objects, site.point.scope, path)
    assigned = _assigned_in(objects, site.point.scope)
    found = {
        id(node): (node, point)
        for source in sorted(flow.sources)
        for node, point in assigned.get(source, ())
        if point.statement.site < site.point.statement.site
    }
    yield from sorted(found.values(), key=lambda each: each[1].statement.site)


def _assigned_in(objects: Objects, scope: Scope) -> _Quotients:
    """The quotients that a function assigns, by what they are assigned to."""
    found: _Quotients = {}
    for point in objects.points_in(scope):
        statement = point.statement
        if not isinstance(statement, (ir.Assign, ir.AugAssign)):
            continue
        targets = statement.targets if isinstance(statement, ir.Assign) else (statement.target,)
        for node in quotients(statement):
            for path in filter(None, map(place_of, targets)):
                if isinstance(node, ir.Binary) and node.op == "/":
                    found.setdefault(path, []).append((node, point))
    return found


def _is_local_mean(objects: Objects, node: ir.Binary, point: Point) -> bool:
    """Is it a sum of a loop that is over, divided by what the same loop counts?"""
    total, count = scaled_path(node.left), scaled_path(node.right)
    return total is not None and any(
        _counts(objects, loop, node.right, count, point)
        for loop in summed_in(objects, point.scope, total)
    )


def _is_divided_later(
    objects: Objects, node: ir.Expr, point: Point, path: Path | None = None
) -> bool:
    """Is what is made of a value divided or multiplied again, here or where it is returned to?"""
    if _is_factor(node, point.statement):
        return True
    statement, scope = point.statement, point.scope
    targets: list[Path | None] = [path] if path is not None else []
    if isinstance(statement, ir.Assign):
        targets += [place_of(each) for each in statement.targets]
    elif isinstance(statement, ir.AugAssign):
        targets.append(place_of(statement.target))
    returned = isinstance(statement, ir.Return)
    for target in targets:
        if target is None:
            return True  # one of several values: it is not followed
        flow = Flow(objects, scope, target)
        if _divides(objects, flow, point, node):
            return True
        returned = returned or flow.is_returned()
    function = scope.function
    if function is None or not returned:
        return False
    return any(
        _is_of_ranks(each.point.statement)
        or _is_factor(each.call, each.point.statement)
        or any(_divides(there, flow, each.point, each.call) for flow in kept(there, each))
        for there, each in objects.callers_anywhere(function)
    )


def _is_factor(node: ir.Expr, statement: ir.Stmt) -> bool:
    """Is an expression divided or multiplied in its statement?"""
    return any(
        isinstance(each, ir.Binary)
        and each.op in "/*"
        and each is not node
        and not _scales(each)
        and any(inner is node for inner in expressions_in(each))
        for each in nodes_of(statement)
    )


def _scales(node: ir.Binary) -> bool:
    """Is it a product with a number: ``100 * share``?"""
    return node.op == "*" and any(isinstance(each, ir.Literal) for each in (node.left, node.right))


def _is_of_ranks(statement: ir.Stmt) -> bool:
    return any(map(_WORLD.search, ir.tokens_of(statement)))


def _divides(objects: Objects, flow: Flow, after: Point, known: ir.Expr) -> bool:
    """Does a later statement divide what is made of a variable, or hand it to a method?"""
    for point in objects.points_in(after.scope):
        statement = point.statement
        if statement.site <= after.statement.site and not _repeats_with(point, after):
            continue
        for node in quotients(statement):
            if isinstance(node, ir.Binary) and node.op in "/*" and node is not known:
                if not _scales(node) and scaled_path(node.left) in flow.made:
                    return True
            if isinstance(node, ir.Call) and ir.last_name(node.func) in _DIVIDES:
                if isinstance(node.func, ir.Attribute) and place_of(node.func.value) in flow.made:
                    return True
                if flow.is_given(node):
                    return True
        if _is_of_ranks(statement) and any(
            place_of(each) in flow.made for each in expressions_in(statement)
        ):
            return True
    return False


def _repeats_with(point: Point, other: Point) -> bool:
    """Are two statements in one loop, so that either may come first?"""
    loops = set(map(id, loops_around(point)))
    return any(id(each) in loops for each in loops_around(other))
