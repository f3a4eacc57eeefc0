"""What a module assigns to each name, wherever it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.static.names import Names, Scope, placed
from distlint.analyzer.static.reaching_definitions import Point, Search

_Table = dict[str, list[tuple[ir.Expr, Point]]]
_PUTS = frozenset({"append", "extend", "add", "insert", "update", "put"})
"""Methods that put something into a list, a dict, a set or a queue."""
_CONTAINERS = frozenset({"list", "dict", "set", "deque", "OrderedDict", "defaultdict", "Queue"})


class Assignments:
    """The values that one module assigns to its variables and attributes."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def to(self, name: str) -> Sequence[tuple[ir.Expr, Point]]:
        """What is assigned to a name, or to an attribute of that name, and where."""
        return self._by_name.get(name, ())

    @cached_property
    def _by_name(self) -> _Table:
        return self._table(_bound)

    @cached_property
    def _by_attribute(self) -> _Table:
        """The same without the variables of functions, which no attribute of their name is."""
        return self._table(_bound, lambda item, scope: isinstance(item, ir.Name) and scope.function)

    @cached_property
    def _put(self) -> _Table:
        return self._table(_items_put)

    def _table(
        self,
        given_by: Callable[[ir.Stmt], Iterable[tuple[ir.Expr, ir.Expr]]],
        is_left_out: Callable[[ir.Expr, Scope], object] = lambda item, scope: False,
    ) -> _Table:
        """What statements give the places that they name, by the last name of these."""
        table: _Table = {}
        for scope in self._names.scopes:
            for statement, around in placed(scope.body):
                for item, value in given_by(statement):
                    if not is_left_out(item, scope):
                        given = table.setdefault(ir.last_name(item), [])
                        given.append((value, Point(scope, around)))
        return table

    def to_attribute(self, name: str) -> Sequence[tuple[ir.Expr, Point]]:
        """What is assigned to an attribute of this name, or by the body of a class or the file."""
        return self._by_attribute.get(name, ())

    def reaching(
        self, node: ir.Name | ir.Attribute, point: Point
    ) -> Sequence[tuple[ir.Expr, Point]]:
        """What a name may stand for: what reaches it, if that is known, else all assignments."""
        if not isinstance(node, ir.Name):
            return self.to_attribute(node.attr)
        known = self.to(node.id)
        reaching, complete = Search((node.id,), point.scope).before(point.around)
        statements = {each.point.statement for each in reaching}
        if not complete or any(not isinstance(each.node, ir.Expr) for each in reaching):
            return known
        return [(value, where) for value, where in known if where.statement in statements]

    def put_into(
        self,
        node: ir.Name | ir.Attribute,
        point: Point,
        given: Sequence[tuple[ir.Expr, Point]],
    ) -> Sequence[tuple[ir.Expr, Point]]:
        """What a function puts into a list or a dict that it makes: ``names.append(name)``.

        ``given`` is what the name may stand for there.
        """
        if not any(_is_container(value) for value, _ in given):
            return ()
        put = self._put.get(ir.last_name(node), ())
        return [(value, where) for value, where in put if where.scope is point.scope]


def _is_container(value: ir.Expr) -> bool:
    """Is it ``[]``, ``{}`` or ``defaultdict(list)``, which is filled later?"""
    if isinstance(value, ir.Call):
        return ir.last_name(value.func) in _CONTAINERS
    return isinstance(value, (ir.Display, ir.DictDisplay))


def _items_put(statement: ir.Stmt) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The containers that a statement puts something into, with its keys and values."""
    if isinstance(statement, ir.Assign):
        for target in statement.targets:
            if isinstance(target, ir.Subscript):
                yield target.value, target.index
                yield target.value, statement.value
    elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
        func = statement.value.func
        if isinstance(func, ir.Attribute) and func.attr in _PUTS:
            yield from ((func.value, argument.value) for argument in statement.value.args)


def _bound(statement: ir.Stmt) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The names and attributes that a statement binds, each with its part of the value."""
    for target, value in _bindings(statement):
        yield from _pairs(target, value)


def _bindings(statement: ir.Stmt) -> Iterable[tuple[ir.Expr, ir.Expr]]:
    if isinstance(statement, ir.Assign):
        return [(target, statement.value) for target in statement.targets]
    if isinstance(statement, ir.AugAssign):
        return [(statement.target, statement.value)]
    if isinstance(statement, ir.With) and statement.target is not None:
        return [(statement.target, statement.context)]
    if isinstance(statement, ir.For):
        return [(statement.target, statement.iterable)]
    return []


def _pairs(target: ir.Expr, value: ir.Expr) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The names that a target binds, each with its part of the value where that is written out."""
    if isinstance(target, ir.Display):
        parts: tuple[ir.Expr, ...] = (value,) * len(target.items)
        if isinstance(value, ir.Display) and len(value.items) == len(target.items):
            parts = value.items
        for item, part in zip(target.items, parts, strict=True):
            yield from _pairs(item, part)
    elif isinstance(target, ir.Starred):
        yield from _pairs(target.value, value)
    elif isinstance(target, (ir.Name, ir.Attribute)):
        yield target, value
