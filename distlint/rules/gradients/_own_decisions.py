"""Decisions that each rank takes by a value of its own: which checkpoint is best, when to stop.

if accuracy > best:             # `accuracy` is that of the rank's part of the data
    best = accuracy
    is_best = True
"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import expressions_in, nodes_of, placed
from distlint.analyzer.static.reaching_definitions import Path, Point, place_of
from distlint.rules.gradients._flow import Flow, kept, places_bound
from distlint.rules.setup._order import tests_around

_SHOWS = frozenset({"print", "info", "debug"})
"""Calls by which a rank only says what it has found."""


def decided_by_each(flow: Flow, mean: ir.Expr | None) -> Point | None:
    """Where all ranks keep the best value so far, each of them its own, and act by it."""
    for each, node in _onward(flow, mean):
        for point in each.points:
            if isinstance(point.statement, ir.If) and not _asks(point):
                if _decides(each, point.statement, point, node):
                    return point
    return None


def _onward(flow: Flow, mean: ir.Expr | None) -> Iterator[tuple[Flow, ir.Expr | None]]:
    """What becomes of a value: in its function, in methods, in those that call and are called."""
    found = [(flow, mean)]
    found += [(each, None) for each in flow.in_methods()]
    if flow.is_returned() or any(_returns(point, mean) for point in flow.points):
        for there, site in flow.callers():
            found += [(each, None) for each in kept(there, site) if not each.meets()]
    yield from found
    for each, node in found:
        yield from ((inner, None) for inner in each.inside(node))


def _returns(point: Point, mean: ir.Expr | None) -> bool:
    return isinstance(point.statement, ir.Return) and any(
        node is mean for node in nodes_of(point.statement)
    )


def _asks(point: Point) -> bool:
    tests = [*tests_around(point)]
    if isinstance(point.statement, ir.If):
        tests.append(point.statement.test)
    return any(map(asks_rank, tests))


def _decides(flow: Flow, statement: ir.If, point: Point, mean: ir.Expr | None) -> bool:
    """Is the value compared with the best so far, which it becomes, and does more hang on it?"""
    compared = set(_compared(flow, statement.test, mean))
    block = (*statement.body, *statement.orelse)
    best = {
        place
        for each, _ in placed(block)
        if isinstance(each, ir.Assign) and flow.takes(each.value, mean)
        for target in each.targets
        for place in places_bound(target)
    }
    if compared.isdisjoint(best):
        return False
    acted = [each for each, around in placed(block) if _acts(flow, each, best, mean)]
    own = [each for each in acted if not _is_left_to_one(block, each)]
    return bool(own) and not any(_is_agreed(flow, point, each) for each in acted)


def _compared(flow: Flow, test: ir.Expr, mean: ir.Expr | None) -> Iterator[Path]:
    """What the value is compared with."""
    for node in expressions_in(test):
        if isinstance(node, ir.Compare) and len(node.rights) == 1:
            for one, other in ((node.left, node.rights[0]), (node.rights[0], node.left)):
                if flow.takes(one, mean):
                    found = (place_of(each) for each in expressions_in(other))
                    yield from (each for each in found if each is not None)


def _acts(flow: Flow, statement: ir.Stmt, best: set[Path], mean: ir.Expr | None) -> bool:
    """Does a statement do more than to keep or to show the best value?"""
    if isinstance(statement, ir.Assign):
        bound = {place for target in statement.targets for place in places_bound(target)}
        return not bound <= best
    if isinstance(statement, ir.Evaluate):
        call = statement.value
        return isinstance(call, ir.Call) and ir.last_name(call.func) not in _SHOWS
    return isinstance(statement, (ir.AugAssign, ir.Return, ir.Break))


def _is_left_to_one(block: ir.Block, statement: ir.Stmt) -> bool:
    """Is there a test of the rank around a statement of a block?"""
    return any(
        each is statement
        and any(isinstance(h.owner, ir.If) and asks_rank(h.owner.test) for h in around)
        for each, around in placed(block)
    )


def _is_agreed(flow: Flow, point: Point, statement: ir.Stmt) -> bool:
    """Do the ranks put together what a statement decides?"""
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    return any(
        Flow(flow.objects, point.scope, place).meets()
        for target in targets
        for place in places_bound(target)
    )
