"""Operations on values of any kind: arithmetic, comparisons and negation."""

from __future__ import annotations

from typing import TypeGuard

from distlint.analyzer.symbolic.cluster import Cluster
from distlint.analyzer.symbolic.values.concrete import FUNCTIONS, concrete
from distlint.analyzer.symbolic.values.facts import (
    changed_object,
    has_keys_of_all,
    is_process_id,
    lowest,
)
from distlint.analyzer.symbolic.values.interning import TABLE, const, merged, ranked, seq, unknown
from distlint.analyzer.symbolic.values.joins import phi, where
from distlint.analyzer.symbolic.values.operators import COMPARISONS, EITHER, LISTED, ORDER
from distlint.analyzer.symbolic.values.types import (
    Const,
    External,
    Map,
    PerRank,
    Phi,
    Seq,
    Unknown,
    Value,
)


def negate(value: Value) -> Value:
    """``not value``."""
    if isinstance(value, Const):
        return const(not value.value)
    if isinstance(value, PerRank):
        return ranked([not item for item in value.values])
    if isinstance(value, Unknown):
        if value.op == "not":
            inner: Value = value.args[0]
            return inner
        return unknown("not", tested(value))
    if isinstance(value, Phi):
        return phi(value.test, negate(value.then), negate(value.orelse))
    if isinstance(value, Seq):
        return const(not value.items)
    if isinstance(value, Map):
        return const(not value.items)
    if isinstance(value, External):
        return unknown("not", unknown("truth", value))
    return const(False)


def tested(value: Unknown) -> Unknown:
    """What an ``if`` asks of a value: of known things, has a test common to all left any?"""
    if value.op == "comprehension" and value.local and LISTED in value.tokens:
        return unknown("any left", value, local=False, clean=True)
    return value


def binary(op: str, left: Value, right: Value, cluster: Cluster) -> Value:
    """An arithmetic operation or a comparison."""
    if (op in ORDER or op in {"//", "%"}) and isinstance(left, Phi) and isinstance(right, Const):
        tally = _tally(left)
        if tally is not None and type(right.value) is int and right.value > max(tally, 1):
            return unknown(op, left, right)
    if isinstance(left, Phi):
        return phi(
            left.test,
            binary(op, left.then, right, cluster),
            binary(op, left.orelse, right, cluster),
        )
    if isinstance(right, Phi):
        return phi(
            right.test,
            binary(op, left, right.then, cluster),
            binary(op, left, right.orelse, cluster),
        )
    if op in {"is", "is not"} and right == const(None) and _is_either(left):
        return _of_either(op, left, right, cluster)
    if op in {"in", "not in"} and isinstance(right, Seq):
        tests = {item.test for item in right.items if isinstance(item, Phi)}
        if len(tests) == 1:
            test = tests.pop()
            ways = zip(*(where(test, item, item) for item in right.items), strict=True)
            then, orelse = (binary(op, left, seq(right.kind, way), cluster) for way in ways)
            return phi(test, then, orelse)
    function = FUNCTIONS.get(op)
    if function is not None:
        try:
            result = concrete(op, function, left, right, cluster)
        except (
            ValueError,
            TypeError,
            ZeroDivisionError,
            OverflowError,
            MemoryError,
            AttributeError,
        ):
            result = None
        if result is not None:
            return result
    if op in COMPARISONS:
        return _compare_unknown(op, left, right)
    if op == "|" and (isinstance(left, Map) or isinstance(right, Map)):
        return merged([left, right])
    if isinstance(left, Seq) and isinstance(right, Seq) and op == "+":
        return seq(left.kind, left.items + right.items)
    return unknown(op, left, right)


def _is_either(value: Value) -> TypeGuard[Unknown]:
    """Was it joined of two values by a test that is still at hand?"""
    return (
        isinstance(value, Unknown)
        and value.op == EITHER
        and len(value.args) == 3
        and isinstance(value.args[0], Unknown)
    )


def _of_either(op: str, value: Unknown, none: Value, cluster: Cluster) -> Value:
    """Whether a joined value is None: each side may be known to be something."""
    key = (_of_either, op, value)
    found = TABLE.get(key)
    if found is None:
        test, then, orelse = value.args
        sides = binary(op, then, none, cluster), binary(op, orelse, none, cluster)
        found = TABLE[key] = phi(test, *sides)
    result: Value = found
    return result


def _tally(value: Value) -> int | None:
    """The largest number that a count of events on this rank has come to; None if it is none.

    An example is the number of evaluations without progress: where it stands against a larger bound
    is the rank's own, however few iterations are executed.
    """
    if isinstance(value, Const):
        return value.value if type(value.value) is int else None
    if not isinstance(value, Phi) or not value.test.local:
        return None
    parts = (_tally(value.then), _tally(value.orelse))
    known = [part for part in parts if part is not None]
    return max(known) if len(known) == len(parts) else None


_NEGATED = {"!=": "==", ">=": "<", "not in": "in", "is not": "is"}
_SWAPPED = {">": "<", "<=": ">="}
_MAY_BE_NONE = frozenset({"item", "result", "either", "caught", "param"})
"""Rank-local terms that may be None on one rank alone, such as an empty batch."""


def _compare_unknown(op: str, left: Value, right: Value) -> Value:
    if op in _SWAPPED:
        return _compare_unknown(_SWAPPED[op], right, left)
    if op in _NEGATED:
        return negate(_compare_unknown(_NEGATED[op], left, right))
    if op in {"==", "<"}:
        outcome = _of_later_turn(op, left, right)
        return unknown(op, left, right) if outcome is None else const(outcome)
    if op == "is":
        left = changed_object(left)
        if isinstance(left, Unknown) and left.op not in _MAY_BE_NONE:
            # whether there is a value at all is a matter of the program, not of the rank's data
            return unknown(op, left, right, local=False, clean=True)
    if op == "in" and is_process_id(left) and not right.local:
        return unknown(op, "process", right, clean=True)
    if op == "in" and isinstance(left, Const) and isinstance(right, Unknown) and right.wrapped:
        # so is which outputs a model has
        return unknown(op, left, right, local=False, clean=True)
    if op == "in" and not left.local and has_keys_of_all(right):
        return unknown(op, left, right, local=False, clean=True)
    return unknown(op, left, right)


def _of_later_turn(op: str, left: Value, right: Value) -> bool | None:
    """How a later turn's number compares with one that only an earlier turn can have."""
    if op == "==" and lowest(left) is None:
        left, right = right, left
    if lowest(left) is not None and isinstance(right, Const) and type(right.value) is int:
        if right.value < lowest(left) + (op == "<"):
            return False
    elif op == "<" and lowest(right) is not None:
        if isinstance(left, Const) and type(left.value) is int and left.value < lowest(right):
            return True
    return None
