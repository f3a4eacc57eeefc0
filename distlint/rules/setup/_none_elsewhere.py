"""Variables that are None on all ranks but some, and the statements that ask something of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import Gate, gates_before
from distlint.analyzer.static.guards.guards import Guards
from distlint.analyzer.static.guards.selected_ranks import selecting_gate, selects
from distlint.analyzer.static.names import Scope, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import Origin, is_none
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.gradients._tensors import same

_MADE = (ir.Call, ir.Display, ir.DictDisplay, ir.Comprehension)


class Missing(NamedTuple):
    """An expression that is None on some ranks, and what other ranks have instead."""

    name: str
    node: ir.Expr
    made: Origin


def asked(nodes: Collection[ir.Expr]) -> Iterator[ir.Expr]:
    """What some expressions take an attribute or an item of, or call: None has none of these."""
    for node in nodes:
        base = node.value if isinstance(node, (ir.Attribute, ir.Subscript)) else None
        base = node.func if isinstance(node, ir.Call) else base
        if isinstance(base, ir.Subscript) or (base is not None and path_of(base) is not None):
            yield base


def missing(objects: Objects, nodes: Collection[ir.Expr], point: Point) -> Iterator[Missing]:
    """Those of some expressions of a statement by which it fails on the other ranks."""
    for node in asked(nodes):
        made = _made_on_some(objects, node, point)
        if made is not None:
            yield Missing(_shown(node), node, made)


def is_tested(point: Point, node: ir.Expr) -> bool:
    """Is something about the value itself tested on the way to a statement?"""
    name = ir.last_name(node)
    words = [ir.tokens_of(gate.test) for gate in gates_before(point)]
    words += [ir.tokens_of(node) for node in _asserted(point)]
    return any(name in each for each in words)


def _asserted(point: Point) -> Iterator[ir.Expr]:
    """The tests of the ``assert`` statements before a statement in the blocks around it."""
    for here in point.around:
        for statement in here.block[: here.index]:
            if isinstance(statement, ir.Assert):
                yield statement.test


def _shown(node: ir.Expr) -> str:
    return ".".join(path_of(node) or (ir.last_name(node),))


def _made_on_some(objects: Objects, node: ir.Expr, point: Point) -> Origin | None:
    """Where a value is made under a test of the rank, if it is None without that."""
    origins = objects.origins(node, point)
    made = [each for each in origins if not is_none(each.node)]
    absent = [each for each in origins if is_none(each.node)]
    if not made or any(not _is_whole(each) for each in origins):
        return None
    gates = [_gate_of(objects, each) for each in made]
    known = [each for each in gates if each is not None]
    if len(known) < len(gates):
        return None
    if absent:
        is_other = all(_is_of_the_others(objects, each, made[0], known[0]) for each in absent)
    else:
        is_other = all(map(_may_return_none, made))
    return made[0] if is_other else None


def _is_whole(origin: Origin) -> bool:
    whole = origin.item is None and not origin.attributes
    return whole and (isinstance(origin.node, _MADE) or is_none(origin.node))


def _gate_of(objects: Objects, origin: Origin) -> Gate | None:
    """The test of the rank that a value is made under, also within one expression."""
    there = objects.at(origin.point)
    for choice in nodes_of(origin.point.statement):
        if isinstance(choice, ir.Conditional):
            for value, wanted in ((choice.body, True), (choice.orelse, False)):
                if value is origin.node and selects(there, choice.test, wanted, origin.point):
                    return Gate(choice.test, wanted, origin.point)
    return selecting_gate(there, origin.point)


def _is_of_the_others(objects: Objects, absent: Origin, made: Origin, gate: Gate) -> bool:
    """Is None what is assigned without the test of the rank, or where that is false?"""
    mine = _gate_of(objects, absent)
    if mine is not None and not (mine.wanted is not gate.wanted and same(mine.test, gate.test)):
        return False
    if not isinstance(absent.point.statement, (ir.Assign, ir.Return)):
        return False
    one, two = absent.point.scope, made.point.scope
    return one == two or (one.module is two.module and _is_shared(one, two))


def _is_shared(one: Scope, two: Scope) -> bool:
    """May both set the same variable: methods of one class, or the file's own statements?"""
    if one.function is None or two.function is None:
        return True
    return bool(one.function.owner) and one.function.owner == two.function.owner


def _may_return_none(made: Origin) -> bool:
    """Does a function return a value under its test, and nothing otherwise?"""
    function = made.point.scope.function
    if function is None or not isinstance(made.point.statement, ir.Return):
        return False
    return not ir.is_left(function.body) or _returns_nothing(function)


def _returns_nothing(function: ir.Function) -> bool:
    waiting = [*function.body]
    for each in waiting:  # grows meanwhile
        if isinstance(each, ir.Return) and each.value is None:
            return True
        waiting += [inner for inner in ir.children(each) if isinstance(inner, ir.Stmt)]
    return False


def leads_here(guards: Guards, scope: Scope) -> bool:
    """Is a function known to be called, or by what it shows to be run on several ranks?"""
    if scope.function is None or next(iter(guards.all_callers(scope)), None) is not None:
        return True
    return guards.on_many_ranks(scope)
