"""One rank's projection of the program: runs statements until the next collective."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.static.slicing import PASS_RISKY, RUN
from distlint.analyzer.symbolic import counts
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.builtins import items_with
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
from distlint.analyzer.symbolic.state import (
    BranchUndecided,
    CallRequested,
    CollectiveReached,
    Event,
    Exit,
    Frame,
    Journal,
    Key,
    Known,
    PathPruned,
    Place,
    RankDependent,
    ResultKey,
    State,
    Stop,
)
from distlint.analyzer.symbolic.unwinding import Unwinder
from distlint.analyzer.symbolic.values import Unknown, Value, const, unknown
from distlint.analyzer.symbolic.view import RETURNED

Variables = dict[Key, "Value | None"]

QUIET_STEPS = 400
"""Statements that a branch without collectives may take when both arms are run to be merged."""


class Machine(Unwinder):
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

    def place(self, event: Event) -> Place:
        """What tells this collective from all others on the path of a rank."""
        return (event.result_key, event.module, event.frame.scope, self.it)

    def resume(self, event: Event, place: Place) -> None:
        """Go on after a collective has been matched; ``place`` names it on all ranks."""
        value = event.value if event.value is not None else const(None)
        if event.result == "uniform":
            value = unknown("sync", place, fresh=True)
            self.note_told(event, value)
        elif event.result == "uniform_in_place" and event.result_target is not None:
            self.synchronise(event, place)
        elif event.result == "root_only":
            value = unknown("partial", place, local=True, fresh=True)
            if event.result_target is not None and not self.is_none(event.result_target):
                self.assign_place(event.result_target, value)
        elif event.result == "local" and event.value is None:
            value = unknown("result", place, local=True, fresh=True)
        elif isinstance(value, v.Group) and value.kind == "ranks":
            # one group, from wherever each rank has made it
            value = v.group("ranks", value.detail, self.number("group", place))
        self.results[event.result_key] = value
        if event.kind == "forward":
            self.may_fail(event.site)
        if event.once is not None:
            self.store[event.once] = const(event.once_until)

    def is_none(self, target: ir.Expr) -> bool:
        """Has a rank that gets nothing given no list to be filled?"""
        return isinstance(target, ir.Name) and self.evaluate(target) == const(None)

    def synchronise(self, event: Event, place: Place) -> None:
        """The buffer of the collective holds the same on all ranks from here on."""
        assert event.result_target is not None
        payload = event.payload_value
        fresh: Value = unknown("sync", place, fresh=True)
        if isinstance(payload, (Unknown, v.Phi)) and payload.local:
            # every name of the buffer, in this function and in its callers
            self.replace({payload: fresh})
        for owner in _whose_buffer(payload):
            self.synchronise_buffers(owner, place)
        if isinstance(payload, v.Seq) and event.payload is event.result_target:
            items = [
                unknown("sync", place, index, fresh=True) for index in range(len(payload.items))
            ]
            fresh = v.seq(payload.kind, items)
            if event.kind == "broadcast":
                self.replace(dict(zip(payload.items, items, strict=True)))
        self.note_told(event, fresh)
        self.assign_place(event.result_target, fresh)
        self.assign_in_callers(event.result_target, fresh)

    def synchronise_buffers(self, owner: v.Instance, place: Place) -> None:
        """One of ``self.buffers()`` is the same on all ranks: a loop passes over all of them."""
        for name in self.context.buffers_of(owner.cls):
            value = self.store.get((owner.oid, name))
            if value is not None and value.local:
                self.store[owner.oid, name] = unknown("sync", place, name, fresh=True)

    def note_told(self, event: Event, value: Value) -> None:
        """Note who has sent what all ranks hold from here on."""
        if event.kind == "broadcast" and event.root is not None:
            for atom in value.atoms:
                self.context.told[atom] = (event.root, event.members)

    def assign_in_callers(self, target: ir.Expr, value: Value) -> None:
        """A buffer that came in as an argument is the caller's variable, too."""
        for item, each in items_with(target, value):
            self.assign_in_callers(item, each)
        frame, it, k = self.frame, self.it, self.k
        try:
            while isinstance(target, ir.Name) and self.frame.function is not None:
                while k is not None and not isinstance(k, ReturnToCaller):
                    k = k.next
                if k is None or not isinstance(k.next, RestOfBlock):
                    return
                argument = _argument_for(self.frame.function, target.id, k.next.statement, k.site)
                if argument is None:
                    return
                self.frame, self.it = k.caller, k.it
                self.assign_place(argument, value)
                target, k = argument, k.next
        finally:
            self.frame, self.it = frame, it

    def replace(self, replacement: Mapping[Value, Value]) -> None:
        """What the source of a broadcast sent is now known to all under a new name."""
        telling: dict[Value, Value] = {
            old: new
            for old, new in replacement.items()
            if isinstance(old, (Unknown, v.Phi)) and old.local
        }
        for key, value in list(self.store.items()):
            new = telling.get(value)
            if new is not None:
                self.store[key] = new

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

    def then(self, k: RestOfBlock, block: ir.Block) -> None:
        """Run a block in place of the statement at ``k``."""
        self.done(k)
        self.k = self.push(block, 0, self.k)

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
            most = LOOP_BOUND + self.counts_on(statement, outer)
            more = index < most and self.has_turn(statement, index, iterable, outer)
        if not more:
            if index:
                self.leave_last_item(statement.target)
            self.it = outer
            self.results = {}
            self.k = self.push(statement.orelse, 0, k.next)
            return None
        self.it = (*outer, index)
        if exact is None and index == 1:
            self.widen_counts(statement, outer)
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

    def widen_counts(self, loop: ir.For | ir.While, outer: tuple[int, ...]) -> None:
        """Take what each rank has counted for itself in the first iteration for any number."""
        where = (loop.site, self.frame.scope, outer)
        alike, begun = [], self.begun.get(where)
        heads = [] if begun is None else [begun]
        if self.log is None:
            alike = self.context.loops.begun(None, loop, self.frame, outer)
            heads = alike or self.context.loops.begun(self.side, loop, self.frame, outer)
        found = dict(counts.widened(self, where, heads, alike=bool(alike)))
        if self.log is not None:
            found.update(counts.assumed(self, where))
        if found:
            self.context.loops.counted.add(where)
        self.store.update(found)

    def counts_on(self, loop: ir.For | ir.While, outer: tuple[int, ...]) -> bool:
        """May this rank go on where another has left, by what each has counted for itself?

        The second iteration is the first in which a count is any number, so that the rank that
        stays needs a third one.
        """
        if self.one is None or self.level is not None or self.quiet:
            return False
        return (loop.site, self.frame.scope, outer) in self.context.loops.counted

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
        if index >= LOOP_BOUND + self.extra_turns(statement) + self.counts_on(statement, outer):
            if k.next is not None:
                self.context.loops_cut.add(statement)
            raise PathPruned
        if index == 0:
            self.note_begin(statement, outer)
        elif self.log is None and not self.quiet and self.one is None:
            if self.is_undecided(statement.test) and self.repeated(statement, outer) is not None:
                raise PathPruned
        if index == 1:
            self.widen_counts(statement, outer)
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

    def drops_arm(self, s: ir.If, value: Value, k: RestOfBlock) -> bool:
        """An undecided branch into an abort matches anything: only the other arm is of interest."""
        for arm, other, outcome in ((s.body, s.orelse, False), (s.orelse, s.body, True)):
            if not self.context.is_left_by_error_alone(arm):
                continue
            if self.is_stopped(k, _raised_by(arm)):
                continue
            if self.context.meets(self.frame, arm):
                continue
            if self.assume(value, outcome):
                self.then(k, other)
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
        return [given] if self._truth(value) is outcome else []

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
        self.write(self.joined(value, _those(then, written), _those(orelse, written)))
        self.done(k)
        return True

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

    def joined(self, test: Value, then: Variables, orelse: Variables) -> Variables:
        """What a branch leaves in the variables that its arms have written; None is deleted."""
        merged: Variables = {}
        for key, left in then.items():
            right = orelse[key]
            if left is not right:
                unset = self.store.get(key) or unknown(v.UNSET, str(key[1]))
                left = self.select(test, left or unset, right or unset)
            merged[key] = left
        return merged

    def write(self, variables: Variables) -> None:
        for key, value in variables.items():
            if value is None:
                self.store.pop(key, None)
            else:
                self.store[key] = value

    def select(self, test: Value, then: Value, orelse: Value) -> Value:
        """``then`` where the condition holds, else ``orelse``."""
        if isinstance(test, v.Phi):
            thens, orelses = v.where(test.test, then, then), v.where(test.test, orelse, orelse)
            ways = map(self.select, (test.then, test.orelse), thens, orelses)
            return v.phi(test.test, *ways)
        if isinstance(test, Unknown):
            if test.op == "not":
                return v.joined(test.args[0], orelse, then)
            return v.joined(test, then, orelse)
        return then if self._truth(test) else orelse

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

    def merge_turns(self, s: ir.For, iterable: Value, k: RestOfBlock) -> bool:
        """Run a loop of unknown length that only assigns, and join what each count leaves."""
        if not (self.joins and self.context.mergeable(s)):
            return False
        if self.exact_items(iterable) is not None:
            return False
        atoms = [self.trip_atom(iterable, index) for index in range(LOOP_BOUND)]
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
                self.bind_target(s.target, self.loop_item(iterable, index, self.turns()))
                store = self.store_after(s.body)
                if store is None:
                    self.context.unmergeable(s)
                    return False
                after.append(store)
                written |= {**turn.written, **store.written}
        finally:
            self.it, self.store = outer, before
        *earlier, last = (_those(turned, written) for turned in after)
        joined = last
        for atom, fewer in zip(reversed(atoms), reversed(earlier), strict=True):
            joined = self.joined(atom, joined, fewer)
        self.write(joined)
        self.then(k, s.orelse)
        return True

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


