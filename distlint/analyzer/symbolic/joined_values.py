"""Questions about the joined values of several ways, and the questions of which they are made."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import Unknown

_BOTH = frozenset({True, False})
MAX_CASES = 64
"""Pairs of values that are compared to tell how a comparison of joined ones can come out."""


def is_joined(term: object) -> bool:
    """Does it hold what is left of values of several ways?"""
    if isinstance(term, v.Phi) or getattr(term, "op", "") in {v.EITHER, v.LOST}:
        return True
    return isinstance(term, Unknown) and any(map(is_joined, term.args))


def tests_in(term: object) -> Iterator[Unknown]:
    """The questions that tell apart the values that a term was joined of."""
    if isinstance(term, v.Phi):
        yield term.test
        yield from tests_in(term.then)
        yield from tests_in(term.orelse)
    elif isinstance(term, Unknown):
        if term.op == v.EITHER and isinstance(term.args[0], Unknown):
            yield term.args[0]
        for arg in term.args:
            yield from tests_in(arg)


def as_less(term: Unknown) -> tuple[Unknown, bool]:
    """A comparison in the form that joined values have it in, and whether it is not negated.

    A count is compared as it is written, and as ``not <`` once it has been joined.
    """
    if term.op not in _ORDERED:
        return term, True
    is_swapped, is_positive = _ORDERED[term.op]
    left, right = term.args
    args = (right, left) if is_swapped else (left, right)
    return v.unknown("<", *args, local=term.local), is_positive


_ORDERED = {">=": (False, False), ">": (True, True), "<=": (True, False)}


def outcomes(term: object, test: Unknown, answer: bool) -> frozenset[bool]:
    """How a question about joined values can come out where one of their tests has an answer."""
    if term is test:
        return frozenset({answer})
    if isinstance(term, Unknown) and term.op == "not":
        return frozenset(not outcome for outcome in outcomes(term.args[0], test, answer))
    if isinstance(term, Unknown) and term.op in {"<", "=="}:
        left, right = (list(_cases(arg, test, answer)) for arg in term.args)
        if len(left) * len(right) > MAX_CASES:
            return _BOTH
        return frozenset[bool]().union(
            *(_compared(term.op, one, two) for one, two in product(left, right))
        )
    if isinstance(term, v.Phi) or (isinstance(term, Unknown) and term.op == v.EITHER):
        cases = _cases(term, test, answer)
        return frozenset[bool]().union(*(outcomes(case, test, answer) for case in cases))
    return frozenset({bool(term.value)}) if isinstance(term, v.Const) else _BOTH


def _cases(term: object, test: Unknown, answer: bool) -> Iterator[object]:
    """The values that a term can be."""
    if isinstance(term, v.Phi):
        ways: tuple[object, ...] = (term.then, term.orelse)
        decided = term.test
    elif isinstance(term, Unknown) and term.op == v.EITHER:
        decided, *rest = term.args
        ways = tuple(rest)
    else:
        yield term
        return
    if decided is test and len(ways) == 2:
        ways = (ways[0],) if answer else (ways[1],)
    for way in ways:
        yield from _cases(way, test, answer)


def _compared(op: str, left: object, right: object) -> frozenset[bool]:
    numbers = [
        each.value
        for each in (left, right)
        if isinstance(each, v.Const) and isinstance(each.value, (int, float))
    ]
    if len(numbers) < 2:
        return _BOTH
    return frozenset({numbers[0] < numbers[1] if op == "<" else numbers[0] == numbers[1]})
