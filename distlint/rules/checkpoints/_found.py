"""A file that is loaded if it is there, and that rank 0 writes if it is not.

Each rank looks at a time of its own: one that comes late finds what rank 0 is writing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.inheritance import imported_class
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.checkpoints._all_ranks import LOOKS
from distlint.rules.checkpoints._method_reads import meets_in
from distlint.rules.checkpoints._paths import same
from distlint.rules.checkpoints._uses import goes_backward, use_in
from distlint.rules.checkpoints._written import MEETS, ONLY_LOOK, may_meet

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.names import Around
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.rules.checkpoints._written import Write

_DEPTH = 4
"""How many callers are followed."""


def read_where_found(guards: Guards, write: Write) -> ir.Call | None:
    """The read of a file by ranks that find it, where another one may still write it."""
    point = write.site.point
    if write.used.makes or write.used.owner or meets_in(guards.objects, write):
        return None
    for level in reversed(range(len(write.around))):  # what is inside of the rank test is its own
        for arm, between in _arms_of_the_others(guards.objects, write, level):
            if _meets(guards.objects, between, point) or _is_in_turn(guards, point, _DEPTH):
                return None  # the file is written when all ranks have looked, or before they look
            use = _use_in_arm(guards, arm, write.around[:level], write)
            if use is not None:
                return use
    return None


def _arms_of_the_others(
    objects: Objects, write: Write, level: int
) -> Iterator[tuple[ir.Block, list[ir.Stmt]]]:
    """The blocks that run where the file is there, and what runs before it is written otherwise."""
    point = write.site.point
    here, owner = point.around[level], point.around[level].owner
    on_the_way = [s for each in point.around[level:] for s in each.block[: each.index]]
    if isinstance(owner, ir.If) and (looks := _looks(objects, owner.test, write)) is not None:
        if looks is not (here.block is owner.body):
            yield owner.body if looks else owner.orelse, on_the_way
    for index, each in enumerate(here.block[: here.index]):
        if (
            isinstance(each, ir.If)
            and not each.orelse
            and ir.is_left(each.body)
            and _looks(objects, each.test, write)
        ):
            inner = [
                s for deeper in point.around[level + 1 :] for s in deeper.block[: deeper.index]
            ]
            yield each.body, [*here.block[index + 1 : here.index], *inner]


def _looks(objects: Objects, test: ir.Expr, write: Write) -> bool | None:
    """Does a test hold if the file is there (True), or if it is not? None: it asks for no file."""
    if isinstance(test, ir.Not):
        inner = _looks(objects, test.value, write)
        return None if inner is None else not inner
    if isinstance(test, ir.BoolOp):
        known = [
            each for each in (_looks(objects, v, write) for v in test.values) if each is not None
        ]
        return known[0] if known and not asks_rank(test) else None
    if isinstance(test, ir.Name):
        origins = objects.origins(test, write.site.point)
        made = origins[0].call if len(origins) == 1 else None
        return True if made is not None and _looks_for(made, write.path) else None
    return True if isinstance(test, ir.Call) and _looks_for(test, write.path) else None


def _looks_for(call: ir.Call, path: ir.Expr) -> bool:
    if ir.last_name(call.func) not in LOOKS:
        return False
    if call.args:
        return same(call.args[0].value, path)
    return isinstance(call.func, ir.Attribute) and same(call.func.value, path)


def _meets(objects: Objects, statements: list[ir.Stmt], point: Point) -> bool:
    """May the ranks meet in statements, so that all of them have looked?"""
    sites = [
        CallSite(call, Point(point.scope, around))
        for statement, around in placed(tuple(statements))
        for call in calls_of(statement)
    ]
    return any(
        (may_meet(objects, each) and each.name not in ONLY_LOOK) or goes_backward(objects, each)
        for each in sites
    )


def _is_in_turn(guards: Guards, point: Point, depth: int) -> bool:
    """Does one rank go first, and the others wait: by a block, or a meeting under a rank test?"""
    if _is_in_block(guards.objects, point):
        return True
    for here in point.around:
        if any(map(_waits_on_some, here.block[: here.index])):
            return True
    callers = list(guards.all_callers(point.scope)) if depth else []
    return any(_is_in_turn(where, each.point, depth - 1) for where, each in callers)


def is_in_ordered_block(guards: Guards, point: Point, depth: int = _DEPTH) -> bool:
    """Do the ranks meet in a context manager around a statement: ``with rank_0_first():``?

    Or around a call that leads to it.
    """
    callers = list(guards.all_callers(point.scope)) if depth else []
    return _is_in_block(guards.objects, point) or any(
        is_in_ordered_block(where, each.point, depth - 1) for where, each in callers
    )


def _is_in_block(objects: Objects, point: Point) -> bool:
    return any(
        isinstance(here.owner, ir.With)
        and any(
            origin.site is not None and _meets_in_context(objects, origin.site)
            for origin in objects.origins(
                here.owner.context, Point(point.scope, point.around[:depth])
            )
        )
        for depth, here in enumerate(point.around)
        if depth
    )


def _meets_in_context(objects: Objects, site: CallSite) -> bool:
    if may_meet(objects, site):
        return True
    own, elsewhere = objects.callee(site), imported_class(objects, site.call.func)
    cls = own if isinstance(own, ir.Class) else elsewhere[1] if elsewhere is not None else None
    methods = cls.methods.values() if cls is not None else ()
    return any(MEETS.search(token) for method in methods for token in method.tokens)


def _waits_on_some(statement: ir.Stmt) -> bool:
    """``if rank != 0: barrier()``"""
    return (
        isinstance(statement, ir.If)
        and asks_rank(statement.test)
        and any(
            MEETS.search(ir.last_name(call.func)) and ir.last_name(call.func) not in ONLY_LOOK
            for inner, _ in placed(statement.body + statement.orelse)
            for call in calls_of(inner)
        )
    )


def _use_in_arm(
    guards: Guards, arm: ir.Block, outside: tuple[Around, ...], write: Write
) -> ir.Call | None:
    """The first use of the file in a block, by all ranks that come to it."""
    for statement, around in sorted(placed(arm), key=lambda pair: pair[0].site):
        if any(isinstance(each.owner, ir.If) for each in around):
            continue
        for call in calls_of(statement):
            site = CallSite(call, Point(write.site.point.scope, (*outside, *around)))
            if may_meet(guards.objects, site) or goes_backward(guards.objects, site):
                return None
            use = use_in(guards, site, write)
            if use is not None:
                return use
    return None
