"""Branches and loops that only assign: run at once, and what they leave is merged."""

from __future__ import annotations

from contextlib import suppress

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import bind_target
from distlint.analyzer.symbolic.block_exits import is_left_by_error_alone
from distlint.analyzer.symbolic.collective_results import CollectiveResults
from distlint.analyzer.symbolic.continuations import RestOfBlock
from distlint.analyzer.symbolic.execution_log import Branched
from distlint.analyzer.symbolic.iterables import LOOP_BOUND, exact_items, loop_item, trip_atom
from distlint.analyzer.symbolic.joining import those
from distlint.analyzer.symbolic.state import Journal, Key, Known, RankDependent
from distlint.analyzer.symbolic.values import Unknown, Value, const


class Merging(CollectiveResults):
    """The part of a machine that does not decide what it need not decide."""

    def then(self, k: RestOfBlock, block: ir.Block) -> None:
        """Run a block in place of the statement at ``k``."""
        self.done(k)
        self.k = self.push(block, 0, self.k)

    def take_arm(self, s: ir.If, k: RestOfBlock, outcome: bool) -> None:
        """Go on in an arm of a branch."""
        if self.log is not None:
            self.log.append(Branched(self.frame, s.site, outcome))
        self.then(k, s.body if outcome else s.orelse)

    def merge(self, s: ir.If, value: Value, k: RestOfBlock) -> bool:
        """Run both arms of an undecided branch and join what they leave, if they only assign."""
        if not (self.joins and self.context.mergeable(s)):
            return False
        value = self.reduced(value)
        if not isinstance(value, (Unknown, v.Phi)):
            return False
        then = self.store_where(value, True, s.body)
        orelse = self.store_where(value, False, s.orelse)
        if then is None or orelse is None:
            self.context.unmergeable(s)
            return False
        written = {**then.written, **orelse.written}
        self.write(self.joined(value, those(then, written), those(orelse, written)))
        self.done(k)
        return True

    def merge_turns(self, s: ir.For, iterable: Value, k: RestOfBlock) -> bool:
        """Run a loop of unknown length that only assigns, and join what each count leaves."""
        if not (self.joins and self.context.mergeable(s)):
            return False
        if exact_items(self, iterable) is not None:
            return False
        atoms = [trip_atom(self, iterable, index) for index in range(LOOP_BOUND)]
        if any(self.assumed(atom) is not None for atom in atoms):
            return False
        before = self.store
        outer = self.it
        after: list[dict[Key, Value]] = [before]
        written: dict[Key, None] = {}
        try:
            for index in range(LOOP_BOUND):
                self.it = (*outer, index)
                self.store = turn = Journal(after[-1])
                bind_target(self, s.target, loop_item(self, iterable, index, self.turns()))
                store = self.store_after(s.body)
                if store is None:
                    self.context.unmergeable(s)
                    return False
                after.append(store)
                written |= {**turn.written, **store.written}
        finally:
            self.it, self.store = outer, before
        *earlier, last = (those(turned, written) for turned in after)
        joined = last
        for atom, fewer in zip(reversed(atoms), reversed(earlier), strict=True):
            joined = self.joined(atom, joined, fewer)
        self.write(joined)
        self.then(k, s.orelse)
        return True

    def store_where(self, test: Value, outcome: bool, block: ir.Block) -> Journal | None:
        """The variables after an arm of a branch; None also if the arm aborts unless more holds.

        What is assumed for the sake of one arm does not hold where the other one is taken.
        """
        known, assumptions = self.known, self.assumptions
        self.known, self.assumptions = dict(known), []
        try:
            with suppress(RankDependent):
                self.assume(test, outcome)
            self.assumptions.clear()
            journal = self.store_after(block)
            return None if self.assumptions else journal
        finally:
            self.known, self.assumptions = known, assumptions

    def store_after(self, block: ir.Block) -> Journal | None:
        """The variables after a block of plain statements; None if it does more than assign."""
        before = self.store
        self.store = journal = Journal(before)
        self.context.spend(len(before))
        try:
            return journal if self.run_block_quietly(block) else None
        finally:
            self.store = before

    def run_block_quietly(self, block: ir.Block) -> bool:
        """Run a block of plain statements to its end; False if it turns out not to be plain."""
        raise NotImplementedError

    # ---- what is assumed without asking

    def drops_arm(self, s: ir.If, value: Value, k: RestOfBlock) -> bool:
        """An undecided branch into an abort matches anything: only the other arm is of interest."""
        for arm, outcome in ((s.body, False), (s.orelse, True)):
            if not is_left_by_error_alone(arm):
                continue
            if self.is_stopped(k, _raised_by(arm)):
                continue
            if self.context.meets(self.frame, arm):
                continue
            if self.assume(value, outcome):
                self.take_arm(s, k, outcome)
                return True
        return False

    def assume(self, value: Value, outcome: bool) -> bool:
        """Go on with what holds wherever the job has not been aborted; False if nothing can."""
        ways = self.ways(value, outcome, {})
        if not ways:
            return False
        for key, needed in ways[0].items():
            if all(way.get(key) is needed for way in ways[1:]):
                self.known[key] = needed
                self.assumptions.append((key, needed))
        return True

    def ways(self, value: Value, outcome: bool, given: Known) -> list[Known]:
        """What may be assumed, beside what is known and given, to make a condition come out so."""
        if isinstance(value, Unknown):
            if value.op == "not":
                return self.ways(value.args[0], not outcome, given)
            key = self.key(value)
            known = self.known.get(key, given.get(key))
            if known is None:
                return [{**given, key: outcome}]
            return [given] if known is outcome else []
        if isinstance(value, v.Phi):
            return [
                way
                for taken, arm in ((True, value.then), (False, value.orelse))
                for before in self.ways(value.test, taken, given)
                for way in self.ways(arm, outcome, before)
            ]
        return [given] if self.is_true(value) is outcome else []

    def reduced(self, value: Value) -> Value:
        """A condition with what is already assumed put in; nothing new is decided."""
        while isinstance(value, v.Phi):
            test = value.test
            outcome = self.assumed(test)
            if outcome is None:
                return value
            value = value.then if outcome else value.orelse
        if isinstance(value, Unknown):
            negated = value.op == "not"
            atom = value.args[0] if negated else value
            outcome = self.assumed(atom)
            if outcome is not None:
                return const(outcome is not negated)
        return value


def _raised_by(arm: ir.Block) -> str:
    """What a branch into an abort raises."""
    last = arm[-1]
    return last.raised if isinstance(last, ir.Raise) else "SystemExit"
