"""How one rank leaves what it is in: jumps and exits, context managers, and what a try catches."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.calls import Calls, is_cached
from distlint.analyzer.symbolic.continuations import (
    AbruptCompletion,
    AtExit,
    BeforeYield,
    CallExit,
    Continuation,
    EndOfActivation,
    EndOfGenerator,
    FinallyBlock,
    IssueCollective,
    LeaveJoin,
    LetOthersIn,
    LoopHead,
    PendingCompletion,
    RestOfBlock,
    ResumeGenerator,
    ResumeSync,
    ReturnToCaller,
    TryBlock,
    WithBlock,
)
from distlint.analyzer.symbolic.execution_log import Decided, Exited, Jumped
from distlint.analyzer.symbolic.state import CollectiveReached, Event, Exit, Frame, Stop
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown
from distlint.analyzer.symbolic.view import IN_PROCESSES, JOINED, RETURNED, RISKY
from distlint.catalogue.entries import Entry, First


class Unwinder(Calls):
    """The part of a machine that says what is due when a block is left, and where it goes on."""

    # ---- what comes next

    def push(self, block: ir.Block, index: int, next_: Continuation | None) -> Continuation | None:
        if index >= len(block):
            return next_
        return self.context.continuation(RestOfBlock(self.frame, next_, block, index))

    def done(self, k: RestOfBlock) -> None:
        """The statement at ``k`` is finished."""
        block, index = k.block, k.index + 1
        self.results = {} if self.results else self.results
        self.k = (
            k.next
            if index >= len(block)
            else self.context.continuation(RestOfBlock(k.frame, k.next, block, index))
        )

    # ---- calls

    def end_call(self, k: ReturnToCaller, value: Value | None = None) -> Stop | None:
        """A function has run to its end."""
        function = self.frame.function
        if k is self.rejoin:
            self.rejoin = RETURNED
        self.forget_scope(self.frame)
        self.frame, self.it, self.inner = k.caller, k.it, ()
        self.results = dict(k.results)
        result = self.results[k.key] = k.value or value or const(None)
        if function is not None and function.decorators and is_cached(function):
            self.store[("once", function)] = result
        self.k = k.next
        return None

    def forget_scope(self, frame: Frame) -> None:
        """Drop the variables of a finished activation, but those that nested functions read."""
        if frame.function is not None:
            kept = self.context.abstraction.live_variables.captured(frame)
            for name in sorted(frame.function.locals - kept):
                self.store.pop((frame.scope, name), None)

    # ---- jumps and exits

    def do_return(self, s: ir.Return, k: RestOfBlock) -> Stop | None:
        value = self.evaluate(s.value) if s.value is not None else const(None)
        if self.fails_on_the_way(k, s.site, (ReturnToCaller,)):
            return None
        if self.log is not None:
            self.log.append(Jumped(self.frame, s.site, AbruptCompletion.RETURN))
        self.results = {}
        self.k = k.next
        return self.unwind(AbruptCompletion.RETURN, value, s.site)

    def do_break(self, s: ir.Break, k: RestOfBlock) -> Stop | None:
        if self.fails_on_the_way(k, s.site, (ReturnToCaller, LoopHead)):
            return None
        if self.log is not None:
            self.log.append(Jumped(self.frame, s.site, AbruptCompletion.BREAK))
        self.k = k.next
        return self.unwind(AbruptCompletion.BREAK, None, s.site)

    def do_continue(self, s: ir.Continue, k: RestOfBlock) -> Stop | None:
        if self.fails_on_the_way(k, s.site, (ReturnToCaller, LoopHead)):
            return None
        if self.log is not None:
            self.log.append(Jumped(self.frame, s.site, AbruptCompletion.CONTINUE))
        self.k = k.next
        return self.unwind(AbruptCompletion.CONTINUE, None, s.site)

    def do_raise(self, s: ir.Raise | ir.Assert, k: RestOfBlock) -> Stop | None:
        if not self.is_stopped(k, s.raised) and self.fails_on_the_way(k, s.site, ()):
            return None
        self.results = {}
        self.k = k.next
        return self.unwind(AbruptCompletion.RAISE, const(s.raised), s.site)

    def is_stopped(self, k: Continuation | None, raised: str = "") -> bool:
        """Does anything on the way out catch an exception, or communicate?"""
        while k is not None and not _begins_processes(k):
            if isinstance(k, TryBlock):
                handler = self.catching(k.statement, raised)
                if handler is not None and not self.context.aborts(handler.body):
                    return True
            elif isinstance(k, FinallyBlock):
                if self.context.meets(k.frame, k.block):
                    return True
            elif isinstance(k, WithBlock) and isinstance(k.at_exit, CallExit):
                return True
            k = k.rest if isinstance(k, ResumeGenerator) else k.next
        return False

    def leave_process(self, exit_: Exit) -> Stop | None:
        """End at once, or leave all blocks next."""
        if self.log is not None:
            self.log.append(Exited(self.frame, exit_.site, exit_.ok))
        if exit_.at_once:
            return Stop.END if exit_.ok else Stop.ABORT
        self.results = {}
        way = (AbruptCompletion.EXIT, const(exit_.ok), exit_.site)
        self.k = self.context.continuation(PendingCompletion(self.frame, self.k, *way))
        return None

    def unwind(self, completion: AbruptCompletion, value: Value | None, site: int) -> Stop | None:
        """Leave blocks until the target of a return, break, continue, raise or exit is found."""
        k = self.k
        while k is not None:
            if isinstance(k, FinallyBlock):
                pending = self.pending(k, completion, value, site)
                self.k = self.push(k.block, 0, pending)
                self.results = {}
                return None
            if isinstance(k, WithBlock):
                if not completion.is_exception or isinstance(k.at_exit, CallExit):
                    pending = self.pending(k, completion, value, site)
                    own = (k.at_exit, k.site)
                    self.k = leaving = self.context.continuation(WithBlock(k.frame, pending, *own))
                    return self.leave_with(leaving)
            elif isinstance(k, ResumeGenerator):
                if not completion.is_exception:
                    # the rest of the generator runs first
                    pending = self.pending(k, completion, value, site)
                    return self.enter_generator_rest(k, pending)
                # the exception comes out of the generator's yield
                self.frame, self.it = k.generator, k.it
                k = self.context.graft(k.rest, k.next)
                continue
            elif isinstance(k, LoopHead):
                if completion is AbruptCompletion.CONTINUE:
                    self.results = {}
                    self.k = k
                    return None
                self.context.loops_left.add(k.statement)
                if completion is AbruptCompletion.BREAK:
                    self.results = {}
                    self.it = k.outer
                    self.k = k.next
                    return None
            elif isinstance(k, ReturnToCaller):
                if not completion.is_exception:
                    self.k = k
                    return self.end_call(k, value)
                if _begins_processes(k):
                    break
                self.frame, self.it = k.caller, k.it
                if k.next is not None and _is_exit(k, k.next):
                    k = k.next  # the block is left already
            elif isinstance(k, EndOfGenerator):
                if isinstance(k, BeforeYield) and completion is AbruptCompletion.RETURN:
                    completion, value = AbruptCompletion.RAISE, None
                if not completion.is_exception:
                    self.k = k
                    return self.end_manager(k)
                self.frame, self.it = k.caller, k.it
            elif isinstance(k, TryBlock) and completion.is_exception:
                is_raised = completion is AbruptCompletion.RAISE
                handler = self.catching(k.statement, _name_of(value) if is_raised else "SystemExit")
                if handler is not None:
                    self.frame = k.frame or self.frame
                    self.handle(k, handler)
                    return None
            k = k.next
        if completion is AbruptCompletion.RAISE or (
            completion is AbruptCompletion.EXIT and value == const(False)
        ):
            return Stop.ABORT
        self.k = None
        return Stop.END

    def pending(
        self, k: Continuation, completion: AbruptCompletion, value: Value | None, site: int
    ) -> PendingCompletion:
        """What goes on with leaving blocks after what ``k`` has to run."""
        return self.context.continuation(
            PendingCompletion(k.frame, k.next, completion, value, site)
        )

    def complete(self, k: PendingCompletion) -> Stop | None:
        """What had to run on the way out has ended."""
        self.k = k.next
        return self.unwind(k.completion, k.value, k.site)

    def end_block(self, k: FinallyBlock) -> Stop | None:
        """A ``finally`` is due on the way out of a try that ended well."""
        self.k = self.push(k.block, 0, k.next)
        return None

    # ---- with

    def do_with(self, s: ir.With, k: RestOfBlock) -> Stop | None:
        if ir.is_to_fail(s):
            self.done(k)
            return None
        first = self.first_region(s)
        if first is not None:
            return self.enter_first(s, k, first)
        manager = self.generator_manager(s)
        if manager is not None:
            return self.enter_generator(s, k, *manager)
        value = self.resolve(self.evaluate(s.context))
        return self.enter_manager(s, k, value)

    def first_region(self, s: ir.With) -> First | None:
        """The catalogue's word on a context manager that lets one rank go first."""
        if not isinstance(s.context, ir.Call):
            return None
        func = s.context.func
        entry = None
        if isinstance(func, ir.Attribute):
            receiver = self.resolve(self.evaluate(func.value))
            if isinstance(receiver, v.Obj):
                entry = self.catalogue.member(receiver.kind, func.attr)
            elif isinstance(receiver, v.External):
                entry = self.catalogue.lookup(f"{receiver.name}.{func.attr}")
        elif isinstance(func, ir.Name):
            target = self.evaluate(func)
            if isinstance(target, v.External):
                entry = self.catalogue.lookup(target.name)
        return entry.first if entry is not None else None

    def enter_first(self, s: ir.With, k: RestOfBlock, first: First) -> Stop | None:
        scope = "local" if first.who.startswith("local") else "global"
        if first.barrier and not self.is_stopped(k) and self.context.is_alike(self.frame, s.body):
            # it comes to the same when they wait for each other and go in together
            self.region_barrier(s, first, "enter")
            self.done(k)
            self.k = self.push(s.body, 0, self.k)
            return None
        mine = self.cluster.coordinates(scope)[self.rank] == 0
        self.context.refine(tuple(n == 0 for n in self.cluster.coordinates(scope)))
        if not mine and first.barrier:
            self.region_barrier(s, first, "enter")
        self.done(k)
        leave = self.context.continuation(
            WithBlock(self.frame, self.k, LetOthersIn(first, mine, s), s.site)
        )
        self.k = self.push(s.body, 0, leave)
        return None

    def region_barrier(self, s: ir.With, first: First, when: str) -> None:
        key = (s.site, when)
        if key in self.results:
            return
        raise self.for_all(first.name, ("barrier",), s.site, key, note=when)

    def enter_manager(self, s: ir.With, k: RestOfBlock, value: Value) -> Stop | None:
        at_exit: AtExit | None = None
        bound = value
        if isinstance(value, v.Instance):
            enter = self.instance_attribute(value, "__enter__", s.site)
            if isinstance(enter, v.Func):
                bound = self.call_function(enter, [], {}, s.site, (s.site, "enter"))
            leave = self.instance_attribute(value, "__exit__", s.site)
            at_exit = CallExit(leave) if isinstance(leave, v.Func) else None
        elif isinstance(value, v.Obj) and self.catalogue.subclass_of(
            value.kind, "torch.distributed.algorithms.Join"
        ):
            self.store[JOINED] = const(True)
            at_exit = LeaveJoin()
        elif isinstance(value, v.Method) and isinstance(value.receiver, v.Obj):
            at_exit = self.enter_object_context(value, s)
        elif (
            isinstance(value, Unknown) and value.op == "method" and isinstance(value.args[0], v.Obj)
        ):
            at_exit = self.enter_object_context(v.method(value.args[0], str(value.args[1])), s)
        elif isinstance(value, Unknown) and value.op == "call" and isinstance(value.args[0], str):
            at_exit = self.enter_external(value, s)
        if s.target is not None:
            self.bind_target(s.target, bound)
        self.done(k)
        if at_exit is not None:
            self.k = self.context.continuation(WithBlock(self.frame, self.k, at_exit, s.site))
        self.k = self.push(s.body, 0, self.k)
        return None

    def enter_object_context(self, value: v.Method, s: ir.With) -> AtExit | None:
        receiver = value.receiver
        assert isinstance(receiver, v.Obj)
        entry = self.catalogue.member(receiver.kind, value.name)
        if entry is not None and entry.collective is not None and entry.collective.kind == "join":
            self.store[JOINED] = const(True)
            return LeaveJoin()
        if value.name == "no_sync":
            self.store[("nosync", receiver.oid)] = const(True)
            return ResumeSync(receiver.oid)
        if entry is None or entry.collective is None:
            return None
        form = entry.collective.form
        if form in {"enter", "around"} and (s.site, "enter") not in self.results:
            self.inner = ()
            self.collective_at(entry, receiver, s.site, "enter")
        return IssueCollective(entry, receiver) if form in {"exit", "around"} else None

    def enter_external(self, value: Unknown, s: ir.With) -> AtExit | None:
        """Enter the context that a function from outside the project has returned."""
        entry = self.catalogue.lookup(value.args[0])
        row = entry.collective if entry is not None else None
        if entry is None or row is None or row.form not in {"enter", "exit", "around"}:
            return None
        receiver = next((each for each in value.args[1:] if isinstance(each, v.Obj)), const(None))
        if row.form != "exit" and (s.site, "enter") not in self.results:
            self.inner = ()
            self.collective_at(entry, receiver, s.site, "enter")
        return IssueCollective(entry, receiver) if row.form != "enter" else None

    def collective_at(self, entry: Entry, receiver: Value, site: int, when: str) -> None:
        try:
            self.collective(entry, [], {}, None, site, receiver)
        except CollectiveReached as emit:
            emit.event.result_key = (site, when)
            raise

    def leave_with(self, k: WithBlock) -> Stop | None:
        """The body of a with has ended; the manager's exit runs."""
        at_exit, key = k.at_exit, (k.site, "exit")
        if isinstance(at_exit, LetOthersIn):
            if at_exit.is_first and at_exit.first.barrier:
                self.region_barrier(at_exit.statement, at_exit.first, "exit")
        elif isinstance(at_exit, LeaveJoin):
            self.store.pop(JOINED, None)
        elif isinstance(at_exit, ResumeSync):
            self.store.pop(("nosync", at_exit.oid), None)
        elif isinstance(at_exit, CallExit):
            given: Value = const(None)
            if isinstance(k.next, PendingCompletion) and k.next.completion.is_exception:
                given = v.obj("builtins.BaseException", self.number("raised", k.next.site))
            self.call_function(at_exit.method, [given] * 3, {}, k.site, key)
        elif key not in self.results:
            self.collective_at(at_exit.entry, at_exit.receiver, k.site, "exit")
        self.results = {}
        self.k = k.next
        return None

    # ---- context managers that are generators

    def generator_manager(self, s: ir.With) -> tuple[v.Func, list[Value], dict[str, Value]] | None:
        """A project function with a yield that is used as a context manager, and its arguments."""
        if not isinstance(s.context, ir.Call):
            return None
        func = s.context.func
        if isinstance(func, ir.Attribute):
            receiver = self.resolve(self.evaluate(func.value))
            if isinstance(receiver, (v.Obj, v.Seq, v.Map, Const, v.PerRank, Unknown)):
                return None
            target = self.attribute(receiver, func.attr, func.site)
        elif isinstance(func, ir.Name):
            target = self.evaluate(func)
        else:
            return None
        target = self.resolve(target)
        if not isinstance(target, v.Func) or not target.function.generator:
            return None
        args, keywords = self.arguments(s.context)
        if target.bound is not None:
            args = [target.bound, *args]
        function = target.function
        given = (*args, *keywords.values())
        if self.skips(function, given) or not self.context.follows(function, self.frame.depth + 1):
            return None
        return target, args, keywords

    def enter_generator(
        self,
        s: ir.With,
        k: RestOfBlock,
        target: v.Func,
        args: list[Value],
        keywords: dict[str, Value],
    ) -> Stop | None:
        function = target.function
        self.context.enter(function)
        frame = self.activation(target, s.site)
        self.bind_arguments(frame, function, args, keywords)
        self.done(k)
        back = BeforeYield(self.frame, self.k, caller=self.frame, it=self.it, statement=s)
        self.frame, self.it = frame, ()
        self.k = self.push(function.body, 0, self.context.continuation(back))
        return None

    def do_yield(self, node: ir.Yield, k: RestOfBlock) -> Stop | None:
        """``yield`` in the generator after a with statement: the body runs here."""
        below = k.next
        while below is not None and not isinstance(below, EndOfActivation):
            below = below.next
        if node.value is not None:
            value = self.evaluate(node.value)
        else:
            value = const(None)
        self.done(k)
        if not isinstance(below, BeforeYield):
            return None
        statement, caller = below.statement, below.caller
        rest = self.context.graft(self.k, below.next)
        back = ResumeGenerator(caller, below.next, rest=rest, generator=self.frame, it=self.it)
        generator = self.context.continuation(back)
        self.frame, self.it = caller, below.it
        if statement.target is not None:
            self.bind_target(statement.target, value)
        self.k = self.push(statement.body, 0, generator)
        return None

    def end_generator_body(self, k: ResumeGenerator) -> Stop | None:
        """The body of the with has ended: the generator goes on after its yield."""
        return self.enter_generator_rest(k, k.next)

    def enter_generator_rest(self, k: ResumeGenerator, after: Continuation | None) -> Stop | None:
        self.k = self.context.graft(k.rest, after)
        self.frame, self.it, self.results = k.generator, k.it, {}
        return None

    def end_without_yield(self, k: BeforeYield) -> Stop | None:
        """A generator that never yields cannot manage a context: RuntimeError."""
        return self.unwind(AbruptCompletion.RAISE, None, 0)

    def end_manager(self, k: EndOfGenerator) -> Stop | None:
        """The generator has run to its end: back to the function with the with statement."""
        self.frame, self.it, self.results = k.caller, k.it, {}
        self.k = k.next
        return None

    # ---- try

    def do_try(self, s: ir.Try, k: RestOfBlock) -> Stop | None:
        self.done(k)
        was_risky = self.store.pop(RISKY, None) is not None
        if s.final:
            self.k = self.context.continuation(FinallyBlock(self.frame, self.k, s.final))
        self.k = self.push(s.orelse, 0, self.k)
        body = TryBlock(self.frame, self.k, s, self.it, was_risky)
        self.k = self.context.continuation(body)
        if ir.is_to_fail(s):
            return self.unwind(AbruptCompletion.RAISE, const(""), s.site)
        self.k = self.push(s.body, 0, self.k)
        return None

    def end_try(self, k: TryBlock) -> Stop | None:
        """The body of a try has come to its end: or has its last statement failed?"""
        handler = self.swallowing(k)
        if handler is not None and RISKY in self.store and self.failed(k, "end", handler):
            self.handle(k, handler)
            return None
        if k.was_risky:
            self.store[RISKY] = const(True)  # what came before may have failed for a try around
        self.k = k.next
        return None

    def swallowing(self, k: TryBlock) -> ir.Handler | None:
        """The handler of a try after which something is still done by a rank that has failed."""
        if self.reading or _is_probe(k.frame):
            return None
        for handler in k.statement.handlers:
            if self.context.always_aborts(handler.body) and not self.is_stopped(k.next):
                continue
            if not handler.is_for_all:
                return handler
        return None

    def catching(self, s: ir.Try, raised: str) -> ir.Handler | None:
        """The handler that takes an exception raised by the program itself."""
        return next((handler for handler in s.handlers if handler.catches(raised)), None)

    def failed(self, k: TryBlock, where: object, handler: ir.Handler) -> bool:
        """Has something in the body of the try at ``k`` raised on this rank alone?"""
        frame = k.frame or self.frame
        atom = unknown(
            "exception",
            k.statement.site,
            frame.module.key,
            str(where),
            self.frame.scope,
            self.it,
            local=True,
            fresh=True,
        )
        outcome = self.decide(atom)
        self.store.pop(RISKY, None)
        if self.log is not None:
            self.log.append(Decided(frame, handler.site, atom, outcome, self.it))
        return outcome

    def fails_before(self, event: Event) -> bool:
        """May a rank have failed on the way to this collective, inside a try that swallows it?"""
        return self.fails_on_the_way(self.k, event.site, ())

    def fails_on_the_way(
        self, k: Continuation | None, site: int, ends: tuple[type[Continuation], ...]
    ) -> bool:
        """May a rank have failed before it gets here, inside a try that swallows it?"""
        risky = RISKY in self.store
        while k is not None and not isinstance(k, ends) and not _begins_processes(k):
            if isinstance(k, TryBlock):
                handler = self.swallowing(k) if risky else None
                if handler is not None:
                    if not self.failed(k, ("before", site), handler):
                        return False
                    self.frame = k.frame or self.frame
                    self.handle(k, handler)
                    return True
                risky = risky or k.was_risky
            k = k.next
        return False

    def handle(self, k: TryBlock, handler: ir.Handler) -> None:
        """Go on in a handler of the try at ``k``."""
        after = k.next
        if k.statement.orelse and after is not None:
            after = after.next  # the else block is skipped
        self.frame = k.frame or self.frame
        self.it = k.it
        self.results, self.inner = {}, ()
        if handler.name:
            self.set_name(handler.name, unknown("caught", handler.site, local=True, fresh=True))
        self.k = self.push(handler.body, 0, after)


def _is_exit(k: ReturnToCaller, block: Continuation) -> bool:
    """Is it the call of ``__exit__`` with which a block is left?"""
    return isinstance(block, WithBlock) and k.key == (block.site, "exit")


def _begins_processes(k: Continuation) -> bool:
    return isinstance(k, ReturnToCaller) and bool(k.key[-1] == IN_PROCESSES)


def _is_probe(frame: Frame | None) -> bool:
    """``is_tpu_available``: what the installation has, it has for all ranks or for none."""
    name = frame.function.name if frame is not None and frame.function is not None else ""
    return any(word in name for word in ("available", "installed", "support"))


def _name_of(value: Value | None) -> str:
    return str(value.value) if isinstance(value, Const) else ""
