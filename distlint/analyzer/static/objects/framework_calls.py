"""What the calls of a module call of frameworks, as dotted names."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope
from distlint.analyzer.static.objects.classes import Classes
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.origins import Origins
from distlint.analyzer.static.objects.sites import CallSite, is_none
from distlint.analyzer.static.reaching_definitions import Point, path_of

_MOST_METHODS = 64
"""Methods of what methods have made that are followed, one after another."""


class FrameworkCalls:
    """The dotted names of what the calls of one module call."""

    def __init__(
        self,
        index: Index,
        classes: Classes,
        origins: Origins,
        calls_at: Callable[[Point], FrameworkCalls],
    ) -> None:
        self._at = calls_at
        """The calls of the file that a statement stands in."""
        self._index = index
        self._classes = classes
        self._origins = origins
        self._module = index.module
        self._names = index.names
        self._catalogue = index.names.catalogue
        self._called: dict[ir.Call, str] = {}
        self._asking = 0

    def calls_to(self, *dotted: str) -> Iterator[CallSite]:
        """The calls of functions and classes of frameworks, by their dotted names."""
        for site in self._index.calls({name.rpartition(".")[2] for name in dotted}):
            if self.is_call_to(site, *dotted):
                yield site

    def is_call_to(self, site: CallSite, *dotted: str) -> bool:
        """Does a call call one of these? A name that came in by a star import may be any."""
        there = self._at(site.point)
        if there is not self:
            return there.is_call_to(site, *dotted)
        name = self.called(site)
        if name in dotted:
            return True
        path = path_of(site.call.func)
        return (
            path is not None
            and name == ".".join(path)
            and self._is_foreign(path[0], site.point.scope)
            and any(each.rpartition(".")[2] == path[-1] for each in dotted)
        )

    def is_undefined(self, site: CallSite) -> bool:
        """Does nothing define what is called, neither this module nor an import?

        A function of no known origin, or a method of ``self`` that no class has.
        """
        func = site.call.func
        if isinstance(func, ir.Attribute):
            is_own = path_of(func.value) == ("self",)
            cls = self._classes.of_self(site.point.scope) if is_own else None
            return (
                cls is not None
                and self._classes.is_closed(cls)
                and self._origins.calls.callee(site) is None
            )
        return (
            isinstance(func, ir.Name)
            and self._is_foreign(func.id, site.point.scope)
            and not self._module.star_imports
            and not hasattr(builtins, func.id)
        )

    def called(self, site: CallSite) -> str:
        """The dotted name of what a call calls, ``""`` if unknown.

        A method of an object of a framework's class is ``class.method``. A name that the module
        neither imports nor defines stands for itself (it came in by a star import).
        """
        there = self._at(site.point)
        if there is not self:
            return there.called(site)
        known = self._called.get(site.call)
        if known is None and self._asking < _MOST_METHODS:
            self._called[site.call] = ""  # the answer for an object that is made from itself
            self._asking += 1
            try:
                known = self._called[site.call] = self._name_called(site)
            finally:
                self._asking -= 1
        return known or ""

    def _name_called(self, site: CallSite) -> str:
        callee, scope = site.call.func, site.point.scope
        dotted = self._names.dotted(callee, scope)
        if dotted is not None:
            return self._catalogue.canonical(dotted)
        if isinstance(callee, ir.Attribute):
            cls = self.class_of(callee.value, site.point)
            kept = cls or self._module_kept(callee.value, site.point)
            if kept:
                return f"{kept}.{callee.attr}"
        path = path_of(callee)
        return ".".join(path) if path is not None and self._is_foreign(path[0], scope) else ""

    def _module_kept(self, node: ir.Expr, point: Point) -> str:
        """What an attribute of the object itself stands for: ``self._wandb = wandb``."""
        path = path_of(node)
        if path is None or len(path) != 2 or path[0] != "self":
            return ""
        cls = self._origins.calls.own_class(ir.Name("self"), point)
        found = {
            self._names.dotted(binding.node, binding.point.scope) or ""
            for each in (self._classes.with_bases(cls) if cls is not None else ())
            for binding in self._classes.assigned_by_methods(each, path[1:])
            if isinstance(binding.node, ir.Expr) and not is_none(binding.node)
        }
        return self._catalogue.canonical(found.pop()) if len(found) == 1 else ""

    def class_of(self, node: ir.Expr, point: Point) -> str:
        """The framework class of an object, by the call that made it, else by its name."""
        found = {
            self.called(origin.site) if origin.site is not None else ""
            for origin in self._origins.of(node, point)
            if not is_none(origin.node)
        }
        if len(found) == 1 and self._catalogue.is_class(only := next(iter(found))):
            return self._catalogue.canonical(only)
        return self._names.class_of(node, point.scope) or ""

    def _is_foreign(self, name: str, scope: Scope) -> bool:
        """Does nothing in the module give the name a meaning?"""
        seen: Scope | None = scope
        while seen is not None and seen.function is not None:
            if name in seen.function.locals:
                return False
            seen = seen.outer
        return name not in self._module.definitions
