"""Where another method of a class reads the file that one rank has written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import calls_of, expressions_in, placed
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.checkpoints._file_calls import read_file
from distlint.rules.checkpoints._uses import goes_backward
from distlint.rules.checkpoints._written import MEETS, ONLY_LOOK, may_meet, same
from distlint.rules.collectives._following import Step, following
from distlint.rules.setup._order import tests_around

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.rules.checkpoints._written import Write

_DEPTH = 4
"""How many callers are followed."""


def used_by_methods(guards: Guards, write: Write) -> ir.Call | None:
    """The first use of the path in another method, which all ranks come to without a meeting."""
    point, owner = write.site.point, write.used.owner
    function = point.scope.function
    if write.used.makes or meets_in(write):
        return None
    if not owner and function is not None and _is_of_object(write.path, function):
        owner = function.owner
    if not owner:
        return None
    return _Walk(guards, write.path, owner).behind(Point(point.scope, write.around), _DEPTH)


def _is_of_object(path: ir.Expr, function: ir.Function) -> bool:
    """Does a path mean the same in each method: ``self.file``, ``join(self.folder, "a")``?"""
    names = ir.names_in(path)
    return "self" in names and not any(name in function.locals for name in names - {"self"})


class _Walk:
    """The way from a write to where another method of the class reads the file."""

    def __init__(self, guards: Guards, path: ir.Expr, owner: str) -> None:
        self._guards, self._path, self._owner = guards, path, owner
        self._met = False

    def behind(self, point: Point, depth: int) -> ir.Call | None:
        """Behind a statement, and then behind the calls of its function."""
        for step in following(point.around):
            if step.role == "define":
                continue
            for call in expressions_in(step.node):
                if isinstance(call, ir.Call):
                    use = self._at(CallSite(call, point), bool(step.guards))
                    if use is not None or self._met:
                        return use
            if step.role == "test" and asks_rank(step.node) and ends_in_leave(step):
                return None
        function = point.scope.function
        if function is None or not depth:
            return None
        for caller in self._guards.objects.callers(function):
            if any(map(asks_rank, tests_around(caller.point))):
                continue
            self._met = False
            use = self.behind(caller.point, depth - 1)
            if use is not None:
                return use
        return None

    def _at(self, site: CallSite, is_guarded: bool) -> ir.Call | None:
        called = self._guards.objects.callee(site)
        if isinstance(called, ir.Function) and called.owner == self._owner and not is_guarded:
            use = self._inside(called)
            if use is not None:
                return use
        self._met = self._met or may_meet(self._guards.objects, site)
        self._met = self._met or goes_backward(self._guards.objects, site)
        return None

    def _inside(self, method: ir.Function) -> ir.Call | None:
        """The read in a method, if all ranks come to it before they meet."""
        scope = self._guards.objects.scope_of(method)
        if scope is None:
            return None
        points = sorted(self._guards.objects.points_in(scope), key=lambda each: each.statement.site)
        for point in points:
            for call in calls_of(point.statement):
                used = read_file(self._guards.objects, CallSite(call, point))
                if used is not None and same(used, self._path):
                    return None if self._is_some(point) else call
                site, objects = CallSite(call, point), self._guards.objects
                if may_meet(objects, site) or goes_backward(objects, site):
                    return None
        return None

    def _is_some(self, point: Point) -> bool:
        return self._guards.may_be_some_ranks(point) or bool(list(tests_around(point)))


def ends_in_leave(step: Step) -> bool:
    return isinstance(step.statement, ir.If) and any(
        isinstance(inner, (ir.Return, ir.Raise, ir.Break, ir.Continue))
        for inner, _ in placed(step.statement.body)
    )


def meets_in(write: Write) -> bool:
    """Do the ranks meet inside the test, behind the write (and outside of it, in another arm)?"""
    test = write.around[-1].block[write.around[-1].index]
    return any(
        MEETS.search(name) and name not in ONLY_LOOK
        for statement, _ in placed((test,))
        for name in (ir.last_name(item.func) for item in calls_of(statement))
    )
