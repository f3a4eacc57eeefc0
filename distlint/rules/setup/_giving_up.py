"""What goes on without a process group: handlers, suppressed errors, and attempts that end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere
from distlint.analyzer.static.names import calls_of, nodes_of, placed

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Point

_ALL = frozenset({"Exception", "BaseException"})
_OF_JOINING = frozenset({"DistError", "DistBackendError", "DistNetworkError", "DistStoreError"})
_GENERAL = "RuntimeError"
_ENDS = frozenset({"exit", "_exit", "abort", "kill"})
_LOOPS = (ir.For, ir.While)


def takes_all(handler: ir.Handler) -> bool:
    """Does a handler catch every exception?"""
    return handler.types is None or not _ALL.isdisjoint(handler.names)


def takes_failure(handler: ir.Handler) -> bool:
    """Does a handler catch what a failed connection raises?

    A ``RuntimeError`` also says that there is a group already, unless the handler goes on with
    constants that say that there is none.
    """
    names = set(handler.names)
    if takes_all(handler) or not names.isdisjoint(_OF_JOINING):
        return True
    return _GENERAL in names and any(_says_alone(each) for each, _ in placed(handler.body))


def _says_alone(statement: ir.Stmt) -> bool:
    """``return False``, ``rank, world = 0, 1``"""
    if not isinstance(statement, (ir.Return, ir.Assign)) or statement.value is None:
        return False
    value = statement.value
    items = value.items if isinstance(value, ir.Display) else (value,)
    return bool(items) and all(
        isinstance(item, ir.Literal) and item.value in (None, False, 0, 1) for item in items
    )


def goes_on(handler: ir.Handler) -> bool:
    """Does the process neither end in a handler nor try to join the group there once more?"""
    for statement, _ in placed(handler.body):
        if isinstance(statement, ir.Raise):
            return False
        names = {ir.last_name(call.func) for call in calls_of(statement)}
        if not names.isdisjoint(_ENDS) or any("init" in name for name in names):
            return False
    return True


def repeats(point: Point) -> bool:
    return any(isinstance(here.owner, _LOOPS) for here in point.around)


def gives_up(point: Point) -> bool:
    """Does a function return that it has failed, after a loop of attempts?"""
    loops = [n for n, here in enumerate(point.around) if isinstance(here.owner, _LOOPS)]
    if len(loops) != 1 or point.scope.function is None:
        return False
    loop = point.around[loops[0]].owner
    outer = point.around[loops[0] - 1]
    assert isinstance(loop, _LOOPS)
    after = (*loop.orelse, *outer.block[outer.index + 1 :])
    last = after[-1] if after else None
    plain = all(isinstance(each, (ir.Evaluate, ir.Return)) for each in after)
    return plain and isinstance(last, ir.Return) and _says_alone(last) and not _ends(after)


def callers_end(objects: Objects, point: Point) -> bool:
    """Does what calls the function look at the result, and end where there is no group?"""
    function = point.scope.function
    if function is None:
        return False
    sites = [*objects.callers(function)]
    sites += [site for _, site in calls_elsewhere(objects.module, function)]
    return any(map(_ends_on_result, sites))


def _ends_on_result(site: CallSite) -> bool:
    statement, here = site.point.statement, site.point.around[-1]
    names = ir.bound_by(statement)
    if any(node is site.call for node in nodes_of(statement)) and isinstance(
        statement, (ir.If, ir.Assert)
    ):
        return _refuses(statement)
    for later in here.block[here.index + 1 :]:
        if isinstance(later, (ir.If, ir.Assert)) and not names.isdisjoint(ir.tokens_of(later.test)):
            if _refuses(later):
                return True
    return False


def _refuses(statement: ir.If | ir.Assert) -> bool:
    """``assert joined``, ``if not joined: raise ...``"""
    if isinstance(statement, ir.Assert):
        asked = isinstance(statement.test, ir.Compare) and statement.test.ops != ("is not",)
        return not asked
    return _ends_in_arm(statement)


def _ends_in_arm(branch: ir.If) -> bool:
    return _ends(branch.body) or _ends(branch.orelse)


def _ends(block: ir.Block) -> bool:
    return any(isinstance(each, ir.Raise) or _exits(each) for each in block)


def _exits(statement: ir.Stmt) -> bool:
    return any(ir.last_name(call.func) in _ENDS for call in calls_of(statement))
