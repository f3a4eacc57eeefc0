"""Saves of a process that fails: each rank keeps what has led to its own failure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.reaching_definitions import Point

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.names import Around
    from distlint.analyzer.static.objects.sites import CallSite

_ENDS = frozenset({"exit", "_exit", "quit", "abort"})
_STATUS = frozenset({"exit", "_exit", "quit", "SystemExit"})
"""What takes the status that the process ends with."""
_FAILURE = re.compile(
    r"nan$|^is_?(nan|inf|finite)|finite|loss|err(or)?s?$|fail|bad|broken|invalid|corrupt|diverge"
    r"|overflow|explode",
    re.IGNORECASE,
)
"""Words of a test that one rank alone may find true, of data that it alone has seen."""
_SETTINGS = frozenset(
    {"__name__", "args", "opt", "opts", "options", "cfg", "config", "conf", "hparams", "FLAGS"}
)
_COUNTS = frozenset({"range", "trange", "count"})
_FROM_OUTSIDE = frozenset({"KeyboardInterrupt", "SystemExit"})
"""Exceptions that all ranks get, as the launcher sends what raises them."""
_DEPTH = 4
"""How many assignments are followed from a test to the data."""


def keeps_failure(guards: Guards, site: CallSite) -> bool:
    """Does the process fail in a branch around a save, which keeps what has led to it?"""
    return any(_fails_in(guards, site, depth) for depth in range(len(site.point.around)))


def _fails_in(guards: Guards, site: CallSite, depth: int) -> bool:
    """Does the process fail at the end of a block around a save, as a branch decides?

    An exit at the end of what a script does for its settings is no failure.
    """
    around = site.point.around
    owner, last = around[depth].owner, around[depth].block[-1]
    if not _ends_process(last):
        return False
    if _is_own_exception(around[depth]):
        return not _ends_well(last)
    if not isinstance(owner, ir.If) or _is_setting(owner.test):
        return False
    point = Point(site.point.scope, around[:depth])
    if _asks_for_failure(guards, owner.test, point):
        return True
    in_loop = any(isinstance(each.owner, (ir.For, ir.While)) for each in around[depth + 1 :])
    if in_loop or _ends_well(last):
        return False
    return not _is_exit(last) or _asks_for_data(guards, owner.test, point, _DEPTH)


def _is_own_exception(here: Around) -> bool:
    """Is it the handler of an exception that one rank may meet alone?"""
    return isinstance(here.owner, ir.Try) and any(
        here.block is handler.body
        and (handler.types is None or _FROM_OUTSIDE.isdisjoint(ir.tokens_of(handler.types)))
        for handler in here.owner.handlers
    )


def _ends_process(last: ir.Stmt) -> bool:
    """Is it a ``raise``, or the call of a function such as ``sys.exit``?"""
    return isinstance(last, ir.Raise) or (
        isinstance(last, ir.Evaluate)
        and isinstance(last.value, ir.Call)
        and ir.last_name(last.value.func) in _ENDS
    )


def _is_exit(last: ir.Stmt) -> bool:
    """Does the script end there by its own decision, with whatever status?"""
    ended = last.value if isinstance(last, (ir.Raise, ir.Evaluate)) else None
    return ir.last_name(ended.func if isinstance(ended, ir.Call) else ended) in _STATUS


def _ends_well(last: ir.Stmt) -> bool:
    """Does the process end with the status 0: ``sys.exit()``, ``raise SystemExit(0)``?"""
    ended = last.value if isinstance(last, (ir.Raise, ir.Evaluate)) else None
    if not isinstance(ended, ir.Call):
        return ir.last_name(ended) == "SystemExit"
    if ir.last_name(ended.func) not in _STATUS:
        return False
    status = ended.args[0].value if ended.args else ir.Literal(None)
    return isinstance(status, ir.Literal) and status.value in (None, 0)


def _asks_for_failure(guards: Guards, test: ir.Expr, point: Point) -> bool:
    """Is a test, or what its variables stand for, about a value that may be bad on one rank?"""
    asked = [test]
    for item in expressions_in(test):
        if isinstance(item, ir.Name):
            asked += [value for value, _ in guards.assignments.reaching(item, point)]
    return any(_FAILURE.search(token) for each in asked for token in ir.tokens_of(each))


def _asks_for_data(guards: Guards, test: ir.Expr, point: Point, depth: int) -> bool:
    """Is a test about the batch of this rank, or about what a function has returned for its own?

    A counter of the loop, and what the script was started with, are the same on all ranks.
    """
    for item in expressions_in(test):
        if isinstance(item, ir.Call) and _is_of_param(item, point):
            return True
        if not isinstance(item, ir.Name) or not depth:
            continue
        if any(_gives_data(here.owner, item.id) for here in point.around):
            return True
        for value, where in guards.assignments.reaching(item, point):
            if not isinstance(where.statement, ir.For):
                if _asks_for_data(guards, value, where, depth - 1):
                    return True
    return False


def _gives_data(owner: ir.Stmt | None, name: str) -> bool:
    """Is it a loop over data that gives a variable its value: not the counter of ``enumerate``?"""
    if not isinstance(owner, ir.For) or name not in ir.tokens_of(owner.target):
        return False
    called = owner.iterable.func if isinstance(owner.iterable, ir.Call) else None
    if ir.last_name(called) == "enumerate" and isinstance(owner.target, ir.Display):
        return name not in ir.tokens_of(owner.target.items[0])
    return ir.last_name(called) not in _COUNTS and "range" not in ir.tokens_of(owner.iterable)


def _is_of_param(call: ir.Call, point: Point) -> bool:
    """Is it a method of what the function is given: ``out.max()``?"""
    items = (item for item in expressions_in(call.func) if isinstance(item, ir.Name))
    return isinstance(call.func, ir.Attribute) and any(
        point.scope.has_param(item.id) and item.id not in {"self", *_SETTINGS} for item in items
    )


def _is_setting(test: ir.Expr) -> bool:
    """Is a test about settings alone, which are the same on all ranks?"""
    names = {item.id for item in expressions_in(test) if isinstance(item, ir.Name)}
    return names <= _SETTINGS or (
        names <= {"self", *_SETTINGS} and not _SETTINGS.isdisjoint(ir.tokens_of(test))
    )
