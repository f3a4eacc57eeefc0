"""Where a random order of data goes: into a data set, or into parts that ranks or splits take.

The order is followed forward by names: through slices, lists and frames, into attributes of the
object, functions of the project and what they return, also in other files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere, objects_in
from distlint.analyzer.static.journeys import function_elsewhere
from distlint.analyzer.static.names import Scope, calls_of, expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, holds, path_of, place_of
from distlint.rules.data._batch_sizes import is_size_in_batch, picks_inside

_TAKERS = re.compile(r"^(?:Subset|SubsetRandomSampler|select|DataLoader|\w*Dataset)$")
"""Names of what makes a data set, or a part of one."""

_ONE_SAMPLE = "__getitem__"

_MOST = 24
"""Functions that are looked at for one order."""

_COPIES = frozenset(
    {
        "list", "tuple", "array", "asarray", "tensor", "as_tensor", "reversed", "enumerate", "zip",
        "iter", "concatenate", "DataFrame", "from_list", "from_dict", "from_pandas", "deepcopy",
        "copy", "cat", "stack", "map", "filter", "LongTensor", "sorted", "tqdm", "argsort", "topk",
        "where", "nonzero", "flatnonzero", "argwhere", "softmax",
    }
)  # fmt: skip
"""Functions whose value has the order of what they are given."""

_LOSES = frozenset(
    {
        "sum", "mean", "max", "min", "count", "size", "index", "nunique", "unique", "sort", "item",
        "sort_values", "sort_index", "any", "all", "numel", "dim", "join", "format", "pop", "get",
    }
)  # fmt: skip
"""Methods whose value has not the order of the object."""

_OVER_DIMS = frozenset({"sum", "mean", "max", "min", "sort"})
"""Those of them that keep the order of the samples where they are given a dimension."""

_PICKS = frozenset({"pop", "index_select", "take", "__getitem__"})
"""Methods whose value is picked by what they are given."""

_PUTS = frozenset({"append", "extend"})

_RANK = re.compile(r"(?:^|_)rank(?:$|_)|process_index|process_id", re.IGNORECASE)


@dataclass(eq=False)
class _Place:
    """What has the order in one function: variables, attributes, and values of calls."""

    objects: Objects
    scope: Scope
    paths: set[Path] = field(default_factory=set)
    calls: set[ir.Call] = field(default_factory=set)
    since: int = -1
    """The statement from which on it has."""


def becomes_data(objects: Objects, site: CallSite, path: Path | None) -> bool:
    """Does what a call draws, or the variable that it shuffles, become a data set, or is divided?

    ``path`` is what is shuffled in place.
    """
    function = site.point.scope.function
    if function is not None and function.name == _ONE_SAMPLE:
        return False  # it makes one sample
    if path is not None and _is_own_part(objects, site.point, path):
        return False
    if _picks_samples(objects, site) if path is None else _is_data(objects, site, path):
        return True
    start = _Place(objects, site.point.scope, since=site.point.statement.site)
    if path is None:
        start.calls.add(site.call)
    else:
        start.paths.add(path)
    within = is_size_in_batch(objects, _count(objects, site, path), site.point)
    return _Search(start, path, within).reaches_data()


def loader_orders_data(objects: Objects, site: CallSite) -> bool:
    """Does the order in which a loader draws its samples pick or order those of a data set?

    What a loop over it collects has that order.
    """
    start = _Place(objects, site.point.scope, since=site.point.statement.site)
    for loop in objects.uses.iterated_by(site.call):
        if loop.scope is not start.scope or not isinstance(loop.statement, ir.For):
            continue
        for point in objects.points_in(loop.scope):
            if any(each.owner is loop.statement for each in point.around):
                start.paths.update(path for path, _ in _put(point.statement))
    return bool(start.paths) and _Search(start, None, within=False).reaches_data()


def _put(statement: ir.Stmt) -> Iterator[tuple[Path, ir.Expr]]:
    """The lists that a statement puts something into, and what that is."""
    for call in calls_of(statement):
        func = call.func
        if isinstance(func, ir.Attribute) and func.attr in _PUTS and len(call.args) == 1:
            path = path_of(func.value)
            if path is not None:
                yield path, call.args[0].value


def _count(objects: Objects, site: CallSite, path: Path | None) -> ir.Expr:
    """Of how many items an order is drawn, or the list that is shuffled."""
    if path is not None:
        return site.call.args[0].value
    given = [each.value for each in site.call.args if each.keyword in (None, "n", "a", "x")]
    return given[0] if given else ir.Opaque(0)


def _picks_samples(objects: Objects, made: CallSite) -> bool:
    """Does what a call draws pick the samples of a data set?"""
    return any(
        objects.uses.is_made_by(made.call, node, taker.point)
        for taker in _takers(objects)
        for argument in taker.call.args
        for node in expressions_in(argument.value)
        if isinstance(node, ir.Expr) and (node is made.call or place_of(node) is not None)
    )


def _is_data(objects: Objects, site: CallSite, path: Path) -> bool:
    """Is the list that is shuffled made into a data set afterwards?"""
    function = site.point.scope.function
    if function is not None and function.name == "__init__":
        cls = objects.own_class(ir.Name("self"), site.point)
        if cls is not None and "__getitem__" in cls.methods:
            return True
    return any(
        holds(argument.value, path)
        for taker in _takers(objects)
        if taker.point.scope is site.point.scope
        for argument in taker.call.args
    )


def _takers(objects: Objects) -> Iterator[CallSite]:
    yield from objects.calls({name for name in objects.called_names if _TAKERS.match(name)})


def _is_own_part(objects: Objects, point: Point, path: Path) -> bool:
    """Is a variable a part of the data that the rank has chosen?"""
    return any(
        isinstance(each.statement, ir.Assign)
        and any(place_of(target) == path for target in each.statement.targets)
        and _is_divided(objects, each.statement.value, each)
        for each in objects.points_in(point.scope)
    )


class _Search:
    def __init__(self, start: _Place, in_place: Path | None, within: bool) -> None:
        self._places = [start]
        self._within = within
        """Is it an order inside a batch? Parts of that are no split of the data."""
        if in_place is not None:
            self._kept(start, in_place)
            self._handed_in(start, in_place)

    def reaches_data(self) -> bool:
        for place in self._places:  # grows meanwhile
            if len(self._places) > _MOST:
                return False
            if self._follow(place):
                return True
        return False

    def _follow(self, place: _Place) -> bool:
        points = sorted(place.objects.points_in(place.scope), key=lambda each: each.statement.site)
        points = [each for each in points if each.statement.site >= place.since]
        for _ in range(2):  # a loop carries it to what stands above
            for point in points:
                self._assign(place, point)
        return any(self._uses(place, point) for point in points)

    def _assign(self, place: _Place, point: Point) -> None:
        statement = point.statement
        value: ir.Expr | None = None
        targets: tuple[ir.Expr, ...] = ()
        if isinstance(statement, ir.Assign):
            value, targets = statement.value, statement.targets
        elif isinstance(statement, ir.AugAssign):
            value, targets = statement.value, (statement.target,)
        elif isinstance(statement, ir.For):
            value, targets = statement.iterable, (statement.target,)
        for path, item in _put(statement):
            if self._has(place, item):
                self._gets(place, path)
        for target in targets if isinstance(statement, ir.Assign) else ():
            if isinstance(target, ir.Subscript) and self._has(place, target.index):
                for path in _targets(target.value):
                    self._gets(place, path)
        if value is None or not self._has(place, value):
            return
        for target in targets:
            for path in _targets(target):
                self._gets(place, path)

    def _gets(self, place: _Place, path: Path) -> None:
        if path not in place.paths:
            place.paths.add(path)
            self._kept(place, path)

    def _kept(self, place: _Place, path: Path) -> None:
        """An attribute has the order in all methods of the class, also one of an object in it."""
        cls = place.objects.classes.of_self(place.scope) if path[0] == "self" else None
        if cls is None or len(path) not in (2, 3):
            return
        for method in cls.methods.values():
            scope = place.objects.scope_of(method)
            if scope is not None and scope is not place.scope:
                self._add(_Place(place.objects, scope, {path, path[:2]}))

    def _handed_in(self, place: _Place, path: Path) -> None:
        """What is shuffled in place as a parameter is shuffled for those who passed it."""
        function = place.scope.function
        if function is None or not place.scope.has_param(path[0]) or path[0] == "self":
            return
        params = [param.name for param in function.params if not param.star]
        if path[0] not in params:
            return
        index = params.index(path[0]) - bool(function.owner)
        for where, site in _callers(place.objects, function):
            given = path_of(where.argument(site, path[0], index).value)
            if given is not None:
                given = (*given, *path[1:])
                at = _Place(where, site.point.scope, {given}, since=site.point.statement.site)
                self._add(at)
                self._kept(at, given)

    def _add(self, new: _Place) -> None:
        for each in self._places:
            if each.objects is new.objects and each.scope is new.scope:
                if new.paths <= each.paths and new.calls <= each.calls:
                    return
        self._places.append(new)

    def _has(self, place: _Place, node: ir.Expr) -> bool:
        """Has the value of an expression the order?"""
        if isinstance(node, (ir.Name, ir.Attribute)):
            path = path_of(node)
            if path is not None and path in place.paths:
                return True
            return isinstance(node, ir.Attribute) and self._has(place, node.value)
        if isinstance(node, ir.Call):
            return node in place.calls or self._call_has(place, node)
        if isinstance(node, ir.Subscript):
            if place_of(node) in place.paths:
                return True
            return self._has(place, node.value) or self._has(place, node.index)
        if isinstance(node, ir.Comprehension):
            return any(self._has(place, iterable) for _, iterable, _ in node.clauses)
        parts: tuple[ir.Expr, ...] = ()
        if isinstance(node, ir.Display):
            parts = node.items
        elif isinstance(node, ir.DictDisplay):
            parts = node.values
        elif isinstance(node, ir.Starred):
            parts = (node.value,)
        elif isinstance(node, ir.Conditional):
            parts = (node.body, node.orelse)
        elif isinstance(node, ir.Binary) and node.op == "+":
            parts = (node.left, node.right)
        return any(self._has(place, each) for each in parts)

    def _call_has(self, place: _Place, call: ir.Call) -> bool:
        name = ir.last_name(call.func)
        loses = name in _LOSES and not (name in _OVER_DIMS and call.args)
        if isinstance(call.func, ir.Attribute) and not loses:
            if self._has(place, call.func.value):
                return True
        return name in _COPIES | _PICKS and any(self._has(place, each.value) for each in call.args)

    def _uses(self, place: _Place, point: Point) -> bool:
        statement, objects = point.statement, place.objects
        function = place.scope.function
        for call in calls_of(statement):
            given = [each for each in call.args if self._has(place, each.value)]
            if given and self._takes(place, CallSite(call, point), given):
                return True
        if isinstance(statement, ir.Return) and statement.value is not None:
            if function is not None and self._has(place, statement.value):
                for where, site in _callers(objects, function):
                    at = _Place(where, site.point.scope, set(), {site.call})
                    self._add(at)
        if function is not None and function.name == _ONE_SAMPLE:
            kept = {path for path in place.paths if path[0] == "self"}
            if any(path_of(node) in kept for node in expressions_in(statement)):
                return True
        return any(
            isinstance(node, ir.Subscript)
            and self._has(place, node.value)
            and (
                _is_divided(objects, node, point)
                or (
                    self._is_split(place, node, point) and not _is_run_by_a_model(objects, function)
                )
            )
            for node in nodes_of(statement)
        )

    def _takes(self, place: _Place, site: CallSite, given: list[ir.Argument]) -> bool:
        """Does a call make a data set of it? A function of the project is followed instead."""
        callee = place.objects.callee(site)
        where, function = place.objects, callee
        if callee is None:
            there = function_elsewhere(place.objects, site)
            if there is not None:
                where, function = objects_in(there[0]), there[1]
        if isinstance(function, ir.Class):
            function = function.methods.get("__init__")
        if not isinstance(function, ir.Function):
            return _TAKERS.match(site.name) is not None
        scope = where.scope_of(function)
        params = [param.name for param in function.params if not param.star]
        if function.owner:
            params = params[1:]
        for argument in given if scope is not None else ():
            name = argument.keyword
            if name is None:
                index = next(n for n, each in enumerate(site.call.args) if each is argument)
                name = params[index] if index < len(params) else None
            if name in params and name is not None and scope is not None:
                self._add(_Place(where, scope, {(name,)}))
        return _TAKERS.match(site.name) is not None

    def _is_split(self, place: _Place, node: ir.Subscript, point: Point) -> bool:
        """Is it ``order[:count]`` beside ``order[count:]``: a split of the data?"""
        cut = node.index
        if not isinstance(cut, ir.Slice) or cut.lower is not None or cut.upper is None:
            return False
        points = place.objects.points_in(point.scope)
        names = frozenset(path[0] for path in place.paths if len(path) == 1)
        if self._within or any(picks_inside(names, each.statement) for each in points):
            return False
        owner, upper = place_of(node.value), place_of(cut.upper)
        return upper is not None and any(
            isinstance(other, ir.Subscript)
            and isinstance(other.index, ir.Slice)
            and place_of(other.value) == owner
            and place_of(other.index.lower) == upper
            for each in points
            for other in nodes_of(each.statement)
        )


def _is_run_by_a_model(objects: Objects, function: ir.Function | None, depth: int = 2) -> bool:
    """Does a function run in a forward pass, where it divides a sample, not the data set?"""
    if function is None or function.name == "forward":
        return function is not None
    return depth > 0 and any(
        _is_run_by_a_model(where, site.point.scope.function, depth - 1)
        for where, site in _callers(objects, function)
    )


def _targets(target: ir.Expr) -> Iterator[Path]:
    if isinstance(target, ir.Display):
        for item in target.items:
            yield from _targets(item)
    path = place_of(target)
    if path is not None:
        yield path


def _callers(objects: Objects, function: ir.Function) -> Iterator[tuple[Objects, CallSite]]:
    yield from ((objects, site) for site in objects.callers(function))
    for module, site in calls_elsewhere(objects.module, function):
        yield objects_in(module), site


def _is_divided(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it a slice by the rank: ``order[rank::world]``, also by variables made of the rank?"""
    for part in expressions_in(node):
        if isinstance(part, ir.Subscript) and isinstance(part.index, ir.Slice):
            bounds = (part.index.lower, part.index.upper, part.index.step)
            if any(_is_of_rank(objects, each, point, 3) for each in bounds if each is not None):
                return True
    return False


def _is_of_rank(objects: Objects, node: ir.Expr, point: Point, depth: int) -> bool:
    if any(_RANK.search(token) for token in ir.tokens_of(node)):
        return True
    names = [each.id for each in expressions_in(node) if isinstance(each, ir.Name)]
    return bool(depth) and any(
        isinstance(each.statement, ir.Assign)
        and _is_of_rank(objects, each.statement.value, each, depth - 1)
        for name in names
        for each in objects.assigned_to(name, point.scope)
    )
