"""How one rank enters and leaves the body of a ``with``."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import bind_target
from distlint.analyzer.symbolic.attributes import attribute_of, instance_attribute
from distlint.analyzer.symbolic.call_relevance import skips
from distlint.analyzer.symbolic.collective_events import for_all
from distlint.analyzer.symbolic.continuations import (
    AbruptCompletion,
    AtExit,
    BeforeYield,
    CallExit,
    EndOfActivation,
    IssueCollective,
    LeaveJoin,
    LetOthersIn,
    PendingCompletion,
    RestOfBlock,
    RestoreGradients,
    ResumeGenerator,
    ResumeSync,
    WithBlock,
)
from distlint.analyzer.symbolic.execution_log import ManagerEntered
from distlint.analyzer.symbolic.framework_names import JOIN
from distlint.analyzer.symbolic.function_calls import activation, bind_arguments
from distlint.analyzer.symbolic.state import CollectiveReached, Stop
from distlint.analyzer.symbolic.unwinding import Unwinder
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const
from distlint.analyzer.symbolic.view import GRADIENTS, JOINED
from distlint.catalogue.entries import Entry, First, Gradients


class ContextManagers(Unwinder):
    """The part of a machine that runs context managers."""

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
        raise for_all(self, first.name, ("barrier",), s.site, key, note=when)

    def enter_manager(self, s: ir.With, k: RestOfBlock, value: Value) -> Stop | None:
        at_exit: AtExit | None = None
        bound = value
        if isinstance(value, v.Instance):
            enter = instance_attribute(self, value, "__enter__", s.site)
            if isinstance(enter, v.Func):
                bound = self.call_function(enter, [], {}, s.site, (s.site, "enter"))
            leave = instance_attribute(self, value, "__exit__", s.site)
            at_exit = CallExit(leave) if isinstance(leave, v.Func) else None
        elif isinstance(value, v.Obj) and self.catalogue.subclass_of(value.kind, JOIN):
            self.store[JOINED] = const(True)
            at_exit = LeaveJoin()
        elif isinstance(value, v.Obj):
            at_exit = self.enter_object(value, s)
        elif isinstance(value, v.Method) and isinstance(value.receiver, v.Obj):
            at_exit = self.enter_object_context(value, s)
        elif (
            isinstance(value, Unknown) and value.op == "method" and isinstance(value.args[0], v.Obj)
        ):
            at_exit = self.enter_object_context(v.method(value.args[0], str(value.args[1])), s)
        elif isinstance(value, Unknown) and value.op == "call" and isinstance(value.args[0], str):
            at_exit = self.enter_external(value, s)
        if s.target is not None:
            bind_target(self, s.target, bound)
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
        return self.enter_collective(entry, receiver, s)

    def enter_object(self, value: v.Obj, s: ir.With) -> AtExit | None:
        """Enter an object that is a context manager itself."""
        for name in ("__enter__", "__exit__"):
            entry = self.catalogue.member(value.kind, name)
            if entry is not None and entry.collective is not None:
                return self.enter_collective(entry, value, s)
        return None

    def enter_collective(self, entry: Entry, receiver: Value, s: ir.With) -> AtExit | None:
        """Enter a context that communicates when it is entered, when it is left, or both times."""
        assert entry.collective is not None
        form = entry.collective.form
        args: list[Value] = []
        keywords: dict[str, Value] = {}
        if isinstance(s.context, ir.Call):
            args, keywords = self.arguments(s.context)
        issue = IssueCollective(entry, receiver, tuple(args), tuple(keywords.items()))
        if form in {"enter", "around"} and (s.site, "enter") not in self.results:
            self.inner = ()
            self.collective_at(issue, s.site, "enter")
        return issue if form in {"exit", "around"} else None

    def enter_external(self, value: Unknown, s: ir.With) -> AtExit | None:
        """Enter the context that a function from outside the project has returned."""
        entry = self.catalogue.lookup(value.args[0])
        if entry is not None and entry.gradients is not None:
            return self.enter_gradient_mode(entry.gradients, value)
        row = entry.collective if entry is not None else None
        if entry is None or row is None or row.form not in {"enter", "exit", "around"}:
            return None
        receiver = next((each for each in value.args[1:] if isinstance(each, v.Obj)), const(None))
        return self.enter_collective(entry, receiver, s)

    def enter_gradient_mode(self, row: Gradients, value: Unknown) -> AtExit | None:
        """Record gradients in the block, or do not; where that is not known, it is as before."""
        enabled: Value = const(row.enabled)
        if row.enabled_by:
            enabled = value.args[1] if len(value.args) > 1 else value
        if not isinstance(enabled, Const):
            return None
        before = self.store.get(GRADIENTS)
        self.store[GRADIENTS] = const(bool(enabled.value))
        return RestoreGradients(before)

    def collective_at(self, issue: IssueCollective, site: int, when: str) -> None:
        args, keywords = list(issue.args), dict(issue.keywords)
        try:
            self.collective(issue.entry, args, keywords, None, site, issue.receiver)
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
        elif isinstance(at_exit, RestoreGradients):
            if at_exit.before is None:
                self.store.pop(GRADIENTS, None)
            else:
                self.store[GRADIENTS] = at_exit.before
        elif isinstance(at_exit, CallExit):
            given: Value = const(None)
            if isinstance(k.next, PendingCompletion) and k.next.completion.is_exception:
                given = v.obj("builtins.BaseException", self.number("raised", k.next.site))
            self.call_function(at_exit.method, [given] * 3, {}, k.site, key)
        elif key not in self.results:
            self.collective_at(at_exit, k.site, "exit")
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
            target = attribute_of(self, receiver, func.attr, func.site)
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
        depth = self.frame.depth + 1
        if skips(self, function, args, keywords) or not self.context.follows(function, depth):
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
        frame = activation(self, target, s.site)
        bind_arguments(self, frame, function, args, keywords)
        if self.log is not None:
            self.log.append(ManagerEntered(self.frame, s.site, frame))
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
            bind_target(self, statement.target, value)
        self.k = self.push(statement.body, 0, generator)
        return None

    def end_generator_body(self, k: ResumeGenerator) -> Stop | None:
        """The body of the with has ended: the generator goes on after its yield."""
        return self.enter_generator_rest(k, k.next)

    def end_without_yield(self, k: BeforeYield) -> Stop | None:
        """A generator that never yields cannot manage a context: RuntimeError."""
        return self.unwind(AbruptCompletion.RAISE, None, 0)
