"""What starts the processes of a program, and which functions it makes them run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.static.callers import known_as, objects_in, overrides_elsewhere
from distlint.analyzer.static.guards.rank_tests import asks_rank_inside
from distlint.analyzer.static.names import Scope
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.source.notebook import SUFFIX

_FORKING = frozenset({"notebook_launcher", "debug_launcher"})
_STARTERS = _FORKING | {"spawn", "launch", "start_processes"}


class Launchers:
    """The calls of one module that start processes."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def spawns(self, function: ir.Function) -> bool:
        """Is a function handed to something that starts processes, here or elsewhere?"""
        module = self._objects.module
        return function.name in self._spawned or (
            not function.owner
            and not function.nested
            and any(
                path_of(argument.value) == path
                for other, path in known_as(module, function.name)
                for site in objects_in(other).calls(_STARTERS)
                for argument in site.call.args
            )
        )

    @cached_property
    def _spawned(self) -> frozenset[str]:
        """Functions that are handed to something that starts processes."""
        return self._given_to(_STARTERS)

    @cached_property
    def handed_on(self) -> frozenset[str]:
        """What calls are given by its name: ``fire.Fire(main)``."""
        return self._given_to(self._objects.called_names)

    def _given_to(self, callees: Iterable[str]) -> frozenset[str]:
        """The names that calls of these functions are given as they are."""
        return frozenset(
            argument.value.id
            for callee in callees
            for site in self._objects.calls({callee})
            for argument in site.call.args
            if isinstance(argument.value, ir.Name)
        )

    def starts_in(self, scope: Scope) -> bool:
        """Does a scope start processes?"""
        return any(True for _ in self._objects.calls_in(scope, _STARTERS))

    def starts_after(self, site: CallSite) -> bool:
        """Are the other processes started after a call, in the same function?"""
        return any(
            each.call.site > site.call.site
            for each in self._objects.calls_in(site.point.scope, _STARTERS)
        )

    @cached_property
    def _forks(self) -> bool:
        """Does the module's body fork processes, as notebooks do?"""
        return any(site.point.scope.function is None for site in self._objects.calls(_FORKING))

    @property
    def is_notebook(self) -> bool:
        """Is it a notebook, which one process runs cell by cell?"""
        return self._objects.module.path.suffix.lower() == SUFFIX

    def begins_alone(self, scope: Scope) -> bool:
        """Is a scope for one process, whatever calls it?"""
        if scope.function is None:  # the processes begin with the function that they are given
            return self._forks or self.is_notebook
        return self._has_distributed_twin(scope.function)

    def _has_distributed_twin(self, method: ir.Function) -> bool:
        """Does a subclass for many ranks override a method with one that asks for the rank?"""
        if not method.owner or asks_rank_inside(method):
            return False
        if any(map(asks_rank_inside, self._objects.classes.overrides(method))):
            return True
        elsewhere = overrides_elsewhere(self._objects.module, method)
        return any(asks_rank_inside(each) for _, each in elsewhere)
