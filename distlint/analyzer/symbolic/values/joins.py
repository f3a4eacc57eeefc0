"""Joins: what is one value or another, by a condition that has not been decided."""

from __future__ import annotations

from itertools import repeat

from distlint.analyzer.symbolic.values.facts import (
    are_alike,
    are_weak,
    is_known,
    is_plain,
    is_truth_value,
)
from distlint.analyzer.symbolic.values.interning import TABLE, const, mapping, seq, unknown
from distlint.analyzer.symbolic.values.operators import EITHER
from distlint.analyzer.symbolic.values.types import NOTHING, Map, Phi, Seq, Unknown, Value

MAX_PHI_DEPTH = 4
MAX_OPEN_DEPTH = 1
"""The same for what joined ways leave: unknowns that ranks can only test, all alike."""


def phi(test: Unknown, then: Value, orelse: Value) -> Value:
    then, orelse = where(test, then, orelse)
    if then is orelse:
        return then
    depth = 1 + max(_phi_depth(then), _phi_depth(orelse))
    if depth > MAX_PHI_DEPTH:
        return unknown(EITHER, test, then, orelse)
    key = (Phi, test, then, orelse)
    found = TABLE.get(key)
    if found is None:
        found = Phi()
        found.test = test
        found.then = then
        found.orelse = orelse
        found.depth = depth
        found.local = test.local or then.local or orelse.local
        found.wrapped = getattr(then, "wrapped", NOTHING) | getattr(orelse, "wrapped", NOTHING)
        found.atoms = test.atoms | then.atoms | orelse.atoms
        found.weak = are_weak((test, then, orelse))
        found.plain = not found.local and is_plain(then) and is_plain(orelse)
        found.known = is_known(then) and is_known(orelse)
        TABLE[key] = found
    result: Phi = found
    return result


def where(test: Unknown, then: Value, orelse: Value) -> tuple[Value, Value]:
    """What two values are where a test is true, and where it is false."""
    if isinstance(then, Phi) and then.test is test:
        then = then.then
    if isinstance(orelse, Phi) and orelse.test is test:
        orelse = orelse.orelse
    if is_truth_value(test):
        then = const(True) if then is test else then
        orelse = const(False) if orelse is test else orelse
    return then, orelse


def joined(test: Unknown, then: Value, orelse: Value) -> Value:
    """What two ways have left in a variable: two unknowns, the same on all ranks, become one."""
    one, two = where(test, then, orelse)
    if isinstance(one, Map) and isinstance(two, Map) and _keys(one) == _keys(two):
        items = zip(one.items, two.items, strict=True)
        return mapping([(key, joined(test, left, right)) for (key, left), (_, right) in items])
    if isinstance(one, Seq) and isinstance(two, Seq) and _are_parallel(one, two):
        return seq(one.kind, list(map(joined, repeat(test), one.items, two.items)))
    if one is two or test.local:
        return phi(test, then, orelse)
    if are_alike(one, two):
        return unknown(EITHER, test, then, orelse)
    if is_plain(one) and is_plain(two) and not (is_known(one) and is_known(two)):
        depth = 1 + max(_phi_depth(one), _phi_depth(two))
        if depth > MAX_OPEN_DEPTH:
            return unknown(EITHER, test, then, orelse)
    return phi(test, then, orelse)


def _are_parallel(one: Seq, two: Seq) -> bool:
    """Do two sequences hold item for item, as what a function returns on several ways?"""
    return one.kind == two.kind != "set" and len(one.items) == len(two.items)


def _keys(value: Map) -> list[Value]:
    return [key for key, _ in value.items]


def _phi_depth(value: Value) -> int:
    return value.depth if isinstance(value, Phi) else 0
