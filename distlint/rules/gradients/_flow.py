"""What a value of a function comes from, what comes of it, and where one rank counts on it."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from distlint.analyzer import ir
from distlint.analyzer.static.batches import is_agreement
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import (
    Scope,
    calls_of,
    expressions_in,
    expressions_of,
    nodes_of,
)
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, place_of
from distlint.rules.setup._order import tests_around

_TOLD = frozenset({"update", "append", "extend", "add"})
"""Methods by which an object takes a value."""

_TRACKED = frozenset({"wandb.log", "swanlab.log", "mlflow.log_metric", "mlflow.log_metrics"})
"""Functions of trackers, which show what they are given as the result of the run."""

_PUTS_TOGETHER = frozenset({"all_reduce", "reduce", "all_gather", "gather", "broadcast"})
"""What collectives do by which the value of one rank is no longer its own."""

_DEPTH = 3
"""Through how many calls a function is followed that may ask the other ranks."""


_Moves = tuple[dict[Path, set[Path]], dict[Path, set[Path]]]
_KNOWN: WeakKeyDictionary[Objects, dict[int, _Moves]] = WeakKeyDictionary()


def places_bound(target: ir.Expr) -> Iterator[Path]:
    """The places that an assignment to a target gives another value."""
    if isinstance(target, ir.Display):
        for item in target.items:
            yield from places_bound(item)
    elif (
        place := place_of(target.value if isinstance(target, ir.Starred) else target)
    ) is not None:
        yield place


def _reached(start: set[Path], moves: _Moves, way: int) -> set[Path]:
    found, open_ = set(start), list(start)
    while open_:
        more = moves[way].get(open_.pop(), set()) - found
        found |= more
        open_ += more
    return found


class Flow:
    """What a variable of a function, or an item of a dict, comes from, and what comes of it.

    What the call ``made_by`` is given is no source of it: that has been looked into.
    """

    def __init__(
        self, objects: Objects, scope: Scope, name: str | Path, made_by: ir.Call | None = None
    ) -> None:
        self.objects, self.scope, self._made_by = objects, scope, made_by
        start = (name,) if isinstance(name, str) else name
        moves = self._moves()
        self.made = _reached(self._with_items({start}), moves, 0)
        self.sources = _reached(self._with_items({start}), moves, 1)

    @property
    def points(self) -> list[Point]:
        points = self.objects.points_in(self.scope)
        return sorted(points, key=lambda each: each.statement.site)

    def _moves(self) -> _Moves:
        """What each statement gives a value, by what it is made of; and the other way round."""
        known = _KNOWN.setdefault(self.objects, {})
        if self._made_by is None and id(self.scope) in known:
            return known[id(self.scope)]
        moves: _Moves = ({}, {})
        for point in self.objects.points_in(self.scope):
            targets, values = map(self._with_items, self._moved(point.statement))
            for value in values:
                for end in range(1, len(value) + 1):
                    if value[:end] != ("self",):  # of ``found`` also what is made of ``found.T``
                        moves[0].setdefault(value[:end], set()).update(targets)
            for target in targets:
                moves[1].setdefault(target, set()).update(values)
        if self._made_by is None:
            known[id(self.scope)] = moves
        return moves

    def _moved(self, statement: ir.Stmt) -> tuple[set[Path], set[Path]]:
        """What a statement gives a value, and from what."""
        targets: tuple[ir.Expr, ...] = ()
        if isinstance(statement, ir.Assign):
            targets = statement.targets
        elif isinstance(statement, ir.AugAssign):
            targets = (statement.target,)
        elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
            func = statement.value.func
            if isinstance(func, ir.Attribute) and func.attr in _TOLD:
                targets = (func.value,)
        if not targets or not isinstance(statement, (ir.Assign, ir.AugAssign, ir.Evaluate)):
            return set(), set()
        return {path for each in targets for path in self._paths(each)}, {
            *self._paths(statement.value)
        }

    def _paths(self, node: ir.Expr) -> Iterator[Path]:
        """The variables in an expression, but for what it calls."""
        stack: list[object] = [node]
        while stack:
            item = stack.pop()
            if item is self._made_by:
                continue
            if isinstance(item, ir.Call):
                stack += [argument.value for argument in item.args]
                is_known = self.objects.names.dotted(item.func, self.scope) is not None
                if isinstance(item.func, ir.Attribute) and not is_known:
                    stack.append(item.func.value)
            elif isinstance(item, ir.Expr) and (place := place_of(item)) is not None:
                yield place
            else:
                stack.extend(ir.children(item))

    def _with_items(self, places: set[Path]) -> set[Path]:
        """Some places, and the items that the function takes of the dicts among them."""
        items = _items_in(self.objects, self.scope)
        return places.union(*(items.get(each, ()) for each in places)) if items else places

    def comes_from(self, names: frozenset[str]) -> bool:
        """Is the variable made of one of these, in however many steps?"""
        found, size = set(self.sources), -1
        while len(found) > size:
            size = len(found)
            for target, values in self._moves()[1].items():
                if any(path[: len(target)] == target for path in found):
                    found |= values  # also of ``output`` for ``output.loss``
        return any(path[0] in names for path in found)

    def meets(self) -> bool:
        """Do the ranks put together what it is made of, or what is made of it?"""
        return self._is_put_together(self.made | self.sources)

    def meets_before(self) -> bool:
        """Do the ranks put together what it is made of?"""
        return self._is_put_together(self.sources)

    def _is_put_together(self, paths: set[Path]) -> bool:
        return any(
            self._mentions(call, paths, self._made_by) and self._agrees(CallSite(call, point))
            for point in self.points
            for call in calls_of(point.statement)
        )

    def is_given(self, call: ir.Call) -> bool:
        """Is a call given what is made of the variable?"""
        return self._mentions(call, self.made)

    def takes(self, node: ir.Expr, mean: ir.Expr | None) -> bool:
        """Is an expression made of the variable, or of an expression for it?"""
        return self._mentions(node, self.made) or _holds(node, mean)

    def made_by_calls(self) -> Iterator[CallSite]:
        """The calls whose values it is made of, as they are assigned."""
        for point in self.points:
            statement = point.statement
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
                if not self._moved(statement)[0].isdisjoint(self.sources):
                    yield CallSite(statement.value, point)

    def _agrees(self, site: CallSite) -> bool:
        entry = self.objects.catalogue.lookup(self.objects.called(site) or "?")
        if entry is not None and entry.collective is not None:
            if entry.collective.kind in _PUTS_TOGETHER:
                return True
        return is_agreement(site.name) or _meets_inside(self.objects, site, _DEPTH, {})

    def _mentions(
        self, node: ir.Expr | ir.Stmt, places: set[Path], without: ir.Call | None = None
    ) -> bool:
        """Is one of these places read in an expression, and not only inside of a call in it?"""
        return any(
            not places.isdisjoint(self._with_items({place})) for place in _places_in(node, without)
        )

    def used_by_one(self, mean: ir.Expr | None, depth: int = _DEPTH) -> Point | None:
        """Where one rank decides by it or tells it, here or where a function is called."""
        return (
            self._used_here(mean, depth)
            or next(
                filter(None, (each._used_here(None, depth) for each in self.in_methods())), None
            )
            or self._used_by_callers()
        )

    def _used_here(self, mean: ir.Expr | None, depth: int) -> Point | None:
        for point in self.points:
            statement = point.statement
            tests = list(tests_around(point))
            if isinstance(statement, ir.If):
                tests.append(statement.test)
            if any(map(asks_rank, tests)):
                parts: tuple[ir.Expr, ...] = expressions_of(statement)
            else:
                parts = tuple(self._reported(point))
            if any(self.takes(each, mean) for each in parts):
                return point
            for call in calls_of(statement) if depth and not parts else ():
                used = self._used_inside(CallSite(call, point), mean, depth - 1)
                if used is not None:
                    return used
        return None

    def _used_inside(self, site: CallSite, mean: ir.Expr | None, depth: int) -> Point | None:
        """The same in a function that is called with it."""
        used = (each._used_here(None, depth) for each in self._given_to(site, mean))
        return next(filter(None, used), None)

    def inside(self, mean: ir.Expr | None) -> Iterator[Flow]:
        """What becomes of it in the functions that are called with it."""
        for point in self.points:
            for call in calls_of(point.statement):
                yield from self._given_to(CallSite(call, point), mean)

    def _given_to(self, site: CallSite, mean: ir.Expr | None) -> Iterator[Flow]:
        there, function = self.objects.function_called(site) or (self.objects, None)
        scope = there.scope_of(function) if function is not None else None
        if function is None or scope is None or scope is self.scope:
            return
        for param, value in there.params_given(function, site):
            if self.takes(value, mean):
                yield Flow(there, scope, param.name)

    def in_methods(self) -> Iterator[Flow]:
        """What becomes of it in other methods of the class that keeps it: of ``self.score``.

        Not where one of them puts the values of the ranks together.
        """
        function = self.scope.function
        cls = self.objects.classes.by_method.get(function) if function is not None else None
        if cls is None or function is None or not function.params:
            return
        own = function.params[0].name
        for place in sorted({path[:2] for path in self.made if path[0] == own and len(path) > 1}):
            flows = [
                Flow(self.objects, scope, (method.params[0].name, place[1]))
                for method in cls.methods.values()
                if method is not function and place[1] in method.tokens and method.params
                if (scope := self.objects.scope_of(method)) is not None
            ]
            if not any(each.meets() for each in flows):
                yield from flows

    def callers(self) -> Iterator[tuple[Objects, CallSite]]:
        """The calls of the function that the variable is one of."""
        if self.scope.function is not None:
            for there, site in self.objects.callers_anywhere(self.scope.function):
                if site.point.scope is not self.scope:
                    yield there, site

    def _reported(self, point: Point) -> Iterator[ir.Expr]:
        """What is given to a function that reports on the first process only, or to a tracker."""
        for call in calls_of(point.statement):
            entry = self.objects.catalogue.lookup(self.objects.called(CallSite(call, point)) or "?")
            if entry is not None and entry.neutral is not None and entry.neutral.reports:
                yield from (each.value for each in call.args)
            elif self.objects.called(CallSite(call, point)) in _TRACKED:
                if not any(_names_process(each.value) for each in call.args):
                    yield from (each.value for each in call.args)

    def is_returned(self) -> bool:
        """Does the function give back what is made of it?"""
        return any(
            isinstance(point.statement, ir.Return) and self._mentions(point.statement, self.made)
            for point in self.points
        )

    def _used_by_callers(self) -> Point | None:
        return used_by_callers(self.objects, self.scope) if self.is_returned() else None


def _names_process(node: ir.Expr) -> bool:
    """Does an expression name the rank or the device, so that each process has its own value?"""
    return asks_rank(node) or "device" in ir.tokens_of(node)


def _holds(node: ir.Expr, part: ir.Expr | None) -> bool:
    return part is not None and any(each is part for each in expressions_in(node))


def _places_in(node: object, without: ir.Call | None) -> Iterator[Path]:
    """The places that an expression reads, and the variables that they belong to."""
    stack: list[object] = [node]
    while stack:
        item = stack.pop()
        if item is without and item is not None:
            continue
        if isinstance(item, (ir.Name, ir.Attribute, ir.Subscript)):
            place = place_of(item)
            if place is not None:
                yield place
                if isinstance(item, ir.Subscript):
                    continue
        stack.extend(ir.children(item))


_ITEMS: WeakKeyDictionary[Objects, dict[int, dict[Path, set[Path]]]] = WeakKeyDictionary()


def _items_in(objects: Objects, scope: Scope) -> dict[Path, set[Path]]:
    """The items that a function takes of dicts, by the dict."""
    known = _ITEMS.setdefault(objects, {})
    if id(scope) not in known:
        found = known[id(scope)] = dict[Path, set[Path]]()
        for point in objects.points_in(scope):
            for node in nodes_of(point.statement):
                place = place_of(node) if isinstance(node, ir.Subscript) else None
                for end in range(1, len(place or ())):
                    if place is not None and place[end].startswith("["):
                        found.setdefault(place[:end], set()).add(place)
    return known[id(scope)]


def used_by_callers(objects: Objects, scope: Scope) -> Point | None:
    """Where one rank decides by what a function returns, or reports it, in those that call it."""
    for there, site in (
        objects.callers_anywhere(scope.function) if scope.function is not None else ()
    ):
        statement = site.point.statement
        if isinstance(statement, (ir.Evaluate, ir.If)) and _uses_value(statement, site):
            if any(map(asks_rank, tests_around(site.point))):
                return site.point
            used = Flow(there, site.point.scope, ())._used_here(site.call, _DEPTH)
            if used is not None:
                return used
        if isinstance(statement, ir.Assign) and site.point.scope is not scope:
            used = used_by_one(there, site)
            if used is not None:
                return used
    return None


def used_by_one(objects: Objects, site: CallSite) -> Point | None:
    """Where one rank decides by the value of a call, or reports it, by a variable that holds it."""
    for flow in kept(objects, site):
        used = None if flow.meets() else flow.used_by_one(None)
        if used is not None:
            return used
    return None


def kept(objects: Objects, site: CallSite) -> Iterator[Flow]:
    """What becomes of the value of a call: of the places that its statement assigns."""
    statement = site.point.statement
    for target in statement.targets if isinstance(statement, ir.Assign) else ():
        for place in sorted(places_bound(target)):
            yield Flow(objects, site.point.scope, place, site.call)


def _uses_value(statement: ir.Evaluate | ir.If, site: CallSite) -> bool:
    """Does a statement do more with the value of a call than to drop it: ``print(score())``?"""
    return not isinstance(statement, ir.Evaluate) or statement.value is not site.call


def _meets_inside(
    objects: Objects, site: CallSite, depth: int, tried: dict[ir.Function, int]
) -> bool:
    """Does a function of the project ask the other ranks, itself or by one that it calls?

    ``tried`` are the functions that do not, as deep as they were followed.
    """
    there, callee = objects.function_called(site) or (objects, None)
    if callee is None:
        return False
    if any(map(is_agreement, callee.tokens)):
        return True
    if tried.get(callee, 0) >= depth:
        return False
    tried[callee] = depth
    scope = there.scope_of(callee)
    return any(
        _meets_inside(there, CallSite(call, point), depth - 1, tried)
        for point in (there.points_in(scope) if scope is not None else ())
        for call in calls_of(point.statement)
    )
