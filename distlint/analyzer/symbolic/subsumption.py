"""States that need not be explored, as one that has been stands for them.

A state stands for another one at the same place if it may be that one: where its variables hold
unknowns of which nothing has been assumed, the other may hold anything that ranks can only test.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, TypeAlias

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.divergence import WAY
from distlint.analyzer.symbolic.state import Key, Known, Question
from distlint.analyzer.symbolic.state_abstraction import APART, Live
from distlint.analyzer.symbolic.values import Phi, Unknown, Value
from distlint.analyzer.symbolic.worklist import Meeting, ProductState

MOST_COMPARED = 8
"""States of one place with which a new one is compared: those that were explored last."""

MOST_PLACES = 256
"""Places of which states are kept: exploration follows the program and seldom goes far back."""

Variables: TypeAlias = dict[Key, Value]

Instances: TypeAlias = dict[Value, Value]
"""What each unknown of a state is in the other one."""


class Explored:
    """The states that have been explored, by place."""

    def __init__(self) -> None:
        self.states: dict[Meeting, deque[ProductState]] = {}

    def covers(self, item: ProductState) -> bool:
        """Does one of them stand for a state? Else that one is noted."""
        known = self.states.pop(item.meeting, None)
        if known is None:
            known = deque(maxlen=MOST_COMPARED)
        self.states[item.meeting] = known  # as the last
        if len(self.states) > MOST_PLACES:
            del self.states[next(iter(self.states))]
        if any(_covers(other, item) for other in reversed(known)):
            return True
        known.append(item)
        return False


def _covers(general: ProductState, special: ProductState) -> bool:
    """Is a state one that another one may be?"""
    if not _are_assumed(general.known, special.known):
        return False
    found = _Matching(general, special)
    return all(
        found.alike(_those(mine.store, one - two), dict(two - one))
        and found.alike(mine.results, other.results)
        for one, two, mine, other in zip(
            general.lives, special.lives, general.states, special.states, strict=True
        )
    )


def _those(store: Variables, live: Live) -> Variables:
    """Some variables in the order of a store, which hashes have no part in."""
    kept = dict(live)
    return {key: kept[key] for key in store if key in kept}


def _are_assumed(general: Known, special: Known) -> bool:
    """Does all that has been assumed hold for the other one? Ways are found again in values."""
    return all(
        special.get(question) is outcome or (question not in special and _is_way(question))
        for question, outcome in general.items()
    )


def _is_way(question: Question) -> bool:
    return isinstance(question, Unknown) and question.op == WAY and not question.local


class _Matching:
    """What the unknowns of a state are in another one."""

    def __init__(self, general: ProductState, special: ProductState) -> None:
        self.known = general.known
        self.other_known = special.known
        self.fixed = frozenset[Unknown]().union(
            *(
                (question[1] if isinstance(question, tuple) else question).atoms
                for question in general.known
                if not _is_way(question)
            )
        )
        """Unknowns of which something has been assumed."""
        self.instances: Instances = {}

    def alike(self, variables: Mapping[Any, Value], others: Mapping[Any, Value]) -> bool:
        """Can variables hold what others do?"""
        if variables.keys() != others.keys():
            return False
        return all(
            value is others[key] or (not _is_fact(key) and self.may_be(value, others[key]))
            for key, value in variables.items()
        )

    def may_be(self, value: Value, other: Value) -> bool:
        """May a value be another one, as far as nothing speaks against it so far?"""
        value, other = _settled(value, self.known), _settled(other, self.other_known)
        if value is other:
            return self.stands_for(value, other)
        if isinstance(value, Phi):
            return self.one_may_be(value, other)
        if isinstance(value, v.Seq) and isinstance(other, v.Seq):
            if value.kind != other.kind or len(value.items) != len(other.items):
                return False
            return all(map(self.may_be, value.items, other.items))
        if isinstance(value, v.Map) and isinstance(other, v.Map):
            if [key for key, _ in value.items] != [key for key, _ in other.items]:
                return False
            return all(
                self.may_be(mine, its)
                for (_, mine), (_, its) in zip(value.items, other.items, strict=True)
            )
        return v.is_plain(other) and self.stands_for(value, other)

    def stands_for(self, value: Value, other: Value) -> bool:
        """Note what an unknown is in the other state, unless it is something else already."""
        if not (isinstance(value, Unknown) and v.is_plain(value)):
            return value is other
        if value is not other and not value.atoms.isdisjoint(self.fixed):
            return False
        return self.instances.setdefault(value, other) is other

    def one_may_be(self, value: Phi, other: Value) -> bool:
        """May one of the values that were joined be another one?"""
        test = value.test
        if test.local or test in self.fixed:
            return False
        if isinstance(other, Phi) and other.test is test:
            return self.may_be(value.then, other.then) and self.may_be(value.orelse, other.orelse)
        decided = self.instances.get(test)
        for way, outcome in ((value.then, v.const(True)), (value.orelse, v.const(False))):
            if decided is not None and decided is not outcome:
                continue
            before = dict(self.instances)
            self.instances[test] = outcome
            if self.may_be(way, other):
                return True
            self.instances = before
        return False


def _settled(value: Value, known: Known) -> Value:
    while isinstance(value, Phi) and value.test in known:
        value = value.then if known[value.test] else value.orelse
    return value


def _is_fact(key: object) -> bool:
    return isinstance(key, tuple) and key[0] in APART
