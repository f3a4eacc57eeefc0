"""Loops: the head of one, iterations of unknown number, and what ranks count in them."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import counts
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import bind_target
from distlint.analyzer.symbolic.conditions import holds
from distlint.analyzer.symbolic.continuations import LoopHead, RestOfBlock
from distlint.analyzer.symbolic.execution_log import Decided, LoopReached
from distlint.analyzer.symbolic.iterables import (
    LOOP_BOUND,
    as_loader,
    exact_items,
    loop_item,
    trip,
    trip_atom,
)
from distlint.analyzer.symbolic.merging import Merging
from distlint.analyzer.symbolic.state import Key, PathPruned, Stop
from distlint.analyzer.symbolic.values import Unknown, Value

COUNTED = (1, LOOP_BOUND)
"""The iterations at whose begin what ranks have counted may become any number."""


class Iterations(Merging):
    """The part of a machine that takes it through loops."""

    def do_for(self, s: ir.For, k: RestOfBlock) -> Stop | None:
        iterable = self.resolve(self.evaluate(s.iterable))
        if isinstance(iterable, v.Obj):
            entry = self.catalogue.member(iterable.kind, "__iter__")
            if entry is not None and entry.collective is not None:
                self.inner = ("iter",)
                try:
                    self.collective(entry, [], {}, None, s.site, iterable)
                finally:
                    self.inner = ()
            if iterable.kind == "tqdm.tqdm" and iterable.inner is not None:
                iterable = iterable.inner
        iterable = as_loader(self, s, iterable)
        if self.merge_turns(s, iterable, k):
            return None
        self.done(k)
        self.k = self.context.continuation(LoopHead(self.frame, self.k, s, 0, iterable, self.it))
        return None

    def do_while(self, s: ir.While, k: RestOfBlock) -> Stop | None:
        self.done(k)
        self.k = self.context.continuation(LoopHead(self.frame, self.k, s, 0, None, self.it))
        return None

    def continue_loop(self, k: LoopHead) -> Stop | None:
        statement, index, iterable, outer = k.statement, k.index, k.iterable, k.outer
        if isinstance(statement, ir.While):
            return self.continue_while(k, statement)
        assert iterable is not None
        exact = exact_items(self, iterable)
        if exact is not None:
            more = index < len(exact)
            self.context.loops.note_test(statement.iterable)
            if self.log is not None:
                where = self.frame.function or self.frame.module.key
                self.lengths[where, statement.site, outer] = len(exact)
                if isinstance(iterable, v.PerRank):
                    self.log.append(Decided(self.frame, statement.site, iterable, more, self.it))
        else:
            more = self.may_go_on(statement, outer, index)
            # asked first, so that both ranks of a pair are at the head of the loop
            more = more and self.has_turn(statement, index, iterable, outer)
            more = more and index < LOOP_BOUND + self.counts_on(statement, outer, index)
        self.log_head(statement, index, more)
        if not more:
            if index:
                self.leave_last_item(statement.target)
            self.it = outer
            self.results = {}
            self.k = self.push(statement.orelse, 0, k.next)
            return None
        self.it = (*outer, index)
        if exact is None and index in COUNTED:
            self.widen_counts(statement, outer, index)
        item = exact[index] if exact is not None else loop_item(self, iterable, index, self.turns())
        bind_target(self, statement.target, item)
        self.results = {}
        self.k = self.push(statement.body, 0, self.another(k))
        return None

    def log_head(self, loop: ir.For | ir.While, index: int, more: bool) -> None:
        if self.log is not None:
            self.log.append(LoopReached(self.frame, loop.site, index, more, self.it))

    def has_turn(
        self, statement: ir.For, index: int, iterable: Value, outer: tuple[int, ...]
    ) -> bool:
        """Is there another turn, and can it do anything that none before has done?"""
        if index == 0:
            self.note_begin(statement, outer)
        elif self.log is None and not self.quiet and self.one is None:
            atom = trip_atom(self, iterable, index)
            if not atom.local and self.assumed(atom) is None:
                if self.repeated(statement, outer) is not None:
                    self.known[atom] = False
                    self.assumptions.append((atom, False))
        return trip(self, iterable, index, statement.site)

    def note_begin(self, loop: ir.For | ir.While, outer: tuple[int, ...]) -> None:
        """Note how the first iteration of a loop of unknown length begins."""
        if self.log is not None:
            self.begun[loop.site, self.frame.scope, outer] = dict(self.store)
        elif not self.quiet:
            self.context.loops.begins(self.side, loop, self.frame, outer, self.store)

    def widen_counts(self, loop: ir.For | ir.While, outer: tuple[int, ...], index: int) -> None:
        """Take what each rank has counted for itself in the iterations so far for any number."""
        found = self.counted(loop, outer, index)
        if found:
            counted = self.context.loops.counted
            counted.setdefault((loop.site, self.frame.scope, outer), index)
        self.store.update(found)

    def counted(
        self, loop: ir.For | ir.While, outer: tuple[int, ...], index: int
    ) -> dict[Key, Value]:
        """The variables with the counts that are any number when an iteration begins."""
        where = (loop.site, self.frame.scope, outer)
        if self.context.loops.counted.get(where, index) != index:
            return {}
        alike, begun = [], self.begun.get(where)
        heads = [] if begun is None else [begun]
        if self.log is None:
            alike = self.context.loops.begun(None, loop, self.frame, outer)
            heads = alike or self.context.loops.begun(self.side, loop, self.frame, outer)
        found = dict(counts.widened(self, where, heads, alike=bool(alike)))
        if self.log is not None:
            found.update(counts.assumed(self, where))
        return found

    def may_go_on(self, loop: ir.For, outer: tuple[int, ...], index: int) -> bool:
        """May there be an iteration: always a second, and more where ranks may have counted?"""
        if index < LOOP_BOUND + self.counts_on(loop, outer, index):
            return True
        is_pair = self.one is not None and self.log is None and not self.quiet
        return is_pair and index == LOOP_BOUND and any(isinstance(q, tuple) for q in self.known)

    def counts_on(self, loop: ir.For | ir.While, outer: tuple[int, ...], index: int) -> int:
        """How many iterations more there are for what each rank has counted for itself.

        That is any number from the second iteration on, or from the third where the first is not
        like the others (``best is None``); a rank that stays where another leaves needs one more.
        """
        if self.one is None or self.quiet:
            return 0
        known = self.context.loops.counted.get((loop.site, self.frame.scope, outer))
        if self.level is None:
            return known or 0
        if index != LOOP_BOUND or known not in {None, LOOP_BOUND}:
            return 0
        return int(known is not None or bool(self.counted(loop, outer, index)))

    def repeated(self, loop: ir.For | ir.While, outer: tuple[int, ...]) -> dict[Key, Value] | None:
        """What is new in a turn that can do nothing new; None if it can."""
        return self.context.loops.repeats(self.side, loop, self.frame, outer, self.store)

    def leave_last_item(self, target: ir.Expr) -> None:
        """After a loop, whether its variable is None asks for the turns, not for the data."""
        if isinstance(target, ir.Name):
            item = self.evaluate(target)
            if isinstance(item, Unknown) and item.op == "item" and item.local:
                bind_target(self, target, v.unknown("last", item))

    def another(self, k: LoopHead) -> LoopHead:
        """The head of a loop before the next iteration."""
        own = (k.statement, k.index + 1, k.iterable, k.outer)
        return self.context.continuation(LoopHead(k.frame, k.next, *own))

    def continue_while(self, k: LoopHead, statement: ir.While) -> Stop | None:
        index, outer = k.index, k.outer
        self.it = (*outer, index)
        more = holds(self, statement.test, statement.site)
        self.log_head(statement, index, more)
        if not more:
            self.context.loops_left.add(statement)
            self.it = outer
            self.results = {}
            self.k = self.push(statement.orelse, 0, k.next)
            return None
        extra = self.extra_turns(statement) + self.counts_on(statement, outer, index)
        extra = extra or int(self.stays_alone(statement, index))
        if index >= LOOP_BOUND + extra:
            if k.next is not None:
                self.context.loops_cut.add(statement)
            raise PathPruned
        if index == 0:
            self.note_begin(statement, outer)
        elif self.log is None and not self.quiet and self.one is None:
            if self.is_undecided(statement.test) and self.repeated(statement, outer) is not None:
                raise PathPruned
        if index in COUNTED:
            self.widen_counts(statement, outer, index)
        self.results = {}
        self.k = self.push(statement.body, 0, self.another(k))
        return None

    def stays_alone(self, statement: ir.While, index: int) -> bool:
        """May this rank meet others in a loop that another one has left, by what it alone has?"""
        if index != LOOP_BOUND or self.quiet or self.one is None:
            return False
        is_own = any(isinstance(question, tuple) for question in self.known)
        return is_own and self.context.meets(self.frame, statement.body)

    def is_undecided(self, test: ir.Expr) -> bool:
        """Does a loop go on for no reason that is known?"""
        return isinstance(test, ir.Literal) or isinstance(self.evaluate(test), (Unknown, v.Phi))

    def extra_turns(self, statement: ir.While) -> int:
        """A loop whose condition is concrete may take more turns than one that is not."""
        concrete = isinstance(statement.test, ir.Compare) and not isinstance(
            self.evaluate(statement.test), (Unknown, v.Phi)
        )
        return 6 if concrete else 0
