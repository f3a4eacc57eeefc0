"""Operations on concrete values: constants, vectors by rank, numbers made of the world size."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from distlint.analyzer.symbolic.cluster import MOST_MEMBERS, MOST_RANKS, Cluster
from distlint.analyzer.symbolic.values.facts import is_made, is_ranked
from distlint.analyzer.symbolic.values.interning import TABLE, const, ranked, world
from distlint.analyzer.symbolic.values.operators import COMPARISONS, ORDER
from distlint.analyzer.symbolic.values.types import (
    OBJECTS,
    Const,
    Group,
    Map,
    PerRank,
    Seq,
    Unknown,
    Value,
    WorldSizeExpr,
)

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
    "is": lambda a, b: a is b or (a == b and isinstance(a, int) and type(a) is type(b)),
    "is not": lambda a, b: not (a is b or (a == b and isinstance(a, int) and type(a) is type(b))),
}
"""What the operators do with two Python objects."""


def plain(value: Value) -> Any:
    """The Python object of a constant, tuples and lists included; ValueError if none."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Seq):
        items = [plain(item) for item in value.items]
        return frozenset(items) if value.kind == "set" else tuple(items)
    raise ValueError


def vector(value: Value, size: int) -> list[Any]:
    """The value on each rank; ValueError when it is not concrete."""
    if isinstance(value, PerRank):
        return list(value.values)
    if isinstance(value, WorldSizeExpr):
        return [value.value] * size
    if isinstance(value, Seq):
        columns = [vector(item, size) for item in value.items]
        rows = [tuple(column[rank] for column in columns) for rank in range(size)]
        return [frozenset(row) for row in rows] if value.kind == "set" else list(rows)
    return [plain(value)] * size


def concrete(
    op: str, function: Callable[[Any, Any], Any], left: Value, right: Value, cluster: Cluster
) -> Value | None:
    """The result of an operation; None if it is open. Raises what the operation raises."""
    if isinstance(left, Const) and isinstance(right, Const):
        if _is_horizon(op, left.value, right.value):
            return None
        if op in {"*", "+"} and not isinstance(left.value, (int, float)):
            return const(left.value + right.value) if op == "+" else None
        return const(function(left.value, right.value))
    if is_ranked(left) or is_ranked(right):
        key = (op, left, right, cluster.nodes, cluster.local)
        found = TABLE.get(key)
        if found is None:  # conditions are evaluated again for each question that they ask
            found = TABLE[key] = _by_rank(op, function, left, right, cluster)
        return found
    if isinstance(left, WorldSizeExpr) or isinstance(right, WorldSizeExpr):
        return _world_operation(op, function, left, right)
    if op in {"is", "is not", "==", "!="}:
        return _identity(op, left, right)
    if op in {"in", "not in"} or isinstance(left, Seq):
        return const(function(plain(left), plain(right)))
    return None


def _by_rank(
    op: str, function: Callable[[Any, Any], Any], left: Value, right: Value, cluster: Cluster
) -> Value:
    lefts, rights = vector(left, cluster.size), vector(right, cluster.size)
    if op in COMPARISONS:
        lefts, rights = _within(cluster, lefts, rights), _within(cluster, rights, lefts)
        _require_constants(cluster, lefts, rights, op)
    return ranked([_apply(op, function, a, b) for a, b in zip(lefts, rights, strict=True)])


HORIZON = 2
"""Counters are followed as far as loops are executed; how a larger number compares is left open."""


def _is_horizon(op: str, left: Any, right: Any) -> bool:
    """A counter beside a large constant: few iterations cannot say how they compare.

    ``step % 1000 == 0`` and ``step > max_steps`` come true at some time, with the small numbers of
    the first turns they would not.
    """
    if type(left) is not int or type(right) is not int or left == right:
        return False
    if op == "%":
        return right > HORIZON
    return op in ORDER and max(abs(left), abs(right)) > HORIZON


def _apply(op: str, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if left is None or right is None:
        if op in {"==", "is"}:
            return left is right
        if op in {"!=", "is not"}:
            return left is not right
    if isinstance(left, str) and op in {"+", "*", "%"}:
        raise ValueError
    return function(left, right)


def _within(cluster: Cluster, side: list[Any], other: list[Any]) -> list[Any]:
    """A rank that no cluster of sensible size has is taken for the last one that there is."""
    if len(set(map(repr, side))) != 1 or other != list(cluster.coordinates("global")):
        return side

    (first, *_) = side
    if isinstance(first, (tuple, range, frozenset)):
        if len(first) <= MOST_MEMBERS and all(type(number) is int for number in first):
            return [cluster.within(first)] * cluster.size
    if type(first) is int and first >= MOST_RANKS:
        return [cluster.size - 1] * cluster.size
    return side


_BEYOND = frozenset({("<=", False), (">", False), ("<", True), (">=", True)})
"""Comparisons with a number (True: on the left) that tell it from the next higher one."""


def _require_constants(cluster: Cluster, lefts: list[Any], rights: list[Any], op: str) -> None:
    """A literal rank beyond the cluster asks for a bigger one: ``rank == 5`` is true somewhere."""
    for side, other in ((lefts, rights), (rights, lefts)):
        if len(set(map(repr, side))) == 1 and sorted(map(repr, other)) == sorted(
            map(repr, cluster.coordinates("global"))
        ):
            wanted = side[0] if isinstance(side[0], (tuple, frozenset)) else (side[0],)
            numbers = [n for n in wanted if type(n) is int and n >= 0]
            if numbers:
                cluster.require(max(numbers) + (2 if (op, side is lefts) in _BEYOND else 1))


def _world_operation(
    op: str, function: Callable[[Any, Any], Any], left: Value, right: Value
) -> Value | None:
    count = len(left.samples) if isinstance(left, WorldSizeExpr) else 0
    if isinstance(right, WorldSizeExpr):
        if count and count != len(right.samples):
            return None
        count = len(right.samples)

    def parts(value: Value) -> tuple[Any, tuple[Any, ...]]:
        if isinstance(value, WorldSizeExpr):
            return value.value, value.samples
        constant = plain(value)
        return constant, (constant,) * count

    (left_value, left_samples), (right_value, right_samples) = parts(left), parts(right)
    samples = tuple(function(a, b) for a, b in zip(left_samples, right_samples, strict=True))
    if op in COMPARISONS:
        return const(samples[0]) if len(set(samples)) == 1 else None
    return world(function(left_value, right_value), samples)


def _identity(op: str, left: Value, right: Value) -> Value | None:
    positive = op in {"is", "=="}
    for known, other in ((left, right), (right, left)):
        if (
            isinstance(other, Const)
            and other.value is None
            and (
                isinstance(known, (*OBJECTS, Seq, Map, WorldSizeExpr))
                or (isinstance(known, Unknown) and is_made(known))
            )
        ):
            return const(not positive)
    if left is right and not left.local:
        return const(positive)
    if isinstance(left, Group) and isinstance(right, Group):
        return const((left is right) == positive)
    return None
