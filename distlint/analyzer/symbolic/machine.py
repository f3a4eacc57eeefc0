"""One rank's projection of the program: runs statements until the next collective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.static.slicing import PASS_RISKY, RUN
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import bind_target, set_name
from distlint.analyzer.symbolic.conditions import holds, note_test
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
from distlint.analyzer.symbolic.execution_log import Assigned, Called, Executed
from distlint.analyzer.symbolic.iterations import Iterations
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

QUIET_STEPS = 400
"""Statements that a branch without collectives may take when both arms are run to be merged."""


class Machine(Iterations):
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
        if self.log is not None:
            is_exit = enter.key[1:] == ("exit",)
            self.log.append(Called(self.frame, enter.key[0], enter.frame, self.it, is_exit))
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
        if self.log is not None:
            self.log.append(Executed(self.frame, statement.site, self.it))
        return _EXECUTE[type(statement)](self, statement, k)

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
            bind_target(self, target, value)
        self.done(k)
        return None

    def do_augmented(self, s: ir.AugAssign, k: RestOfBlock) -> Stop | None:
        value = v.binary(s.op, self.evaluate(s.target), self.evaluate(s.value), self.cluster)
        if self.log is not None:
            self.log.append(Assigned(self.frame, s.site, s.target, value))
        bind_target(self, s.target, value)
        self.done(k)
        return None

    def do_if(self, s: ir.If, k: RestOfBlock) -> Stop | None:
        test = s.test
        if not isinstance(test, (ir.BoolOp, ir.Not)):
            value = self.evaluate(test)
            if isinstance(value, (Unknown, v.Phi)):
                if self.drops_arm(s, value, k) or self.merge(s, value, k):
                    return None
                self.take_arm(s, k, self.truth(value, s.site))
                return None
            self.note_arms(s, value)
            note_test(self, test, value)
            outcome = self.truth(value, s.site)
        else:
            value = self.evaluate(test)
            self.note_arms(s, value)
            if isinstance(value, (Unknown, v.Phi)) and (
                self.drops_arm(s, value, k) or self.merge(s, value, k)
            ):
                return None
            outcome = holds(self, test, s.site)
        self.take_arm(s, k, outcome)
        return None

    def note_arms(self, s: ir.If, value: Value) -> None:
        """Note that only some ranks run an arm, where a test of the rank decides, or begins to."""
        test = s.test
        first = self.evaluate(test.values[0]) if isinstance(test, ir.BoolOp) else value
        if v.is_ranked(value) or v.is_ranked(first):
            self.context.arms_by_rank.update((id(s.body), id(s.orelse)))

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
        set_name(self, s.function.name, v.func(s.function, self.frame.scope))
        self.done(k)
        return None

    def do_class(self, s: ir.DefineClass, k: RestOfBlock) -> Stop | None:
        set_name(self, s.cls.name, v.cls_value(s.cls))
        self.done(k)
        return None

    def do_import(self, s: ir.Import, k: RestOfBlock) -> Stop | None:
        module = self.frame.module
        for name, dotted, attr in s.bindings:
            if name == "*":
                continue
            value = self.imported(module, dotted, attr)
            set_name(self, name, value if value is not None else unknown("import", dotted, name))
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
