"""Where another method of a class reads the file that one rank has written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import run_by
from distlint.analyzer.static.guards.guards import guards_in
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import calls_of, expressions_in, placed
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.checkpoints._file_calls import read_file
from distlint.rules.checkpoints._paths import same_path, spelled
from distlint.rules.checkpoints._uses import goes_backward
from distlint.rules.checkpoints._written import ONLY_LOOK, is_named_to_meet, may_meet
from distlint.rules.collectives._following import Step, following
from distlint.rules.setup._order import tests_around

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.rules.checkpoints._written import Write

_DEPTH = 4
"""How many callers are followed."""


def used_by_methods(guards: Guards, write: Write) -> ir.Call | None:
    """The first use of the path in another method, which all ranks come to without a meeting."""
    point, owner = write.site.point, write.used.owner
    function = point.scope.function
    if write.used.makes or meets_in(guards.objects, write):
        return None
    path = spelled(write.path, guards.objects, point.scope)
    if not owner and function is not None and _is_of_object(path, function):
        owner = function.owner
    if not owner:
        return None
    return _Walk(guards, write.site if write.used.owner else None, path, owner).behind(
        Point(point.scope, write.around), _DEPTH
    )


def _is_of_object(path: ir.Expr, function: ir.Function) -> bool:
    """Does a path mean the same in each method: ``self.file``, ``join(self.folder, "a")``?"""
    names = ir.names_in(path)
    return "self" in names and not any(name in function.locals for name in names - {"self"})


class _Walk:
    """The way from a write to where another method of the class reads the file."""

    def __init__(self, guards: Guards, site: CallSite | None, path: ir.Expr, owner: str) -> None:
        self._guards, self._path, self._owner = guards, path, owner
        self._receiver = _receiver(site) if site is not None else None
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
        run = run_by(self._guards.objects, site)
        if run is not None and run[1].owner == self._owner and not is_guarded:
            use = self._inside(*run) if self._is_same_object(site) else None
            if use is not None:
                return use if run[0] is self._guards.objects else site.call
        self._met = self._met or may_meet(self._guards.objects, site)
        self._met = self._met or goes_backward(self._guards.objects, site)
        return None

    def _is_same_object(self, site: CallSite) -> bool:
        """Is a method called on the object of the write? Not where both have other names."""
        named = {each for each in (self._receiver, _receiver(site)) if each not in (None, "self")}
        return len(named) < 2

    def _inside(self, objects: Objects, method: ir.Function) -> ir.Call | None:
        """The read in a method, if all ranks come to it before they meet."""
        scope = objects.scope_of(method)
        if scope is None:
            return None
        points = sorted(objects.points_in(scope), key=lambda each: each.statement.site)
        for point in points:
            for call in calls_of(point.statement):
                site = CallSite(call, point)
                used = read_file(objects, site)
                if used is not None and same_path(spelled(used, objects, scope), self._path):
                    return None if self._is_some(objects, point) else call
                if may_meet(objects, site) or goes_backward(objects, site):
                    return None
        return None

    def _is_some(self, objects: Objects, point: Point) -> bool:
        guards = guards_in(objects.module) if objects is not self._guards.objects else self._guards
        return guards.may_be_some_ranks(point) or bool(list(tests_around(point)))


def _receiver(site: CallSite) -> str | None:
    """The object whose method a call calls, as it is written: ``self.cache``."""
    path = path_of(site.call.func)
    return ".".join(path[:-1]) if path is not None and len(path) > 1 else None


def ends_in_leave(step: Step) -> bool:
    return isinstance(step.statement, ir.If) and any(
        isinstance(inner, (ir.Return, ir.Raise, ir.Break, ir.Continue))
        for inner, _ in placed(step.statement.body)
    )


def meets_in(objects: Objects, write: Write) -> bool:
    """Do the ranks meet inside the test, behind the write (and outside of it, in another arm)?"""
    level, here = len(write.around) - 1, write.around[-1]
    return any(
        is_named_to_meet(objects, CallSite(call, point))
        for point in objects.points_in(write.site.point.scope)
        if len(point.around) > level
        and point.around[level].block is here.block
        and point.around[level].index == here.index
        for call in calls_of(point.statement)
        if ir.last_name(call.func) not in ONLY_LOOK
    )
