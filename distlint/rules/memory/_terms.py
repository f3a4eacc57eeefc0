"""What a backward pass goes through: its loss, and the terms that are added up in it.

The sum may be made by a function of the project, which is then read for what it adds up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import passed_by_name, run_by
from distlint.analyzer.static.names import expressions_in, names_given
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, holds, path_of, place_of
from distlint.rules.training import NO_GRAD, leaves_no_gradient

ARITHMETIC = frozenset({"+", "*", "/", "-"})
_PLAIN = frozenset({"item", "tolist", "detach", "numpy"})
_NUMBERS = frozenset({("float",), ("int",), ("len",)})
_MOVES = frozenset({"to", "cuda", "cpu", "xpu", "npu", "hpu", "float", "long", "int", "bool"})
"""Methods whose result has a graph only if what they are called on has one."""

_MEANS = frozenset({"mean", "sum"})
_JOINS = _MEANS | {"stack"}
_DEPTH = 3
"""How many functions are read one inside another."""

_SIGNS = ("+", "-")


@dataclass(frozen=True, slots=True)
class _Bound:
    """A value that a variable is given; None where a statement keeps it from having a graph."""

    value: ir.Expr | None
    point: Point
    item: int | None = None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is looked for in an expression: the terms of an item of it, by these signs."""

    point: Point
    item: int | None = None
    signs: tuple[str, ...] = _SIGNS


