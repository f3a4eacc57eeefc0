"""One rank's projection of the program: runs statements until the next collective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.static.slicing import PASS_RISKY, RUN
from distlint.analyzer.symbolic import counts
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.continuations import (
    AfterYield,
    BeforeYield,
    Continuation,
    FinallyBlock,
    LoopHead,
    PendingCompletion,
    RestOfBlock,
    ResumeGenerator,
    ReturnToCaller,
    TryBlock,
    WithBlock,
)
from distlint.analyzer.symbolic.execution_log import Assigned, Decided
from distlint.analyzer.symbolic.expressions import LOOP_BOUND
from distlint.analyzer.symbolic.merging import Merging
from distlint.analyzer.symbolic.state import (
    BranchUndecided,
    CallRequested,
    CollectiveReached,
    Event,
    Exit,
    Frame,
    Key,
    PathPruned,
    RankDependent,
    ResultKey,
    State,
    Stop,
)
from distlint.analyzer.symbolic.values import Unknown, Value, const, unknown
from distlint.analyzer.symbolic.view import RETURNED

COUNTED = (1, LOOP_BOUND)
"""The iterations at whose begin what ranks have counted may become any number."""

QUIET_STEPS = 400
"""Statements that a branch without collectives may take when both arms are run to be merged."""


class Machine(Merging):
    """The part of a machine that drives it through the statements."""

    # ---- driving

    def start(self, frame: Frame, body: ir.Block, store: dict[Key, Value]) -> State:
        self.frame, self.it, self.results, self.store = frame, (), {}, store
        self.k = self.push(body, 0, None)
        return self.save()

    def advance(self) -> Event | Stop:
        """Run to the next collective that this rank takes part in, or to the end.

        Raises:
            BranchUndecided: a condition is undecided; the state to go on from is in the fields.
        """
        while True:
            k = self.k
            if k is None:
                self.context.ends = True
                return Stop.END
            self.context.evaluate(self.evaluated)
            self.evaluated = 0
            self.context.step()
            if self.log is not None:
                self.mark = len(self.log)
            try:
                outcome = _CONTINUE[type(k)](self, k)
            except CallRequested as enter:
                self.enter(enter)
                continue
            except CollectiveReached as emit:
                event = emit.event
                if event.members != self.cluster.everyone and self.rank not in event.members:
                    self.results[event.result_key] = const(None)
                    continue
                if self.fails_before(event):
                    continue
                return event
            except Exit as exit_:
                if self.fails_on_the_way(self.k, exit_.site, ()):
                    continue
                outcome = self.leave_process(exit_)
            if outcome is not None:
                return outcome
            if self.rejoin is RETURNED:
                return Stop.JOIN

    def enter(self, enter: CallRequested) -> None:
        results = tuple(self.results.items())
        back = ReturnToCaller(
            None,
            self.k,
            caller=self.frame,
            it=self.it,
            results=results,
            key=enter.key,
            value=enter.value,
            inner=self.inner,
        )
        self.k = self.context.continuation(back)
        self.frame, self.it, self.results, self.inner = enter.frame, (), {}, ()
        self.k = self.push(enter.body, 0, self.k)

    # ---- continuations

    def run_statement(self, k: RestOfBlock) -> Stop | None:
        statement = k.statement
        verdict = self.context.slicer.of(self.frame.module, statement)
        if verdict is not RUN:
            if verdict is PASS_RISKY:
                self.may_fail(statement.site)
            self.done(k)
            return None
        return _EXECUTE[type(statement)](self, statement, k)

    def continue_loop(self, k: LoopHead) -> Stop | None:
        statement, index, iterable, outer = k.statement, k.index, k.iterable, k.outer
        if isinstance(statement, ir.While):
            return self.continue_while(k, statement)
        assert iterable is not None
        exact = self.exact_items(iterable)
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
        item = exact[index] if exact is not None else self.loop_item(iterable, index, self.turns())
        self.bind_target(statement.target, item)
        self.results = {}
        self.k = self.push(statement.body, 0, self.another(k))
        return None

    def has_turn(
        self, statement: ir.For, index: int, iterable: Value, outer: tuple[int, ...]
    ) -> bool:
        """Is there another turn, and can it do anything that none before has done?"""
        if index == 0:
            self.note_begin(statement, outer)
        elif self.log is None and not self.quiet and self.one is None:
            atom = self.trip_atom(iterable, index)
            if not atom.local and self.assumed(atom) is None:
                if self.repeated(statement, outer) is not None:
                    self.known[atom] = False
                    self.assumptions.append((atom, False))
        return self.trip(iterable, index, statement.site)

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
        """Behind a loop, whether its variable is None asks for the turns, not for the data."""
        if isinstance(target, ir.Name):
            item = self.evaluate(target)
            if isinstance(item, Unknown) and item.op == "item" and item.local:
                self.bind_target(target, v.unknown("last", item))

    def another(self, k: LoopHead) -> LoopHead:
        """The head of a loop before the next iteration."""
        own = (k.statement, k.index + 1, k.iterable, k.outer)
        return self.context.continuation(LoopHead(k.frame, k.next, *own))

    def continue_while(self, k: LoopHead, statement: ir.While) -> Stop | None:
        index, outer = k.index, k.outer
        self.it = (*outer, index)
        if not self.test(statement.test, statement.site):
            self.context.loops_left.add(statement)
            self.it = outer
            self.results = {}
            self.k = self.push(statement.orelse, 0, k.next)
            return None
        more = self.extra_turns(statement) + self.counts_on(statement, outer, index)
        if index >= LOOP_BOUND + more:
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

    def is_undecided(self, test: ir.Expr) -> bool:
        """Does a loop go on for no reason that is known?"""
        return isinstance(test, ir.Literal) or isinstance(self.evaluate(test), (Unknown, v.Phi))

    def extra_turns(self, statement: ir.While) -> int:
        """A loop whose condition is concrete may take more turns than one that is not."""
        concrete = isinstance(statement.test, ir.Compare) and not isinstance(
            self.evaluate(statement.test), (Unknown, v.Phi)
        )
        return 6 if concrete else 0

    # ---- statements

    def do_evaluate(self, s: ir.Evaluate, k: RestOfBlock) -> Stop | None:
        if isinstance(s.value, ir.Yield):
            return self.do_yield(s.value, k)
        self.evaluate(s.value)
        self.done(k)
        return None

    def do_assign(self, s: ir.Assign, k: RestOfBlock) -> Stop | None:
        value = self.evaluate(s.value)
        if self.log is not None:
            for target in s.targets:
                self.log.append(Assigned(self.frame, s.site, target, value))
        for target in s.targets:
            self.bind_target(target, value)
        self.done(k)
        return None

    def bind_target(self, target: ir.Expr, value: Value) -> None:
        if isinstance(target, ir.Name):
            self.set_name(target.id, value)
        elif isinstance(target, ir.Display):
            self.unpack(target, value)
        elif isinstance(target, ir.Starred):
            self.bind_target(target.value, value)
        elif isinstance(target, ir.Attribute):
            self.set_attribute(self.resolve(self.evaluate(target.value)), target.attr, value)
        elif isinstance(target, ir.Subscript):
            self.assign_item(target, value)

    def unpack(self, target: ir.Display, value: Value) -> None:
        value = self.resolve(value)
        starred = next(
            (i for i, item in enumerate(target.items) if isinstance(item, ir.Starred)), None
        )
        after = len(target.items) - starred - 1 if starred is not None else 0
        for index, item in enumerate(target.items):
            if starred is None or index < starred:
                found = self.item(value, index)
            elif not isinstance(value, v.Seq):
                found = unknown("rest", value, index)
            elif index == starred:
                found = v.seq("list", value.items[starred : len(value.items) - after])
            else:
                found = self.item(value, len(value.items) - (len(target.items) - index))
            self.bind_target(item, found)

    def do_augmented(self, s: ir.AugAssign, k: RestOfBlock) -> Stop | None:
        value = v.binary(s.op, self.evaluate(s.target), self.evaluate(s.value), self.cluster)
        if self.log is not None:
            self.log.append(Assigned(self.frame, s.site, s.target, value))
        self.bind_target(s.target, value)
        self.done(k)
        return None

    def do_if(self, s: ir.If, k: RestOfBlock) -> Stop | None:
        test = s.test
        if not isinstance(test, (ir.BoolOp, ir.Not)):
            value = self.evaluate(test)
            if isinstance(value, (Unknown, v.Phi)):
                if self.drops_arm(s, value, k) or self.merge(s, value, k):
                    return None
                self.then(k, s.body if self.truth(value, s.site) else s.orelse)
                return None
            self.note_test(test, value)
            outcome = self.truth(value, s.site)
        else:
            value = self.evaluate(test)
            if isinstance(value, (Unknown, v.Phi)) and (
                self.drops_arm(s, value, k) or self.merge(s, value, k)
            ):
                return None
            outcome = self.test(test, s.site)
        self.then(k, s.body if outcome else s.orelse)
        return None

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
        iterable = self.as_loader(s, iterable)
        if self.merge_turns(s, iterable, k):
            return None
        self.done(k)
        self.k = self.context.continuation(LoopHead(self.frame, self.k, s, 0, iterable, self.it))
        return None

    def do_while(self, s: ir.While, k: RestOfBlock) -> Stop | None:
        self.done(k)
        self.k = self.context.continuation(LoopHead(self.frame, self.k, s, 0, None, self.it))
        return None

    def do_assert(self, s: ir.Assert, k: RestOfBlock) -> Stop | None:
        value = self.evaluate(s.test)
        undecided = isinstance(value, (Unknown, v.Phi))
        implied = self.implied(value) if isinstance(value, Unknown) else None
        if implied is not None:
            holds = implied
        elif undecided and not self.is_stopped(k.next, s.raised):
            holds = self.assume(value, True)
        else:
            holds = self.truth(value, s.site)
        if not holds:
            return self.do_raise(s, k)
        self.done(k)
        return None

    def do_define(self, s: ir.Define, k: RestOfBlock) -> Stop | None:
        self.context.frames[self.frame.scope] = self.frame
        self.set_name(s.function.name, v.func(s.function, self.frame.scope))
        self.done(k)
        return None

    def do_class(self, s: ir.DefineClass, k: RestOfBlock) -> Stop | None:
        self.set_name(s.cls.name, v.cls_value(s.cls))
        self.done(k)
        return None

    def do_import(self, s: ir.Import, k: RestOfBlock) -> Stop | None:
        module = self.frame.module
        for name, dotted, attr in s.bindings:
            if name == "*":
                continue
            value = self.imported(module, dotted, attr)
            self.set_name(name, value if value is not None else unknown("import", dotted, name))
        self.done(k)
        return None

    def do_delete(self, s: ir.Delete, k: RestOfBlock) -> Stop | None:
        self.done(k)
        return None

    # ---- quiet runs

    def run_quietly(self, enter: CallRequested) -> Value | None:
        """Run a function to its end; None if it meets a collective or an open question."""
        saved = (self.frame, self.it, self.results, self.inner, self.k, self.site)
        self.k = None
        self.enter(enter)
        try:
            result = self.run_until_empty(want_value=enter.key)
        finally:
            self.frame, self.it, self.results, self.inner, self.k, self.site = saved
        if result is None:
            return None
        return enter.value or result

    def run_until_empty(self, want_value: ResultKey) -> Value | None:
        for _ in range(QUIET_STEPS):
            k = self.k
            if k is None:
                return self.results.get(want_value)
            self.context.step()
            try:
                outcome = _CONTINUE[type(k)](self, k)
            except CallRequested as enter:
                self.enter(enter)
                continue
            except (CollectiveReached, Exit, PathPruned):
                return None
            if outcome is not None:
                return None
        return None

    def run_block_quietly(self, block: ir.Block) -> bool:
        """Run a block of plain statements to its end; False if it turns out not to be plain."""
        saved = (self.frame, self.it, self.results, self.inner, self.k, self.site)
        self.quiet += 1
        log, self.log = self.log, None
        try:
            self.results = {}
            self.k = self.push(block, 0, None)
            frame = self.frame
            for _ in range(QUIET_STEPS):
                k = self.k
                if k is None:
                    return self.frame is frame
                self.context.step()
                try:
                    outcome = _CONTINUE[type(k)](self, k)
                except CallRequested as enter:
                    value = self.run_quietly(enter)
                    if value is None:
                        return False
                    self.results[enter.key] = value
                    continue
                if outcome is not None:
                    return False
            return False
        except (BranchUndecided, CollectiveReached, Exit, PathPruned, RankDependent):
            return False
        finally:
            self.quiet -= 1
            self.log = log
            self.frame, self.it, self.results, self.inner, self.k, self.site = saved


_CONTINUE: dict[type[Continuation], Callable[[Machine, Any], Stop | None]] = {
    RestOfBlock: Machine.run_statement,
    ReturnToCaller: Machine.end_call,
    LoopHead: Machine.continue_loop,
    TryBlock: Machine.end_try,
    FinallyBlock: Machine.end_block,
    PendingCompletion: Machine.complete,
    WithBlock: Machine.leave_with,
    ResumeGenerator: Machine.end_generator_body,
    BeforeYield: Machine.end_without_yield,
    AfterYield: Machine.end_manager,
}
_EXECUTE: dict[type[ir.Stmt], Callable[[Machine, Any, RestOfBlock], Stop | None]] = {
    ir.Evaluate: Machine.do_evaluate,
    ir.Assign: Machine.do_assign,
    ir.AugAssign: Machine.do_augmented,
    ir.If: Machine.do_if,
    ir.For: Machine.do_for,
    ir.While: Machine.do_while,
    ir.Return: Machine.do_return,
    ir.Break: Machine.do_break,
    ir.Continue: Machine.do_continue,
    ir.Raise: Machine.do_raise,
    ir.Assert: Machine.do_assert,
    ir.Try: Machine.do_try,
    ir.With: Machine.do_with,
    ir.Define: Machine.do_define,
    ir.DefineClass: Machine.do_class,
    ir.Import: Machine.do_import,
    ir.Delete: Machine.do_delete,
}
