"""What rules ask about the objects of one module: which call made a value, what a call calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TypeVar

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.project.project import Project
from distlint.analyzer.static.names import Names, Scope
from distlint.analyzer.static.objects.arguments import Passed
from distlint.analyzer.static.objects.classes import Classes
from distlint.analyzer.static.objects.framework_calls import FrameworkCalls
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.origins import Origins
from distlint.analyzer.static.objects.questions import Questions
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.objects.uses import Uses
from distlint.analyzer.static.reaching_definitions import Path, Point
from distlint.catalogue.catalogue import Catalogue

N = TypeVar("N", bound=ir.Expr)


_MOST_FILES = 64
"""Files whose objects are at hand."""


class _Kept:
    """The objects of the files that were asked about last, until a file changes."""

    def __init__(self) -> None:
        self.own = lru_cache(maxsize=_MOST_FILES)(_own)
        self.across = lru_cache(maxsize=_MOST_FILES)(_across)


def _own(module: Module, catalogue: Catalogue) -> Objects:
    index = Index(Names(module, catalogue))
    classes = Classes(index)
    return Objects(index, classes, Origins(index, classes))


def _across(module: Module, catalogue: Catalogue) -> Objects:
    from distlint.analyzer.static.objects.other_files import OtherFiles  # asks for objects itself

    own, project = objects_of(module, catalogue), module.project
    if project is None:
        return own
    others = OtherFiles(own)
    return Objects(
        own.index, own.classes, Origins(own.index, own.classes, others, project.memo_of(Questions))
    )


def _kept(module: Module) -> _Kept:
    return module.project.memo_of(_Kept) if module.project is not None else _ALONE


def objects_of(module: Module, catalogue: Catalogue) -> Objects:
    """The objects of a module, followed within it.

    Rules that ask one after another share what was found.
    """
    return _kept(module).own(module, catalogue)


def objects_across(module: Module, catalogue: Catalogue) -> Objects:
    """The objects of a module, followed into the other files of the project, too."""
    return _kept(module).across(module, catalogue)


class Objects:
    """The objects of one module. Nothing is looked up before it is asked for.

    ``classes`` and ``uses`` answer what is asked about its classes, and about the uses of objects.
    Where they are followed across files, a value may come from a place in another one, which
    ``point.scope.module`` names; what is asked about such a place, that file answers.
    """

    def __init__(self, index: Index, classes: Classes, origins: Origins) -> None:
        self.module = index.module
        self.names = index.names
        self.catalogue = index.names.catalogue
        self.index = index
        self.classes = classes
        self.flow = origins
        self._calls = FrameworkCalls(index, classes, origins, lambda point: self.at(point)._calls)
        self.uses = Uses(index, origins, self._calls)

    def at(self, point: Point) -> Objects:
        """The objects of the file that a statement stands in."""
        return self.in_file(point.scope.module)

    def in_file(self, module: Module) -> Objects:
        """The objects of another file of the project, or of the same one."""
        if module is self.module or module.project is None:
            return self
        return objects_across(module, module.project.catalogue_of(module))

    # ---- what is there

    @property
    def points(self) -> tuple[Point, ...]:
        """Every statement of the module."""
        return self.index.points

    def points_in(self, scope: Scope) -> Sequence[Point]:
        """The statements of one function, or of the module's body."""
        return self.index.points_in(scope)

    def scope_of(self, function: ir.Function) -> Scope | None:
        """The scope of a function of the module."""
        return self.index.scope_of(function)

    def nodes(self, kind: type[N]) -> Sequence[tuple[N, Point]]:
        """All expressions of a kind, and the statements that they are evaluated by."""
        return self.index.nodes(kind)

    def calls(self, names: Collection[str]) -> Iterator[CallSite]:
        """The calls whose callee has one of these last names, also under an import alias."""
        return self.index.calls(names)

    def calls_in(self, scope: Scope, names: Collection[str]) -> Iterator[CallSite]:
        """The same in one function, or in the module's body."""
        return self.index.calls_in(scope, names)

    @property
    def called_names(self) -> Collection[str]:
        """The last names of everything that the module calls."""
        return self.index.called_names

    def assigned_to(self, name: str, scope: Scope) -> Sequence[Point]:
        """The assignments of a function to a variable, as they are placed in it."""
        return self.index.assigned_to(name, scope)

    # ---- what a call calls

    def calls_to(self, *dotted: str) -> Iterator[CallSite]:
        """The calls of functions and classes of frameworks, by their dotted names."""
        return self._calls.calls_to(*dotted)

    def made(self, *dotted: str) -> Iterator[tuple[CallSite, CallSite]]:
        """The calls of the module that give what one of these makes, and those that make it.

        They are the same, but where a function of the project returns what it makes.
        """
        yield from ((site, site) for site in self.calls_to(*dotted))
        yield from (each for each in self.relayed if self.is_call_to(each[1], *dotted))

    @cached_property
    def relayed(self) -> list[tuple[CallSite, CallSite]]:
        """The calls of functions of the project, and the calls that make what those return."""
        return [
            (site, origin.site)
            for site in (CallSite(*each) for each in self.nodes(ir.Call))
            if isinstance((self.flow.calls.called(site) or (None, None))[1], ir.Function)
            for origin in self.origins(site.call, site.point)
            if origin.site is not None and origin.node is not site.call
        ]

    def is_call_to(self, site: CallSite, *dotted: str) -> bool:
        """Does a call call one of these? A name that came in by a star import may be any."""
        return self._calls.is_call_to(site, *dotted)

    def called(self, site: CallSite) -> str:
        """The dotted name of what a call calls, ``""`` if unknown."""
        return self._calls.called(site)

    def class_of(self, node: ir.Expr, point: Point) -> str:
        """The framework class of an object, by the call that made it, else by its name."""
        return self.at(point)._calls.class_of(node, point)

    def is_undefined(self, site: CallSite) -> bool:
        """Does nothing define what is called, neither this module nor an import?"""
        return self.at(site.point)._calls.is_undefined(site)

    def callee(self, site: CallSite) -> ir.Function | ir.Class | None:
        """The function, method or class of the module that a call calls."""
        return self.flow.calls.callee(site)

    def callee_anywhere(self, site: CallSite) -> tuple[Objects, ir.Function | ir.Class] | None:
        """The function, method or class that a call calls, and the objects of its file."""
        found = self.flow.calls.called(site)
        return (self.in_file(found[0].module), found[1]) if found is not None else None

    def function_called(self, site: CallSite) -> tuple[Objects, ir.Function] | None:
        """The same for a function or a method."""
        there, callee = self.callee_anywhere(site) or (self, None)
        return (there, callee) if isinstance(callee, ir.Function) else None

    def method_anywhere(self, cls: ir.Class, name: str) -> tuple[Objects, ir.Function] | None:
        """The method of a class of the module, which may be inherited from another file."""
        found = self.flow.calls.method(cls, name)
        return (self.in_file(found[0].module), found[1]) if found is not None else None

    def params_given(
        self, function: ir.Function, site: CallSite
    ) -> Iterator[tuple[ir.Param, ir.Expr]]:
        """The parameters of a function of the module, and what a call passes for them."""
        for param in function.params:
            position = self.flow.calls.position(function, param)
            value = None if param.star else self.argument(site, param.name, position).value
            if value is not None:
                yield param, value

    def callers_anywhere(self, function: ir.Function) -> Iterator[tuple[Objects, CallSite]]:
        """The calls of a function, and the objects of their files, which may be others."""
        for site in self.flow.calls.callers(function):
            yield self.at(site.point), site

    def callers(self, function: ir.Function) -> list[CallSite]:
        """The calls in the module of a function; of a class for its ``__init__``."""
        return self.flow.calls.own_callers(function)

    # ---- where values come from

    def origins(self, node: ir.Expr, point: Point) -> tuple[Origin, ...]:
        """Where the value of an expression may come from, as seen at a statement."""
        return self.flow.of(node, point)

    def returns(self, function: ir.Function) -> Iterator[Origin]:
        """Where the values that a function returns come from."""
        return self.flow.returns(function)

    def attribute(self, cls: ir.Class, path: Path) -> Iterator[Origin]:
        """Where an attribute of the objects of a class comes from, as its methods assign it."""
        return self.flow.attribute(cls, path)

    def own_class(self, node: ir.Expr, point: Point) -> ir.Class | None:
        """The class of the module that an object is of."""
        return self.at(point).flow.calls.own_class(node, point)

    def puts_in(self, site: CallSite) -> bool:
        """Does a call only put something into a list or a dict that the project makes?"""
        return self.at(site.point).flow.elements.is_fill(site)

    def argument(self, site: CallSite, name: str, position: int | None = None) -> Passed:
        """What a call passes for the parameter of this name and position."""
        return self.at(site.point).flow.argument(site, name, position)

    def passed(self, passed: Passed, point: Point) -> tuple[Origin, ...]:
        """Where what a call passes comes from; nothing if it passes nothing that is known."""
        return self.at(point).flow.passed(passed, point)

    def constant(self, passed: Passed, point: Point, default: object = None) -> object:
        """The constant that a call passes, also through variables; Ellipsis if it is none."""
        return self.at(point).flow.constant(passed, point, default)


_ALONE = _Kept()
"""For modules without a project."""


def forget(projects: Iterable[Project] = ()) -> None:
    """Drop what was found out about the last modules of some projects, and of none."""
    for project in projects:
        project.memo.pop(_Kept, None)
    _ALONE.own.cache_clear()
    _ALONE.across.cache_clear()