def _raised_by(arm: ir.Block) -> str:
    """What a branch into an abort raises."""
    last = arm[-1]
    return last.raised if isinstance(last, ir.Raise) else "SystemExit"


def _those(store: dict[Key, Value], keys: Iterable[Key]) -> Variables:
    """Some variables of a store; None where they are unset."""
    return {key: store.get(key) for key in keys}


def _whose_buffer(payload: Value | None) -> Iterator[v.Instance]:
    """The modules of which a value is one of the buffers: ``for each in self.buffers()``."""
    for atom in payload.atoms if isinstance(payload, Unknown) else ():
        if atom.op == "call" and isinstance(atom.args[0], Unknown):
            owner, *name = atom.args[0].args
            if name == ["buffers"] and isinstance(owner, v.Instance):
                yield owner


def _argument_for(
    function: ir.Function, name: str, statement: ir.Stmt, site: int
) -> ir.Expr | None:
    """What the call at a site in a statement passes for a parameter."""
    names = [param.name for param in function.params]
    if name not in names:
        return None
    stack: list[Any] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call) and node.site == site:
            # ``self`` is not among the arguments
            position = names.index(name) - (len(names) > 0 and bool(function.owner))
            for place, argument in enumerate(node.args):
                if argument.keyword == name or (place == position and not argument.keyword):
                    return None if argument.star else argument.value
            return None
        stack.extend(ir.children(node))
    return None


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
