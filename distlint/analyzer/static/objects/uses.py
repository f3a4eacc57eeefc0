"""What a module does with the object that a call made: passes it on, iterates over it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.static.objects.framework_calls import FrameworkCalls
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.origins import Origins
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import VALUE, Point

_MAX_WRAPS = 3
"""How many calls a loop's iterable may be wrapped in: ``enumerate(tqdm(loader))``."""


class Uses:
    """The uses of the objects that the calls of one module make."""

    def __init__(self, index: Index, origins: Origins, calls: FrameworkCalls) -> None:
        self._index = index
        self._origins = origins
        self._calls = calls
        self._catalogue = index.names.catalogue

    def passed_to(self, made: ir.Call) -> Iterator[tuple[CallSite, ir.Argument]]:
        """The calls that get the object which another call made, and the argument that it is."""
        for site, argument in self._passed.get(made, ()):
            if site.call is not made:
                yield site, argument

    def passed_within(self, made: ir.Call) -> Sequence[CallSite]:
        """The calls that get a list or a dict which holds the object."""
        return self._passed_within.get(made, ())

    @cached_property
    def _passed_within(self) -> dict[ir.Call, list[CallSite]]:
        table: dict[ir.Call, list[CallSite]] = {}
        for node, point in self._index.nodes(ir.Call):
            for argument in node.args:
                for origin in self._origins.of(argument.value, point):
                    for each in dict.fromkeys(self._origins.elements.held(origin, VALUE)):
                        if each.call is not None:
                            table.setdefault(each.call, []).append(CallSite(node, point))
        return table

    def holds(self, node: ir.Expr, point: Point, made: ir.Call) -> bool:
        """May a list or a dict hold the object that a call made?"""
        return any(
            each.call is made
            for origin in self._origins.of(node, point)
            for each in self._origins.elements.held(origin, VALUE)
        )

    @cached_property
    def _passed(self) -> dict[ir.Call, list[tuple[CallSite, ir.Argument]]]:
        """The arguments of all calls, by the call that made the object."""
        table: dict[ir.Call, list[tuple[CallSite, ir.Argument]]] = {}
        for sites in self._index.calls_by_name.values():
            for site in sites:
                for argument in site.call.args:
                    made = (o.call for o in self._origins.of(argument.value, site.point))
                    for call in dict.fromkeys(each for each in made if each is not None):
                        table.setdefault(call, []).append((site, argument))
        return table

    def methods_on(self, made: ir.Call, names: Collection[str]) -> Iterator[CallSite]:
        """The calls of these methods on the object that a call made."""
        for site in self._index.calls(names):
            func = site.call.func
            if isinstance(func, ir.Attribute) and self.is_made_by(made, func.value, site.point):
                yield site

    def is_made_by(self, made: ir.Call, node: ir.Expr, point: Point) -> bool:
        """May an expression be the object that a call made?"""
        return any(origin.call is made for origin in self._origins.of(node, point))

    def iterated_by(self, made: ir.Call) -> Iterator[Point]:
        """The statements that go through the object: loops, also through ``enumerate``, ``tqdm``
        and their kind, and ``yield from``.
        """
        for point in self._index.points:
            statement = point.statement
            if isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Yield):
                given = statement.value
                if given.delegated and given.value and self.is_made_by(made, given.value, point):
                    yield point
        for loop in self._index.loops:
            assert isinstance(loop.statement, ir.For)
            if self._goes_through(loop.statement.iterable, loop, made, _MAX_WRAPS):
                yield loop

    def _goes_through(self, node: ir.Expr, point: Point, made: ir.Call, depth: int) -> bool:
        return any(
            origin.call is made
            or (
                isinstance(origin.node, ir.Call)
                and depth > 0
                and self._is_wrapper(CallSite(origin.node, origin.point))
                and any(
                    self._goes_through(argument.value, origin.point, made, depth - 1)
                    for argument in origin.node.args
                )
            )
            for origin in self._origins.of(node, point)
        )

    def _is_wrapper(self, site: CallSite) -> bool:
        """May a loop over the result go through an argument of the call? Not over a loader."""
        return self._catalogue.member(self._calls.called(site), "__iter__") is None