class Terms:
    """The terms of a sum, by what some statements give their variables.

    A term has a graph if it comes from a call there, and is not made a number there. Where the
    statements are those of a function, its parameters are terms as well.
    """

    def __init__(
        self,
        objects: Objects,
        points: Sequence[Point],
        params: frozenset[str] = frozenset(),
        factors: frozenset[str] = frozenset(),
        depth: int = _DEPTH,
    ) -> None:
        self._objects = objects
        self._params, self._factors, self._depth = params, factors, depth
        self._bound: dict[Path, list[_Bound]] = {}
        for point in points:
            for path, bound in _bindings(point):
                self._bound.setdefault(path, []).append(bound)
        self.sums: set[Path] = set()
        self._seen: set[Path] = set()

    def of(self, node: ir.Expr, point: Point) -> tuple[Path, ...]:
        """The terms of an expression, or the variable itself if that has a graph."""
        return tuple(dict.fromkeys(self._in(node, _Wanted(point))))

    def same_as(self, losses: Sequence[Path]) -> tuple[Path, ...]:
        """The variables that hold nothing but one of these, as it is or times a number."""
        whole = [loss for loss in losses if all(map(self._goes_on, self._bound.get(loss, ())))]
        return tuple(
            path
            for path, values in self._bound.items()
            if path not in losses
            and all(
                isinstance(each.point.statement, ir.Assign)
                and each.value is not None
                and each.item is None
                and not holds(each.value, path)
                and any(carries(each.value, loss) for loss in whole)
                for each in values
            )
        )

    def _in(self, node: ir.Expr, wanted: _Wanted) -> Iterator[Path]:
        path = place_of(node)
        if path is not None:
            yield from self._of(path, wanted)
        elif isinstance(node, ir.Binary) and node.op in ARITHMETIC:
            is_sum = node.op in wanted.signs
            if is_sum or (node.op not in _SIGNS and not self._varies(node.right)):
                yield from self._in(node.left, wanted)
            if is_sum or (node.op == "*" and not self._varies(node.left)):
                yield from self._in(node.right, wanted)
        elif isinstance(node, ir.Unary) and node.op == "-":
            yield from self._in(node.value, wanted)
        elif isinstance(node, ir.Display) and node.kind in ("list", "tuple"):
            for item in node.items:
                yield from self._in(item, wanted)
        elif isinstance(node, ir.Call):
            yield from self._in_call(node, wanted)

    def _varies(self, factor: ir.Expr) -> bool:
        """Does it depend on a variable of the statements, which may be a number?"""
        return any(
            path in self._bound or path[0] in self._factors
            for path in map(place_of, expressions_in(factor))
            if path is not None
        )

    def _of(self, path: Path, wanted: _Wanted) -> Iterator[Path]:
        """A term, and those that it is the sum of."""
        if path in self._seen:
            return
        self._seen.add(path)
        values = self._bound.get(path)
        if values is None:
            if len(path) == 1 and path[0] in self._params:
                yield path
            return
        if all(map(self._keeps, values)):
            yield path
        else:
            self.sums.add(path)
        for each in values:
            if each.value is not None:
                yield from self._in(each.value, _Wanted(each.point, each.item, wanted.signs))

    def _keeps(self, bound: _Bound) -> bool:
        """Is it what a call gives, and no number?"""
        value = bound.value
        if not isinstance(value, ir.Call) or path_of(value.func) in _NUMBERS:
            return False
        receivers = list(_receivers(value))
        if any(isinstance(part, ir.Call) and _is_plain(part) for part in receivers):
            return False
        first = receivers[-1]
        if isinstance(first, ir.Attribute) and all(
            ir.last_name(part.func) in _MOVES for part in receivers if isinstance(part, ir.Call)
        ):
            return self._has_graph(first.value)
        called = self._called(CallSite(value, bound.point))
        return called is None or called.keeps(bound.item)

    def _goes_on(self, bound: _Bound) -> bool:
        """Does a variable that had a graph still have one, as far as the statement shows?"""
        if bound.value is None or isinstance(bound.value, ir.Call):
            return self._keeps(bound)
        return not any(
            isinstance(part, ir.Call) and (_is_plain(part) or path_of(part.func) in _NUMBERS)
            for part in expressions_in(bound.value)
        )

    def _has_graph(self, node: ir.Expr) -> bool:
        """Is it a variable that a call of the statements gives a graph?"""
        values = [
            each
            for each in self._bound.get(place_of(node) or (), ())
            if each.value is None or not holds(each.value, place_of(node) or ())
        ]
        return bool(values) and all(map(self._keeps, values))

    def _in_call(self, call: ir.Call, wanted: _Wanted) -> Iterator[Path]:
        """The terms of a mean or a sum, or of what a function adds up."""
        name, site = ir.last_name(call.func), CallSite(call, wanted.point)
        called = self._called(site)
        if called is not None:
            yield from self._through(called, site, wanted)
        elif name in _JOINS and wanted.item is None:
            is_method = isinstance(call.func, ir.Attribute) and (
                self._objects.names.dotted(call.func, wanted.point.scope) is None
            )
            inner = _Wanted(wanted.point, None, ("+",))
            if is_method and name in _MEANS:
                assert isinstance(call.func, ir.Attribute)
                yield from self._in(call.func.value, inner)
            elif not is_method and call.args and not call.args[0].star:
                yield from self._in(call.args[0].value, inner)

    def _through(self, called: _Called, site: CallSite, wanted: _Wanted) -> Iterator[Path]:
        """The arguments and the results of a call that are terms of one of its results."""
        factors = frozenset(
            name for name, value in called.given.items() if value is None or self._varies(value)
        )
        params, items = called.sum_of(wanted.item, wanted.signs, factors)
        for name in params:
            value = called.given.get(name)
            if value is not None:
                yield from self._in(value, _Wanted(site.point, None, wanted.signs))
        for path, values in self._bound.items():
            if any(each.value is site.call and each.item in items for each in values):
                yield from self._of(path, wanted)

    def _called(self, site: CallSite) -> _Called | None:
        return _function(self._objects, site, self._depth) if self._depth else None


