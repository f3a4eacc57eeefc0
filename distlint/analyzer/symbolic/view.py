"""One rank's view of an execution: its variables, what it assumes, the conditions it decides."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.choices import CHOICES, chosen
from distlint.analyzer.symbolic.continuations import Continuation
from distlint.analyzer.symbolic.execution_log import Decided, LogEntry
from distlint.analyzer.symbolic.state import (
    BranchUndecided,
    Frame,
    Inner,
    Iterations,
    Key,
    Known,
    LoopIn,
    LoopPlace,
    Question,
    RankDependent,
    ResultKey,
    State,
)
from distlint.analyzer.symbolic.values import Unknown, Value, unknown

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.context import ExecutionContext

RETURNED = Continuation(None, None)
"""Instead of the call at which a machine stops, when it has returned from it."""

SIDES = ("A", "B")
"""The two ranks that are compared."""

SIDE = "side"
"""Operator of the unknown that says which of the two it is: the first where it is true."""

SEEDED = "seeded"
"""First part of the variables that say of each stream whether all ranks have seeded it alike."""

RISKY = ("risky", "")
"""Variable that is set when something has been called that may raise on one rank alone."""

IN_PROCESSES = "in processes"
"""In the key of a call of a function that begins a process of its own on each rank."""

GRADIENTS = ("gradients", "")
"""Variable that says whether gradients are recorded, inside a context that decides it."""

JOINED = ("joined", "")
"""Variable that is set inside ``join()``, where uneven counts do no harm."""


def is_cached_result(key: Key) -> bool:
    """Does a variable say that calls of an object return what they did, without the other ranks?"""
    return key[0] == "once" and isinstance(key[1], int)


class View:
    """The state of a machine, and what it has decided."""

    def __init__(
        self, context: ExecutionContext, rank: int | None, side: str | None = None
    ) -> None:
        self.context = context
        self.one = rank
        """The rank; None for a machine that stands for all ranks as long as they do the same."""
        self.side = side
        self.cluster = context.cluster
        self.catalogue = context.catalogue
        self.evaluated = 0
        """Expressions since the last statement was counted."""
        self.known: Known = {}
        self.assumptions: list[tuple[Question, bool]] = []
        """What has been assumed without asking, because the job is aborted elsewhere."""
        self.frame: Frame
        self.it: Iterations = ()
        self.k: Continuation | None = None
        self.results: dict[ResultKey, Value] = {}
        self.store: dict[Key, Value] = {}
        self.inner: Inner = ()
        self.site = 0
        self.log: list[LogEntry] | None = None
        self.lengths: dict[LoopIn, int] = {}
        """How long the known collections were over which loops have gone, while there is a log."""
        self.mark = 0
        """Length of the log when the statement in hand was begun."""
        self.forced: dict[tuple[str, int], bool] = {}
        """How tests of the rank come out on all ranks, where a replay tries that."""
        self.begun: dict[LoopPlace, dict[Key, Value]] = {}
        """The variables at the begin of each loop, while there is a log."""
        self.level: tuple[dict[Key, Value], dict[Key, Value]] | None = None
        """The variables of both ranks of a pair where they were last at the same place."""
        self.quiet = 0
        self.chosen = False
        """Has a comprehension been seen to filter by what is this rank's own?"""
        self.joins = True
        """May both arms of a branch be run, and what they leave be joined?"""
        self.rejoin: Continuation | None = None
        """Where a machine for all ranks stops, so that its ways can join."""
        self.asking: list[int] = []
        """Objects whose attributes are being looked at."""
        self.reading = 0
        """Is something being evaluated that ran long ago, such as a global of the module?"""

    @property
    def rank(self) -> int:
        """The rank that this machine is.

        Raises:
            RankDependent: when it stands for all of them.
        """
        if self.one is None:
            raise RankDependent
        return self.one

    # ---- state

    def load(self, state: State) -> None:
        self.k, self.frame, self.it = state.k, state.frame, state.it
        self.results, self.store = dict(state.results), dict(state.store)
        self.context.spend(len(self.store))
        self.inner = ()

    def save(self) -> State:
        return State(self.k, self.frame, self.it, self.results, self.store)

    def number(self, *key: Hashable) -> int:
        """A number for an allocation, a scope or an object: equal on all ranks at equal places."""
        return self.context.number(key)

    def here(self, site: int) -> tuple[int, str, int, Iterations, Inner]:
        """A key for what happens at a site in this activation and iteration."""
        return (site, self.frame.module.key, self.frame.scope, self.it, self.inner)

    def turns(self) -> Iterations:
        """Which turn of each loop around it this is, in all functions that are being run.

        Unlike ``here`` it is the same for ranks that iterate over one thing in different places.
        """
        inner = (step[-1] for step in self.inner if type(step[-1]) is int)
        return (*self.frame.turns, *self.it, *inner)

    # ---- conditions

    def decide(self, atom: Unknown) -> bool:
        """The truth of an unknown, shared by the ranks unless it is rank-local.

        Raises:
            BranchUndecided: when nothing has been assumed about it yet.
        """
        if atom.op == "not":
            return not self.decide(atom.args[0])
        outcome = self.assumed(atom)
        if outcome is None:
            outcome = self.implied(atom)
        if outcome is None:
            raise BranchUndecided(atom, self.key(atom))
        return outcome

    def decide_at(self, site: int, atom: Unknown) -> bool:
        """The truth of an unknown that is asked for at a site, which the log keeps."""
        outcome = self.decide(atom)
        if self.log is not None:
            self.log.append(Decided(self.frame, site, atom, outcome, self.it))
        return outcome

    def implied(self, atom: Unknown) -> bool | None:
        """What other assumptions tell: where ``3 < n`` has been made, ``1 < n`` is so."""
        if v.is_surely_true(atom):
            return True
        if atom.op in CHOICES:
            return chosen(atom, self.known)
        bound = self.bound(atom.args[0]) if atom.op == "<" else None
        if bound is None:
            return None
        for known, outcome in self.known.items():
            if (
                not isinstance(known, Unknown)
                or known.op != "<"
                or known.args[1] is not atom.args[1]
            ):
                continue
            other = known.args[0]
            if outcome and isinstance(other, v.PerRank):
                other = v.const(max(other.values))  # it is so on all ranks
            limit = self.bound(other) if isinstance(other, v.Const) else None
            if limit is not None and (limit >= bound if outcome else limit <= bound):
                return outcome
        return None

    def bound(self, value: object) -> int | float | None:
        """The number, if it is one on this rank."""
        if isinstance(value, v.PerRank) and self.one is not None:
            value = v.const(value.values[self.rank])
        if isinstance(value, v.Const) and isinstance(value.value, (int, float)):
            return value.value
        return None

    def is_cached(self, oid: int) -> bool:
        """Does a call of an object return what it did before, without the other ranks?"""
        cached = self.store.get(("once", oid))
        return cached is not None and cached != v.const(False)

    def key(self, atom: Unknown) -> Question:
        """Under which an assumption is kept: a rank-local one is this side's own."""
        if not atom.local:
            return atom
        if self.one is None:
            raise RankDependent
        return (self.side, atom)

    def assumed(self, atom: Unknown) -> bool | None:
        """What has been assumed about an unknown on this side, None if nothing has."""
        if not atom.local:
            return self.known.get(atom)
        if self.one is not None:
            return self.side == SIDES[0] if atom.op == SIDE else self.known.get((self.side, atom))
        if atom.op == SIDE:
            raise RankDependent
        if any((side, atom) in self.known for side in SIDES):
            raise RankDependent
        return None

    def truth(self, value: Value, site: int) -> bool:
        """Is a value true on this rank?"""
        outcome = self.is_true(value)
        if self.forced and isinstance(value, v.PerRank):
            outcome = self.forced.get((self.frame.module.key, site), outcome)
        if self.log is not None:
            self.log.append(Decided(self.frame, site, value, outcome, self.it))
        return outcome

    def is_true(self, value: Value) -> bool:
        if isinstance(value, v.Const):
            return bool(value.value)
        if isinstance(value, v.PerRank):
            outcomes = tuple(map(bool, value.values))
            if len(set(outcomes)) == 1:
                return outcomes[0]
            self.context.refine(outcomes)
            return outcomes[self.rank]
        if isinstance(value, Unknown):
            return self.decide(v.tested(value))
        if isinstance(value, v.Phi):
            return self.is_true(value.then if self.decide(value.test) else value.orelse)
        if isinstance(value, (v.Seq, v.Map)):
            return bool(value.items)
        if isinstance(value, v.WorldSizeExpr) and len(set(map(bool, value.samples))) == 1:
            return bool(value.value)
        if isinstance(value, (v.External, v.WorldSizeExpr)):
            return self.decide(unknown("truth", value))
        return True

    def resolve(self, value: Value) -> Value:
        """The value itself, with conditions on the way to it decided."""
        while isinstance(value, v.Phi):
            value = value.then if self.decide(value.test) else value.orelse
        return value

    def on_this_rank(self, value: Value) -> Any:
        """The Python value on this rank; ValueError when it is not concrete."""
        row = v.vector(value, self.cluster.size)
        first = row[0]
        if all(item is first or item == first for item in row):
            return first
        return row[self.rank]

    def may_fail(self, site: int) -> None:
        """Note that something has been called that may raise on one rank alone."""
        self.store[RISKY] = v.const(True)
