"""What a loss is divided by on its way to the backward pass.

loss = criterion(model(batch), target) / steps     # here
loss /= steps                                       # here
accelerator.backward(loss / steps)                  # and here
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of

_DIVIDES = frozenset({"div", "div_", "divide", "true_divide"})
_KEEPS = frozenset(
    {"mean", "sum", "float", "half", "bfloat16", "to", "cuda", "squeeze", "clone", "contiguous"}
)
"""Methods of a loss whose value is divided if the loss is."""

_NUMBERS = frozenset({"int", "float", "max"})
_MOST = 40
"""Values that are looked at for one loss."""


@dataclass(frozen=True, slots=True)
class Division:
    """A division: what is divided and by what; ``node`` is None where a statement does it."""

    value: ir.Expr
    divisor: ir.Expr
    point: Point
    node: ir.Expr | None = None

    @property
    def site(self) -> int:
        """The statement of the division, which is what people look for."""
        return self.point.statement.site


@dataclass(frozen=True, slots=True)
class Scaling:
    """All that scales a loss: what divides it, and by what it is multiplied."""

    divisions: tuple[Division, ...]
    factors: tuple[tuple[ir.Expr, Point], ...]


def scaling_of(objects: Objects, loss: ir.Expr, point: Point) -> Scaling:
    """What a loss is divided and multiplied by, as it is at a statement."""
    walk = _Walk(objects)
    walk.follow(loss, point)
    walk.follow_in_place(loss, point)
    return Scaling(tuple(walk.divisions), tuple(walk.factors))


class _Walk:
    """The way back from a loss to what it was before it was scaled."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._seen: set[object] = set()
        self.divisions: list[Division] = []
        self.factors: list[tuple[ir.Expr, Point]] = []

    def follow(self, node: ir.Expr, point: Point) -> None:
        for origin in self._objects.origins(node, point):
            where = (id(origin.node), id(origin.point.statement))
            if where in self._seen or len(self._seen) > _MOST or origin.attributes:
                continue
            self._seen.add(where)
            self._take_apart(origin)

    def follow_in_place(self, loss: ir.Expr, end: Point) -> None:
        """``loss.div_(n)`` before a statement of the same function."""
        path = path_of(loss)
        for site in self._objects.at(end).calls_in(end.scope, {"div_"}):
            func = site.call.func
            is_before = site.point.statement.site < end.statement.site
            if path and is_before and isinstance(func, ir.Attribute) and site.call.args:
                if path_of(func.value) == path and isinstance(site.point.statement, ir.Evaluate):
                    self._divided(func.value, site.call.args[0].value, site.point)

    def _take_apart(self, origin: Origin) -> None:
        node, point = origin.node, origin.point
        if isinstance(node, ir.Opaque) and isinstance(point.statement, ir.AugAssign):
            self._of_statement(point.statement, point)
        elif isinstance(node, ir.Binary):
            self._of_operation(node, point)
        elif isinstance(node, ir.Call):
            self._of_call(node, point)

    def _of_statement(self, statement: ir.AugAssign, point: Point) -> None:
        """``loss /= n``: what it divides is the same variable before."""
        if statement.op.startswith("/"):
            self._divided(statement.target, statement.value, point)
        elif statement.op.startswith("*"):
            self._multiplied(statement.value, statement.target, point)
        else:
            return
        self.follow(statement.target, point)

    def _of_operation(self, node: ir.Binary, point: Point) -> None:
        if node.op == "/":
            self._divided(node.left, node.right, point, node)
            self.follow(node.left, point)
        elif node.op == "*":
            self._multiplied(node.left, node.right, point, node)
            self._multiplied(node.right, node.left, point, node)
            self.follow(node.left, point)
            self.follow(node.right, point)

    def _multiplied(
        self, factor: ir.Expr, value: ir.Expr, point: Point, node: ir.Expr | None = None
    ) -> None:
        """A factor, or the division that it stands for: ``(1 / n) * loss``."""
        if isinstance(factor, ir.Binary) and factor.op == "/" and _is_one(factor.left):
            self._divided(value, factor.right, point, node)
        else:
            self.factors.append((factor, point))

    def _of_call(self, call: ir.Call, point: Point) -> None:
        name = ir.last_name(call.func)
        is_plain = not any(each.star for each in call.args)
        if name in _DIVIDES and is_plain:
            given = [each.value for each in call.args if each.keyword is None]
            if self._objects.called(CallSite(call, point)).startswith("torch.") and len(given) == 2:
                value, divisor = given
            elif isinstance(call.func, ir.Attribute) and len(given) == 1:
                value, divisor = call.func.value, given[0]
            else:
                return
            self._divided(value, divisor, point, call)
            self.follow(value, point)
        elif name in _KEEPS and isinstance(call.func, ir.Attribute):
            self.follow(call.func.value, point)

    def _divided(
        self, value: ir.Expr, divisor: ir.Expr, point: Point, node: ir.Expr | None = None
    ) -> None:
        self.divisions.append(Division(value, divisor, point, node))


def _is_one(node: ir.Expr) -> bool:
    return isinstance(node, ir.Literal) and node.value == 1


# ---- numbers that are the same


def is_same_number(objects: Objects, one: ir.Expr, at: Point, other: ir.Expr, there: Point) -> bool:
    """Are two expressions one number: the same variable, option, or constant above 1?"""
    ours = list(_ends(objects, one, at))
    theirs = list(_ends(objects, other, there))
    return any(_agree(mine, its) for mine in ours for its in theirs)


def bare(node: ir.Expr) -> ir.Expr:
    """The number in ``int(n)`` and ``max(1, n)``."""
    while isinstance(node, ir.Call) and path_of(node.func) in {(name,) for name in _NUMBERS}:
        given = [each.value for each in node.args if not isinstance(each.value, ir.Literal)]
        if len(given) != 1:
            return node
        node = given[0]
    return node


def _ends(objects: Objects, node: ir.Expr, point: Point) -> Iterator[Origin]:
    for origin in objects.origins(bare(node), point):
        inner = bare(origin.node) if isinstance(origin.node, ir.Expr) else None
        if inner is not None and inner is not origin.node:
            yield from objects.origins(inner, origin.point)
        else:
            yield origin


def _agree(one: Origin, other: Origin) -> bool:
    if one.constant is not ... or other.constant is not ...:
        number = one.constant
        return isinstance(number, int) and number > 1 and number == other.constant
    if one.node is other.node and (one.item, one.attributes) == (other.item, other.attributes):
        return True
    name = _option(one)
    return name is not None and name == _option(other)


def _option(origin: Origin) -> str | None:
    """What a value is called that is not followed any further: ``args.steps``, ``cfg["steps"]``."""
    if origin.attributes:
        return origin.attributes[-1]
    node = origin.node
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Literal):
        return node.index.value if isinstance(node.index.value, str) else None
    path = path_of(node) if isinstance(node, ir.Expr) else None
    return path[-1] if path is not None else None
