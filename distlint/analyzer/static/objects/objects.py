"""What rules ask about the objects of one module: which call made a value, what a call calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.names import Names, Scope
from distlint.analyzer.static.objects.arguments import Passed
from distlint.analyzer.static.objects.classes import Classes
from distlint.analyzer.static.objects.framework_calls import FrameworkCalls
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.origins import Origins
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.objects.uses import Uses
from distlint.analyzer.static.reaching_definitions import Path, Point
from distlint.catalogue.catalogue import Catalogue

N = TypeVar("N", bound=ir.Expr)


@lru_cache(maxsize=32)
def objects_of(module: Module, catalogue: Catalogue) -> Objects:
    """The objects of a module; rules that ask one after another share what was found."""
    return Objects(module, catalogue)


class Objects:
    """The objects of one module. Nothing is looked up before it is asked for.

    ``classes`` and ``uses`` answer what is asked about its classes, and about the uses of objects.
    """

    def __init__(self, module: Module, catalogue: Catalogue) -> None:
        self.module = module
        self.catalogue = catalogue
        self.names = Names(module, catalogue)
        self._index = Index(self.names)
        self.classes = Classes(self._index)
        self._origins = Origins(self._index, self.classes)
        self._calls = FrameworkCalls(self._index, self.classes, self._origins)
        self.uses = Uses(self._index, self._origins, self._calls)

    # ---- what is there

    @property
    def points(self) -> tuple[Point, ...]:
        """Every statement of the module."""
        return self._index.points

    def points_in(self, scope: Scope) -> Sequence[Point]:
        """The statements of one function, or of the module's body."""
        return self._index.points_in(scope)

    def scope_of(self, function: ir.Function) -> Scope | None:
        """The scope of a function of the module."""
        return self._index.scope_of(function)

    def nodes(self, kind: type[N]) -> Sequence[tuple[N, Point]]:
        """All expressions of a kind, and the statements that they are evaluated by."""
        return self._index.nodes(kind)

    def calls(self, names: Collection[str]) -> Iterator[CallSite]:
        """The calls whose callee has one of these last names, also under an import alias."""
        return self._index.calls(names)

    def calls_in(self, scope: Scope, names: Collection[str]) -> Iterator[CallSite]:
        """The same in one function, or in the module's body."""
        return self._index.calls_in(scope, names)

    @property
    def called_names(self) -> Collection[str]:
        """The last names of everything that the module calls."""
        return self._index.called_names

    def assigned_to(self, name: str, scope: Scope) -> Sequence[Point]:
        """The assignments of a function to a variable, as they are placed in it."""
        return self._index.assigned_to(name, scope)

    # ---- what a call calls

    def calls_to(self, *dotted: str) -> Iterator[CallSite]:
        """The calls of functions and classes of frameworks, by their dotted names."""
        return self._calls.calls_to(*dotted)

    def is_call_to(self, site: CallSite, *dotted: str) -> bool:
        """Does a call call one of these? A name that came in by a star import may be any."""
        return self._calls.is_call_to(site, *dotted)

    def called(self, site: CallSite) -> str:
        """The dotted name of what a call calls, ``""`` if unknown."""
        return self._calls.called(site)

    def class_of(self, node: ir.Expr, point: Point) -> str:
        """The framework class of an object, by the call that made it, else by its name."""
        return self._calls.class_of(node, point)

    def is_undefined(self, site: CallSite) -> bool:
        """Does nothing define what is called, neither this module nor an import?"""
        return self._calls.is_undefined(site)

    def callee(self, site: CallSite) -> ir.Function | ir.Class | None:
        """The function, method or class of the module that a call calls."""
        return self._origins.callee(site)

    def callers(self, function: ir.Function) -> list[CallSite]:
        """The calls in the module of a function; of a class for its ``__init__``."""
        return self._origins.callers(function)

    # ---- where values come from

    def origins(self, node: ir.Expr, point: Point) -> tuple[Origin, ...]:
        """Where the value of an expression may come from, as seen at a statement."""
        return self._origins.of(node, point)

    def returns(self, function: ir.Function) -> Iterator[Origin]:
        """Where the values that a function returns come from."""
        return self._origins.returns(function)

    def attribute(self, cls: ir.Class, path: Path) -> Iterator[Origin]:
        """Where an attribute of the objects of a class comes from, as its methods assign it."""
        return self._origins.attribute(cls, path)

    def own_class(self, node: ir.Expr, point: Point) -> ir.Class | None:
        """The class of the module that an object is of."""
        return self._origins.own_class(node, point)

    def argument(self, site: CallSite, name: str, position: int | None = None) -> Passed:
        """What a call passes for the parameter of this name and position."""
        return self._origins.argument(site, name, position)

    def passed(self, passed: Passed, point: Point) -> tuple[Origin, ...]:
        """Where what a call passes comes from; nothing if it passes nothing that is known."""
        return self._origins.passed(passed, point)

    def constant(self, passed: Passed, point: Point, default: object = None) -> object:
        """The constant that a call passes, also through variables; Ellipsis if it is none."""
        return self._origins.constant(passed, point, default)