class _Called:
    """A function of the project, as a call runs it."""

    def __init__(
        self, objects: Objects, function: ir.Function, given: dict[str, ir.Expr | None], depth: int
    ) -> None:
        self._objects, self._function, self._depth = objects, function, depth
        self.given = given
        """The arguments by parameter; None where it is not known what is passed."""
        scope = objects.scope_of(function)
        self._points = list(objects.points_in(scope)) if scope is not None else []

    def keeps(self, item: int | None) -> bool:
        """May a result have a graph: is it no number, and has the function one?"""
        return not _has_no_graph(self._function) and all(
            not isinstance(value, ir.Literal)
            and not (
                isinstance(value, ir.Call)
                and (path_of(value.func) in _NUMBERS or any(map(_is_plain, _receivers(value))))
            )
            for value, _ in self._returned(item)
        )

    def sum_of(
        self, item: int | None, signs: tuple[str, ...], factors: frozenset[str]
    ) -> tuple[frozenset[str], frozenset[int]]:
        """The parameters, and the other results, that are terms of a result on each way."""
        found: list[tuple[frozenset[str], frozenset[int]]] = []
        for value, point in self._returned(item) if not _has_no_graph(self._function) else ():
            params = self._own_params()
            terms = Terms(self._objects, self._points, params, factors, self._depth - 1)
            paths = set(terms._in(value, _Wanted(point, None, signs)))
            statement = point.statement
            whole = statement.value if isinstance(statement, ir.Return) else None
            items = whole.items if item is not None and isinstance(whole, ir.Display) else ()
            found.append(
                (
                    frozenset(path[0] for path in paths if len(path) == 1 and path[0] in params),
                    frozenset(n for n, each in enumerate(items) if place_of(each) in paths),
                )
            )
        if not found:
            return frozenset(), frozenset()
        return (
            frozenset.intersection(*(params for params, _ in found)),
            frozenset.intersection(*(items for _, items in found)),
        )

    def _own_params(self) -> frozenset[str]:
        """The parameters that keep what they are given."""
        given = {name for point in self._points for name in names_given(point.statement)}
        return frozenset(self.given) - given

    def _returned(self, item: int | None) -> Iterator[tuple[ir.Expr, Point]]:
        for point in self._points:
            statement = point.statement
            if not isinstance(statement, ir.Return) or statement.value is None:
                continue
            value = statement.value
            if item is None:
                yield value, point
            elif isinstance(value, ir.Display) and item < len(value.items):
                if not any(isinstance(each, ir.Starred) for each in value.items):
                    yield value.items[item], point
                    continue
            else:
                yield ir.Opaque(0), point


def _function(objects: Objects, site: CallSite, depth: int) -> _Called | None:
    """The function that a call runs, if its text is there: also what an object runs if called."""
    where, callee = run_by(objects, site) or (objects, None)
    if callee is None:
        cls = objects.own_class(site.call.func, site.point)
        callee = cls.methods.get("forward") if cls is not None else None
    if callee is None or callee.generator:
        return None
    given = passed_by_name(callee, site.call)
    return _Called(where, callee, given, depth) if given is not None else None


def _bindings(point: Point) -> Iterator[tuple[Path, _Bound]]:
    """The variables that a statement gives a value; not those that it scales in place."""
    statement = point.statement
    bound = partial(_Bound, point=point)
    stops = any(leaves_no_gradient(here.owner) for here in point.around)
    if isinstance(statement, ir.AugAssign) and statement.op.rstrip("=") in _SIGNS:
        path = place_of(statement.target)
        if path is not None:
            yield path, bound(None if stops else statement.value)
    if not isinstance(statement, ir.Assign):
        return
    value = None if stops else statement.value
    for target in statement.targets:
        if not isinstance(target, ir.Display):
            path = place_of(target)
            if path is not None:
                yield path, bound(value)
            continue
        for index, part in enumerate(target.items):
            path = place_of(part)
            if path is None:
                continue
            if isinstance(value, ir.Display) and len(value.items) == len(target.items):
                yield path, bound(value.items[index])
            else:
                yield path, bound(value, item=index)


def _receivers(call: ir.Expr) -> Iterator[ir.Expr]:
    """A call, what its method is called on, and so on."""
    node = call
    while isinstance(node, (ir.Call, ir.Attribute)):
        yield node
        node = node.func if isinstance(node, ir.Call) else node.value


def _is_plain(node: ir.Expr) -> bool:
    return isinstance(node, ir.Call) and ir.last_name(node.func) in _PLAIN


def _has_no_graph(function: ir.Function) -> bool:
    return any(not NO_GRAD.isdisjoint(ir.tokens_of(each)) for each in function.decorators)


def carries(node: ir.Expr, loss: Path) -> bool:
    """Is it the loss, as it is, its mean, or times a number?"""
    if place_of(node) == loss:
        return True
    if isinstance(node, ir.Binary) and node.op in ARITHMETIC:
        return carries(node.left, loss) or (node.op in ("+", "*") and carries(node.right, loss))
    return (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Attribute)
        and node.func.attr in _MEANS
        and carries(node.func.value, loss)
    )
