"""The classes of a module: bases, methods, and what methods assign to attributes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Binding, Path, Point, Search, path_of


class Classes:
    """The class hierarchy of one module."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._module = index.module
        self._assigned: dict[tuple[ir.Class, Path], tuple[Binding, ...]] = {}

    @cached_property
    def points(self) -> dict[ir.Class, Point]:
        """Every class of the module, and the statement that defines it."""
        return {
            point.statement.cls: point
            for point in self._index.points
            if isinstance(point.statement, ir.DefineClass)
        }

    @cached_property
    def by_method(self) -> dict[ir.Function, ir.Class]:
        """The class that each method is defined in."""
        return {method: cls for cls in self.points for method in cls.methods.values()}

    def method(self, cls: ir.Class, name: str) -> ir.Function | None:
        """The method of a class, also one that it inherits within the module."""
        for each in self.with_bases(cls):
            if name in each.methods:
                return each.methods[name]
        return None

    def with_bases(self, cls: ir.Class) -> Iterator[ir.Class]:
        """A class and its bases, as far as they are in the module."""
        seen: list[ir.Class] = [cls]
        for each in seen:
            yield each
            for base in each.bases:
                found = self._module.classes.get(base.id) if isinstance(base, ir.Name) else None
                if found is not None and found not in seen:
                    seen.append(found)

    def is_closed(self, cls: ir.Class) -> bool:
        """Are all bases of a class in the module?"""
        return all(
            isinstance(base, ir.Name) and (base.id in self._module.classes or base.id == "object")
            for each in self.with_bases(cls)
            for base in each.bases
        )

    def of_self(self, scope: Scope) -> ir.Class | None:
        """The class that ``self`` is an object of, as a scope sees it."""
        function = _method_around(scope)
        return self.by_method.get(function) if function is not None else None

    def lineage(self, method: ir.Function) -> list[ir.Class]:
        """The class of a method and its bases, as far as they are in the module."""
        cls = self.by_method.get(method)
        return list(self.with_bases(cls)) if cls is not None else []

    def super_callee(self, site: CallSite) -> ir.Function | None:
        """The method of a base class that a call calls: ``super().save()``."""
        func, function = site.call.func, site.point.scope.function
        if not isinstance(func, ir.Attribute) or function is None:
            return None
        if not isinstance(func.value, ir.Call) or path_of(func.value.func) != ("super",):
            return None
        found = (each.methods.get(func.attr) for each in self.lineage(function)[1:])
        return next((each for each in found if each is not None), None)

    def constructed_by(self, constructor: ir.Function) -> Iterator[ir.Class]:
        """The classes of the module whose objects a constructor makes, also by inheritance."""
        for each in self.points:
            if self.method(each, "__init__") is constructor:
                yield each

    def calls_from_below(self, method: ir.Function) -> Iterator[CallSite]:
        """The calls of a method in subclasses, by ``super()``."""
        for site in self._index.calls_by_name.get(method.name, ()):
            if self.super_callee(site) is method:
                yield site

    def overrides(self, method: ir.Function) -> Iterator[ir.Function]:
        """The methods of subclasses in the module that stand in for a method."""
        cls = self.by_method.get(method)
        for each in self.points:
            own = each.methods.get(method.name)
            if own is not None and own is not method and cls in {*self.with_bases(each)}:
                yield own

    def subclasses_of(self, *dotted: str) -> Iterator[ir.Class]:
        """The classes of the module that derive from a class of a framework."""
        for cls, point in self.points.items():
            bases = [base for each in self.with_bases(cls) for base in each.bases]
            for base in bases:
                name = self._index.names.dotted(base, point.scope)
                if name is not None and self._index.names.catalogue.canonical(name) in dotted:
                    yield cls
                    break

    def super_calls(self, method: ir.Function) -> Iterator[CallSite]:
        """The calls by which a method calls itself in a base class."""
        for site in self._index.calls({method.name}):
            func = site.call.func
            if site.point.scope.function is method and isinstance(func, ir.Attribute):
                if isinstance(func.value, ir.Call) and path_of(func.value.func) == ("super",):
                    yield site

    def assigned_by_methods(self, cls: ir.Class, rest: Path) -> tuple[Binding, ...]:
        """What the methods that a class defines assign to an attribute of ``self``."""
        known = self._assigned.get((cls, rest))
        if known is None:
            found: list[Binding] = []
            for method in cls.methods.values():
                scope = self._index.scope_of(method)
                if scope is not None and method.params and rest[0] in method.tokens:
                    path = (method.params[0].name, *rest)
                    found += Search(path, scope, leaving=True).in_block(method.body)[0]
            known = self._assigned[cls, rest] = tuple(found)
        return known


def _method_around(scope: Scope) -> ir.Function | None:
    """The function whose ``self`` a scope sees: its own, or that of a function around it."""
    seen: Scope | None = scope
    while seen is not None and seen.function is not None:
        if "self" in seen.function.locals:
            return seen.function
        seen = seen.outer
    return None


def is_static(function: ir.Function) -> bool:
    """Is it a method without ``self``?"""
    return any(path_of(each) == ("staticmethod",) for each in function.decorators)


def is_property(function: ir.Function) -> bool:
    """Is it a method whose result is read as an attribute?"""
    return any((path_of(each) or ("",))[-1].endswith("property") for each in function.decorators)
