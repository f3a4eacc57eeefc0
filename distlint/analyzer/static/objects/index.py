"""What a module contains: its statements, calls and other expressions, by name and by scope."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

from distlint.analyzer import ir
from distlint.analyzer.static.names import Names, Scope, nodes_of, placed
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

N = TypeVar("N", bound=ir.Expr)

_ASKED_FOR = (
    ir.BoolOp,
    ir.Attribute,
    ir.Call,
    ir.Compare,
    ir.Conditional,
    ir.DictDisplay,
    ir.Subscript,
)
"""Kinds of expressions that rules ask for in a whole module."""


class Index:
    """The statements, calls and other expressions of one module, each table made on first use."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.module = names.module

    def calls(self, names: Collection[str]) -> Iterator[CallSite]:
        """The calls whose callee has one of these last names, also under an import alias."""
        for name in self._with_aliases(names):
            yield from self.calls_by_name.get(name, ())

    def calls_in(self, scope: Scope, names: Collection[str]) -> Iterator[CallSite]:
        """The same in one function, or in the module's body."""
        return (site for name in self._with_aliases(names) for site in self._in(scope, name))

    def _with_aliases(self, names: Collection[str]) -> Iterable[str]:
        wanted = [alias for alias, name in self.module.aliases.items() if name in names]
        return dict.fromkeys((*sorted(names), *sorted(wanted)))

    def _in(self, scope: Scope, name: str) -> Sequence[CallSite]:
        return self._calls_by_scope.get((id(scope), name), ())

    @cached_property
    def _calls_by_scope(self) -> dict[tuple[int, str], list[CallSite]]:
        table: dict[tuple[int, str], list[CallSite]] = {}
        for name, sites in self.calls_by_name.items():
            for site in sites:
                table.setdefault((id(site.point.scope), name), []).append(site)
        return table

    @property
    def called_names(self) -> Collection[str]:
        """The last names of everything that the module calls."""
        return self.calls_by_name.keys()

    @cached_property
    def calls_by_name(self) -> dict[str, list[CallSite]]:
        """All calls, by the last names of what they call as it is written."""
        table: dict[str, list[CallSite]] = {}
        for node, point in self.nodes(ir.Call):
            table.setdefault(ir.last_name(node.func), []).append(CallSite(node, point))
        return table

    def nodes(self, kind: type[N]) -> Sequence[tuple[N, Point]]:
        """All expressions of a kind, and the statements that they are evaluated by."""
        return self._nodes.get(kind, ())

    @cached_property
    def _nodes(self) -> dict[type, list[tuple[Any, Point]]]:
        table: dict[type, list[tuple[Any, Point]]] = {kind: [] for kind in _ASKED_FOR}
        for point in self.points:
            for node in nodes_of(point.statement):
                found = table.get(type(node))
                if found is not None:
                    found.append((node, point))
        return table

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every statement of the module."""
        return tuple(
            Point(scope, around) for scope in self.names.scopes for _, around in placed(scope.body)
        )

    def points_in(self, scope: Scope) -> Sequence[Point]:
        """The statements of one function, or of the module's body."""
        return self._points_by_scope.get(id(scope), ())

    @cached_property
    def _points_by_scope(self) -> dict[int, list[Point]]:
        table: dict[int, list[Point]] = {}
        for point in self.points:
            table.setdefault(id(point.scope), []).append(point)
        return table

    @cached_property
    def loops(self) -> tuple[Point, ...]:
        """Every ``for`` statement of the module."""
        return tuple(point for point in self.points if isinstance(point.statement, ir.For))

    def scope_of(self, function: ir.Function) -> Scope | None:
        return self._scopes.get(function)

    @cached_property
    def _scopes(self) -> dict[ir.Function, Scope]:
        return {s.function: s for s in self.names.scopes if s.function is not None}

    def assigned_to(self, name: str, scope: Scope) -> Sequence[Point]:
        """The assignments of a function to a variable, as they are placed in it."""
        return self._assignments.get((id(scope), name), ())

    @cached_property
    def _assignments(self) -> dict[tuple[int, str], list[Point]]:
        table: dict[tuple[int, str], list[Point]] = {}
        for point in self.points:
            if isinstance(point.statement, ir.Assign):
                for target in point.statement.targets:
                    if isinstance(target, ir.Name):
                        table.setdefault((id(point.scope), target.id), []).append(point)
        return table

    @cached_property
    def global_writers(self) -> dict[str, list[Scope]]:
        """The functions that declare a variable of the module global."""
        table: dict[str, list[Scope]] = {}
        for scope in self.names.scopes:
            for name in scope.function.outer if scope.function is not None else ():
                table.setdefault(name, []).append(scope)
        return table
