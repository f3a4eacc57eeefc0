"""What the calls of a module call, and from where a function is called."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.classes import Classes, is_static
from distlint.analyzer.static.objects.elsewhere import Callee, Elsewhere
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.sites import CallSite, is_none
from distlint.analyzer.static.reaching_definitions import Point, path_of

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.origins import Origins

_CALL = "__call__"


class Callees:
    """The functions, methods and classes that the calls of one module call."""

    def __init__(
        self, index: Index, classes: Classes, origins: Origins, elsewhere: Elsewhere
    ) -> None:
        self._index = index
        self._module = index.module
        self._classes = classes
        self._origins = origins
        self._elsewhere = elsewhere
        self._callees: dict[ir.Call, tuple[Origins, Callee] | None] = {}
        self._callers: dict[ir.Function, list[CallSite]] = {}
        self._called_elsewhere: dict[ir.Function, list[CallSite]] = {}

    def callee(self, site: CallSite) -> Callee | None:
        """The function, method or class of the module that a call calls."""
        there, found = self.called(site) or (self._origins, None)
        return found if there is self._origins else None

    def called(self, site: CallSite) -> tuple[Origins, Callee] | None:
        """The function, method or class that a call calls, and the origins of its file."""
        there = self._origins.at(site.point)
        if there is not self._origins:
            return there.calls.called(site)
        if site.call not in self._callees:
            self._callees[site.call] = None  # the answer for an object that is made from itself
            self._callees[site.call] = self._find_called(site)
        return self._callees[site.call]

    def _find_called(self, site: CallSite) -> tuple[Origins, Callee] | None:
        func = site.call.func
        if isinstance(func, ir.Attribute):
            there, cls = self._class_of(func.value, site.point) or (self._origins, None)
            method = there.calls.method(cls, func.attr) if cls is not None else None
            if method is not None:
                return method
        elif isinstance(func, ir.Name) and func.id in self._own_names:
            found = [o.node for o in self._origins.of(func, site.point) if not o.attributes]
            if len(found) == 1 and isinstance(found[0], (ir.Function, ir.Class)):
                return self._origins, found[0]
            return None
        found_elsewhere = self._elsewhere.called(site)
        if found_elsewhere is not None:
            module, callee = found_elsewhere
            return self._origins.of_module(module), callee
        return self._called_object(site) if self._has_callable_objects else None

    def _called_object(self, site: CallSite) -> tuple[Origins, ir.Function] | None:
        """The ``__call__`` of the object that a call calls."""
        there, cls = self._class_of(site.call.func, site.point) or (self._origins, None)
        return there.calls.method(cls, _CALL) if cls is not None else None

    @cached_property
    def _has_callable_objects(self) -> bool:
        """May the module call objects of a class of the project as functions?"""
        return any(
            _CALL in cls.methods
            for module in (self._module, *self._module.imports)
            for cls in module.classes.values()
        )

    def method(self, cls: ir.Class, name: str) -> tuple[Origins, ir.Function] | None:
        """The method of a class, also one that it inherits from another file."""
        own = self._classes.method(cls, name)
        if own is not None:
            return self._origins, own
        for module, base in self._elsewhere.bases(cls):
            if name in base.methods:
                return self._origins.of_module(module), base.methods[name]
        return None

    def _class_of(self, node: ir.Expr, point: Point) -> tuple[Origins, ir.Class] | None:
        """The class of the project that an object is of."""
        if path_of(node) == ("self",):
            cls = self._classes.of_self(point.scope)
            return (self._origins, cls) if cls is not None else None
        made = [origin.site for origin in self._origins.of(node, point) if not is_none(origin.node)]
        if len(made) != 1 or made[0] is None:
            return None
        there, found = self.called(made[0]) or (self._origins, None)
        return (there, found) if isinstance(found, ir.Class) else None

    @cached_property
    def _own_names(self) -> frozenset[str]:
        functions = {function.name for function in self._module.functions}
        return frozenset(functions | {cls.name for cls in self._classes.points})

    def own_class(self, node: ir.Expr, point: Point) -> ir.Class | None:
        """The class of the module that an object is of."""
        there, cls = self._class_of(node, point) or (self._origins, None)
        return cls if there is self._origins else None

    def callers(self, function: ir.Function) -> list[CallSite]:
        """The calls of a function, those in other files included."""
        own = self.own_callers(function)
        known = self._called_elsewhere.get(function)
        if known is None:
            self._called_elsewhere[function] = []
            known = self._called_elsewhere[function] = self._elsewhere.calls(function)
        return [*own, *known]

    def own_callers(self, function: ir.Function) -> list[CallSite]:
        """The calls in the module of a function; of a class for its ``__init__``."""
        known = self._callers.get(function)
        if known is None:
            known = self._callers[function] = []
            cls = self._classes.by_method.get(function)
            wanted: list[tuple[str, object]] = [(function.name, function)]
            if cls is not None and function.name == "__init__":
                wanted = [(each.name, each) for each in self._classes.constructed_by(function)]
            elif cls is not None and function.name == "forward":
                wanted = []  # called through the object, seldom by name
            known += [
                site
                for name, callee in wanted
                for site in self._index.calls_by_name.get(name, ())
                if self.callee(site) is callee
            ]
            if cls is not None and function.name == _CALL:
                every = (CallSite(*each) for each in self._index.nodes(ir.Call))
                known += [site for site in every if self.callee(site) is function]
            if cls is not None and function.name == "__init__":
                known += self._classes.calls_from_below(function)
        return known

    def position(self, function: ir.Function, param: ir.Param) -> int | None:
        """The index of a parameter among the arguments of a call; None for keywords only."""
        if param.keyword_only:
            return None
        index = next(i for i, each in enumerate(function.params) if each is param)
        bound = function in self._classes.by_method and not is_static(function)
        return index - 1 if bound else index
