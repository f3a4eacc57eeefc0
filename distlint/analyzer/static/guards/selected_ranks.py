"""Which test sends some ranks here and others past, where there are several.

The other analyses of this package ask whether a test *may* keep ranks from a statement, so that a
rule is silent. This one is for rules that report: the test must be one of the rank, by its form.
"""

from __future__ import annotations

import re

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import Gate, gates_before
from distlint.analyzer.static.guards.rank_tests import rank_words
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of

_FIRST = re.compile(
    r"main_?proc|(?:^|_)is_main|main_only|master|zero|rank_?0|primary|chief|leader|coordinator"
    r"|first_(?:rank|proc)",
    re.IGNORECASE,
)
"""Words of a test that is true on one rank, among the words about the rank."""
_SHARES = re.compile(r"pipeline|stage|pp_|expert|tensor|tp_", re.IGNORECASE)
"""Words of a rank by which processes hold parts of a model, not replicas of it."""
_MANY = re.compile(r"distributed|world|ddp|multi|num_processes|initialized|parallel", re.IGNORECASE)
_FROM_ZERO = frozenset({"==", "!=", ">", "<=", "is", "is not"})
_FROM_ONE = frozenset({">=", "<"})
_DEPTH = 3
"""How many flags are followed to what they stand for."""


def selecting_gate(objects: Objects, point: Point) -> Gate | None:
    """The innermost test around or before a statement that lets only some ranks reach it."""
    found = None
    for gate in gates_before(point):
        if gate.wanted is not None and _selects(
            objects, gate.test, gate.wanted, gate.place, _DEPTH
        ):
            found = gate
    return found


def selects(objects: Objects, test: ir.Expr, wanted: bool, point: Point) -> bool:
    """Does a test come out like this on some of several ranks only?"""
    return _selects(objects, test, wanted, point, _DEPTH)


def _selects(objects: Objects, test: ir.Expr, wanted: bool, point: Point, depth: int) -> bool:
    """The same for a test that is reached through the flags that ``depth`` leaves."""
    if isinstance(test, ir.Not):
        return _selects(objects, test.value, not wanted, point, depth)
    if isinstance(test, ir.BoolOp):
        selecting = [_selects(objects, each, wanted, point, depth) for each in test.values]
        if (test.op == "and") is wanted:
            return any(selecting)
        return any(selecting) and all(
            selects or _asks_for_many(each)
            for each, selects in zip(test.values, selecting, strict=True)
        )
    if isinstance(test, ir.Compare):
        return len(test.ops) == 1 and _compares(objects, test, point)
    origins = objects.origins(test, point) if isinstance(test, ir.Name) and depth else ()
    computed = [each for each in origins if _is_computed(each)]
    if not computed or len(computed) < len(origins):
        return _is_predicate(test)
    return all(
        isinstance(each.node, ir.Expr)
        and _selects(objects, each.node, wanted, each.point, depth - 1)
        for each in computed
    )


def _is_computed(origin: Origin) -> bool:
    """Is it the outcome of a test, which says more than the name that it is given?"""
    whole = origin.item is None and not origin.attributes
    return whole and isinstance(origin.node, (ir.Compare, ir.BoolOp, ir.Not, ir.Call))


def _asks_for_many(test: ir.Expr) -> bool:
    """Is it about whether there are several processes, as in ``not distributed or rank == 0``?"""
    return any(map(_MANY.search, ir.tokens_of(test)))


def _compares(objects: Objects, test: ir.Compare, point: Point) -> bool:
    """Is it ``rank == 0``, ``rank > 0``, ``rank in (-1, 0)``: the rank and a number of one?"""
    (op,), (right,) = test.ops, test.rights
    left = test.left
    if isinstance(left, ir.Literal):
        left, right = right, left
    if not _is_rank(objects, left, point):
        return False
    if op in ("in", "not in"):
        items = right.items if isinstance(right, ir.Display) else ()
        return any(_is_number(item, 0) for item in items)
    return (op in _FROM_ZERO and _is_number(right, 0)) or (op in _FROM_ONE and _is_number(right, 1))


def _is_number(node: ir.Expr, least: int) -> bool:
    return isinstance(node, ir.Literal) and type(node.value) is int and node.value >= least


def _is_rank(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it the rank of the process, by its words or by the call that it comes from?"""
    if not isinstance(node, (ir.Name, ir.Attribute, ir.Call, ir.Subscript)):
        return False
    if _is_named_after_rank(node):
        return True
    is_kept = isinstance(node, (ir.Name, ir.Subscript))
    origins = objects.origins(node, point) if is_kept else ()
    return bool(origins) and all(
        each.call is not None and _is_named_after_rank(each.call) for each in origins
    )


def _is_named_after_rank(node: ir.Expr) -> bool:
    name = ir.last_name(node.func if isinstance(node, ir.Call) else node)
    words = ir.tokens_of(node)
    return bool(rank_words((name,))) and not any(map(_SHARES.search, words))


def _is_predicate(test: ir.Expr) -> bool:
    """Is it ``is_main_process()``, ``accelerator.is_main_process``, ``master``?"""
    callee = test.func if isinstance(test, ir.Call) else test
    if path_of(callee) is None:
        return False
    name = ir.last_name(callee)
    return _FIRST.search(name) is not None and _is_named_after_rank(callee)
