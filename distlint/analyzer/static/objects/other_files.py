"""The other files of a project, as the values of one of its files need them."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.callers import (
    calls_elsewhere,
    derived_elsewhere,
    is_seen,
)
from distlint.analyzer.static.inheritance import bases_elsewhere
from distlint.analyzer.static.objects.elsewhere import Callee, Elsewhere
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.origins import Origins
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, path_of


class OtherFiles(Elsewhere):
    """The other files of a project, as the values of one of them need them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._module = objects.module

    def origins_in(self, origins: Origins, module: Module) -> Origins:
        """The origins of the values of another file."""
        project = module.project
        assert project is not None
        flow = objects_across(module, project.catalogue_of(module)).flow
        flow = flow.with_moves if origins.is_with_moves else flow
        return flow if origins.knows_fills else flow.without_fills

    def called(self, site: CallSite) -> tuple[Module, Callee] | None:
        """The function or class of another file that a name at a call stands for."""
        path = path_of(site.call.func)
        if path is None or path[0] == "self" or not is_seen(self._objects, path, site.point):
            return None
        found = self._module.lead_to(*path)
        if found is None or not isinstance(found[1], (ir.Function, ir.Class)):
            return None
        return found[0], found[1]

    def calls(self, function: ir.Function) -> list[CallSite]:
        """The calls in other files of a function of this one."""
        return [site for _, site in calls_elsewhere(self._module, function)]

    def bases(self, cls: ir.Class) -> list[tuple[Module, ir.Class]]:
        """The classes of other files that a class of this one derives from."""
        found = bases_elsewhere(self._objects, cls)
        return [(where.module, base) for where, base in found if where.module is not self._module]

    def derived(self, cls: ir.Class) -> list[tuple[Module, ir.Class]]:
        """The classes of other files that derive from a class of this one."""
        return list(derived_elsewhere(self._module, cls))

    def variable(self, path: Path) -> tuple[Module, Path, Path] | None:
        """The variable of another file that a path begins with, and what is left of the path."""
        for end in range(len(path), 0, -1):
            found = self._module.lead_to(*path[:end])
            if found is not None:
                is_value = isinstance(found[1], ir.Expr)
                return (found[0], path[end - 1 : end], path[end:]) if is_value else None
        return None
