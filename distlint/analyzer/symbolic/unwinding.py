"""How one rank leaves what it is in: jumps and exits, context managers, and what a try catches."""

from __future__ import annotations

from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.calls import Calls, is_cached
from distlint.analyzer.symbolic.state import CollectiveReached, Continuation, Event, Exit, Frame
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown
from distlint.analyzer.symbolic.view import IN_PROCESSES, JOINED, RETURNED, RISKY

END = "end"
ABORT = "abort"
_RAISED = frozenset({"raise", "exit"})


class Unwinder(Calls):
    """The part of a machine that says what is due when a block is left, and where it goes on."""

    # ---- what comes next

    def push(self, block: ir.Block, index: int, next_: Continuation | None) -> Continuation | None:
        if index >= len(block):
            return next_
        return self.context.continuation("seq", (block, index), self.frame, next_)

    def done(self, k: Continuation) -> None:
        """The statement at ``k`` is finished."""
        block, index = k.data
        self.results = {} if self.results else self.results
        self.k = (
            k.next
            if index + 1 >= len(block)
            else self.context.continuation("seq", (block, index + 1), k.frame, k.next)
        )

    # ---- calls

    def end_call(self, k: Continuation, value: Value | None = None) -> str | None:
        """A function has run to its end."""
        frame, it, results, key, replacement, _ = k.data
        function = self.frame.function
        if k is self.rejoin:
            self.rejoin = RETURNED
        self.forget_scope(self.frame)
        self.frame, self.it, self.inner = frame, it, ()
        self.results = dict(results)
        result = self.results[key] = replacement or value or const(None)
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

    def do_return(self, s: ir.Return, k: Continuation) -> str | None:
        value = self.evaluate(s.value) if s.value is not None else const(None)
        if self.fails_on_the_way(k, s.site, ("call",)):
            return None
        if self.log is not None:
            self.log.append(("jump", self.frame, s.site, "return"))
        self.results = {}
        self.k = k.next
        return self.unwind("return", value, s.site)

    def do_break(self, s: ir.Break, k: Continuation) -> str | None:
        if self.fails_on_the_way(k, s.site, ("call", "loop")):
            return None
        if self.log is not None:
            self.log.append(("jump", self.frame, s.site, "break"))
        self.k = k.next
        return self.unwind("break", None, s.site)

    def do_continue(self, s: ir.Continue, k: Continuation) -> str | None:
        if self.fails_on_the_way(k, s.site, ("call", "loop")):
            return None
        if self.log is not None:
            self.log.append(("jump", self.frame, s.site, "continue"))
        self.k = k.next
        return self.unwind("continue", None, s.site)

    def do_raise(self, s: ir.Raise | ir.Assert, k: Continuation) -> str | None:
        if not self.is_stopped(k, s.raised) and self.fails_on_the_way(k, s.site, ()):
            return None
        self.results = {}
        self.k = k.next
        return self.unwind("raise", const(s.raised), s.site)

    def is_stopped(self, k: Continuation | None, raised: str = "") -> bool:
        """Does anything on the way out catch an exception, or communicate?"""
        while k is not None and not _begins_processes(k):
            if k.kind == "try":
                handler = self.catching(k.data[0], raised)
                if handler is not None and not self.context.aborts(handler.body):
                    return True
            elif (k.kind == "final" and self.context.meets(k.frame, k.data[0])) or (
                k.kind == "with" and k.data[0][0] == "call"
            ):
                return True
            k = k.data[0] if k.kind == "generator" else k.next
        return False

    def leave_process(self, exit_: Exit) -> str | None:
        """End at once, or leave all blocks next."""
        if self.log is not None:
            self.log.append(("exit", self.frame, exit_.site, exit_.ok))
        if exit_.at_once:
            return END if exit_.ok else ABORT
        self.results = {}
        way = ("exit", const(exit_.ok), exit_.site)
        self.k = self.context.continuation("exit", way, self.frame, self.k)
        return None

    def unwind(self, kind: str, value: Value | None, site: int) -> str | None:
        """Leave blocks until the target of a return, break, continue, raise or exit is found."""
        k = self.k
        while k is not None:
            if k.kind == "final":
                pending = self.context.continuation("exit", (kind, value, site), k.frame, k.next)
                self.k = self.push(k.data[0], 0, pending)
                self.results = {}
                return None
            if k.kind == "with" and (kind not in _RAISED or k.data[0][0] == "call"):
                pending = self.context.continuation("exit", (kind, value, site), k.frame, k.next)
                self.k = self.context.continuation("with", k.data, k.frame, pending)
                return self.leave_with(self.k)
            if k.kind == "generator" and kind in _RAISED:
                # the exception comes out of the generator's yield
                generator, self.frame, self.it = k.data
                k = self.context.graft(generator, k.next)
                continue
            if k.kind == "generator":
                # the rest of the generator runs first
                pending = self.context.continuation("exit", (kind, value, site), k.frame, k.next)
                return self.enter_generator_rest(k, pending)
            if k.kind == "loop" and kind != "continue":
                self.context.loops_left.add(k.data[0])
            if k.kind == "loop" and kind in {"break", "continue"}:
                self.results = {}
                if kind == "continue":
                    self.k = k
                else:
                    self.it = k.data[3]
                    self.k = k.next
                return None
            if k.kind == "call":
                if kind in _RAISED:
                    if _begins_processes(k):
                        break
                    self.frame, self.it = k.data[0], k.data[1]
                    if k.next is not None and _is_exit(k, k.next):
                        k = k.next  # the block is left already
                else:
                    self.k = k
                    return self.end_call(k, value)
            if k.kind == "manager" and kind == "return":
                kind, value = "raise", None
            if k.kind in {"manager", "yielded"}:
                if kind in _RAISED:
                    self.frame, self.it = k.data[1], k.data[2]
                else:
                    self.k = k
                    return self.end_manager(k)
            if k.kind == "try" and kind in _RAISED:
                raised = _name_of(value) if kind == "raise" else "SystemExit"
                handler = self.catching(k.data[0], raised)
                if handler is not None:
                    self.frame = k.frame or self.frame
                    self.handle(k, handler)
                    return None
            k = k.next
        if kind == "raise" or (kind == "exit" and value == const(False)):
            return ABORT
        self.k = None
        return END

    def continue_exit(self, k: Continuation) -> str | None:
        kind, value, site = k.data
        self.k = k.next
        return self.unwind(kind, value, site)

    def end_block(self, k: Continuation) -> str | None:
        """A ``finally`` is due on the way out of a try that ended well."""
        self.k = self.push(k.data[0], 0, k.next)
        return None

    # ---- with

    def do_with(self, s: ir.With, k: Continuation) -> str | None:
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

    def first_region(self, s: ir.With) -> Any:
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

    def enter_first(self, s: ir.With, k: Continuation, first: Any) -> str | None:
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
            "with", (("first", first, mine, s), s.site), self.frame, self.k
        )
        self.k = self.push(s.body, 0, leave)
        return None

    def region_barrier(self, s: ir.With, first: Any, when: str) -> None:
        key = (s.site, when)
        if key in self.results:
            return
        raise self.for_all(first.name, ("barrier",), s.site, key, note=when)

    def enter_manager(self, s: ir.With, k: Continuation, value: Value) -> str | None:
        exit_value: Any = None
        bound = value
        if isinstance(value, v.Instance):
            enter = self.instance_attribute(value, "__enter__", s.site)
            if isinstance(enter, v.Func):
                bound = self.call_function(enter, [], {}, s.site, (s.site, "enter"))
            leave = self.instance_attribute(value, "__exit__", s.site)
            exit_value = ("call", leave) if isinstance(leave, v.Func) else None
        elif isinstance(value, v.Obj) and self.catalogue.subclass_of(
            value.kind, "torch.distributed.algorithms.Join"
        ):
            self.store[JOINED] = const(True)
            exit_value = ("joined",)
        elif isinstance(value, v.Method) and isinstance(value.receiver, v.Obj):
            exit_value = self.enter_object_context(value, s)
        elif (
            isinstance(value, Unknown) and value.op == "method" and isinstance(value.args[0], v.Obj)
        ):
            exit_value = self.enter_object_context(v.method(value.args[0], str(value.args[1])), s)
        elif isinstance(value, Unknown) and value.op == "call" and isinstance(value.args[0], str):
            exit_value = self.enter_external(value, s)
        if s.target is not None:
            self.bind_target(s.target, bound)
        self.done(k)
        if exit_value is not None:
            self.k = self.context.continuation("with", (exit_value, s.site), self.frame, self.k)
        self.k = self.push(s.body, 0, self.k)
        return None

    def enter_object_context(self, value: v.Method, s: ir.With) -> Any:
        receiver = value.receiver
        assert isinstance(receiver, v.Obj)
        entry = self.catalogue.member(receiver.kind, value.name)
        if entry is not None and entry.collective is not None and entry.collective.kind == "join":
            self.store[JOINED] = const(True)
            return ("joined",)
        if value.name == "no_sync":
            self.store[("nosync", receiver.oid)] = const(True)
            return ("nosync", receiver.oid)
        if entry is None or entry.collective is None:
            return None
        form = entry.collective.form
        if form in {"enter", "around"} and (s.site, "enter") not in self.results:
            self.inner = ()
            self.collective_at(entry, receiver, s.site, "enter")
        return ("collective", entry, receiver) if form in {"exit", "around"} else None

    def enter_external(self, value: Unknown, s: ir.With) -> Any:
        """Enter the context that a function from outside the project has returned."""
        entry = self.catalogue.lookup(value.args[0])
        row = entry.collective if entry is not None else None
        if row is None or row.form not in {"enter", "exit", "around"}:
            return None
        receiver = next((each for each in value.args[1:] if isinstance(each, v.Obj)), const(None))
        if row.form != "exit" and (s.site, "enter") not in self.results:
            self.inner = ()
            self.collective_at(entry, receiver, s.site, "enter")
        return ("collective", entry, receiver) if row.form != "enter" else None

    def collective_at(self, entry: Any, receiver: Value, site: int, when: str) -> None:
        try:
            self.collective(entry, [], {}, None, site, receiver)
        except CollectiveReached as emit:
            emit.event.result_key = (site, when)
            raise

    def leave_with(self, k: Continuation) -> str | None:
        """The body of a with has ended; the manager's exit runs."""
        manager, site = k.data
        return self.exit_manager(k, manager, site)

    def exit_manager(self, k: Continuation, manager: Any, site: int) -> str | None:
        kind = manager[0]
        if kind == "first":
            _, first, mine, statement = manager
            if mine and first.barrier:
                self.region_barrier(statement, first, "exit")
        elif kind == "joined":
            self.store.pop(JOINED, None)
        elif kind == "nosync":
            self.store.pop(("nosync", manager[1]), None)
        elif kind == "call":
            pending = k.next.data if k.next is not None and k.next.kind == "exit" else ("",)
            given: Value = const(None)
            if pending[0] in _RAISED:
                given = v.obj("builtins.BaseException", self.number("raised", pending[2]))
            self.call_function(manager[1], [given] * 3, {}, site, (site, "exit"))
        elif kind == "collective" and (site, "exit") not in self.results:
            self.collective_at(manager[1], manager[2], site, "exit")
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
        k: Continuation,
        target: v.Func,
        args: list[Value],
        keywords: dict[str, Value],
    ) -> str | None:
        function = target.function
        self.context.enter(function)
        frame = self.activation(target, s.site)
        self.bind_arguments(frame, function, args, keywords)
        self.done(k)
        back = self.context.continuation("manager", (s, self.frame, self.it), self.frame, self.k)
        self.frame, self.it = frame, ()
        self.k = self.push(function.body, 0, back)
        return None

    def do_yield(self, node: ir.Yield, k: Continuation) -> str | None:
        """``yield`` in the generator after a with statement: the body runs here."""
        below = k.next
        while below is not None and below.kind not in {"manager", "yielded", "call"}:
            below = below.next
        if node.value is not None:
            value = self.evaluate(node.value)
        else:
            value = const(None)
        if below is None or below.kind != "manager":
            self.done(k)
            return None
        statement, caller, it = below.data
        self.done(k)
        rest_of_generator = self.context.graft(self.k, below.next)
        generator = self.context.continuation(
            "generator", (rest_of_generator, self.frame, self.it), caller, below.next
        )
        self.frame, self.it = caller, it
        if statement.target is not None:
            self.bind_target(statement.target, value)
        self.k = self.push(statement.body, 0, generator)
        return None

    def end_generator_body(self, k: Continuation) -> str | None:
        """The body of the with has ended: the generator goes on after its yield."""
        return self.enter_generator_rest(k, k.next)

    def enter_generator_rest(self, k: Continuation, after: Continuation | None) -> str | None:
        generator, frame, it = k.data
        self.k = self.context.graft(generator, after)
        self.frame, self.it, self.results = frame, it, {}
        return None

    def end_without_yield(self, k: Continuation) -> str | None:
        """A generator that never yields cannot manage a context: RuntimeError."""
        return self.unwind("raise", None, 0)

    def end_manager(self, k: Continuation) -> str | None:
        """The generator has run to its end: back to the function with the with statement."""
        _, caller, it = k.data
        self.frame, self.it, self.results = caller, it, {}
        self.k = k.next
        return None

    # ---- try

    def do_try(self, s: ir.Try, k: Continuation) -> str | None:
        self.done(k)
        was_risky = self.store.pop(RISKY, None) is not None
        if s.final:
            self.k = self.context.continuation("final", (s.final,), self.frame, self.k)
        self.k = self.push(s.orelse, 0, self.k)
        self.k = self.context.continuation("try", (s, self.it, was_risky), self.frame, self.k)
        if ir.is_to_fail(s):
            return self.unwind("raise", const(""), s.site)
        self.k = self.push(s.body, 0, self.k)
        return None

    def end_try(self, k: Continuation) -> str | None:
        """The body of a try has come to its end: or has its last statement failed?"""
        handler = self.swallowing(k)
        if handler is not None and RISKY in self.store and self.failed(k, "end", handler):
            self.handle(k, handler)
            return None
        if k.data[2]:
            self.store[RISKY] = const(True)  # what came before may have failed for a try around
        self.k = k.next
        return None

    def swallowing(self, k: Continuation) -> ir.Handler | None:
        """The handler of a try after which something is still done by a rank that has failed."""
        if self.reading or _is_probe(k.frame):
            return None
        s: ir.Try = k.data[0]
        for handler in s.handlers:
            if self.context.always_aborts(handler.body) and not self.is_stopped(k.next):
                continue
            if not handler.is_for_all:
                return handler
        return None

    def catching(self, s: ir.Try, raised: str) -> ir.Handler | None:
        """The handler that takes an exception raised by the program itself."""
        return next((handler for handler in s.handlers if handler.catches(raised)), None)

    def failed(self, k: Continuation, where: object, handler: ir.Handler) -> bool:
        """Has something in the body of the try at ``k`` raised on this rank alone?"""
        s: ir.Try = k.data[0]
        frame = k.frame or self.frame
        atom = unknown(
            "exception",
            s.site,
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
            self.log.append(("decide", frame, handler.site, atom, outcome, self.it))
        return outcome

    def fails_before(self, event: Event) -> bool:
        """May a rank have failed on the way to this collective, inside a try that swallows it?"""
        return self.fails_on_the_way(self.k, event.site, ())

    def fails_on_the_way(self, k: Continuation | None, site: int, ends: tuple[str, ...]) -> bool:
        """May a rank have failed before it gets here, inside a try that swallows it?"""
        risky = RISKY in self.store
        while k is not None and k.kind not in ends and not _begins_processes(k):
            handler = self.swallowing(k) if k.kind == "try" and risky else None
            if handler is not None:
                if not self.failed(k, ("before", site), handler):
                    return False
                self.frame = k.frame or self.frame
                self.handle(k, handler)
                return True
            risky = risky or (k.kind == "try" and k.data[2])
            k = k.next
        return False

    def handle(self, k: Continuation, handler: ir.Handler) -> None:
        """Go on in a handler of the try at ``k``."""
        statement = k.data[0]
        after = k.next
        if statement.orelse and after is not None:
            after = after.next  # the else block is skipped
        self.frame = k.frame or self.frame
        self.it = k.data[1]
        self.results, self.inner = {}, ()
        if handler.name:
            self.set_name(handler.name, unknown("caught", handler.site, local=True, fresh=True))
        self.k = self.push(handler.body, 0, after)


def _is_exit(k: Continuation, block: Continuation) -> bool:
    """Is it the call of ``__exit__`` with which a block is left?"""
    return block.kind == "with" and bool(k.data[3] == (block.data[1], "exit"))


def _begins_processes(k: Continuation) -> bool:
    return k.kind == "call" and k.data[3][-1] == IN_PROCESSES


def _is_probe(frame: Frame | None) -> bool:
    """``is_tpu_available``: what the installation has, it has for all ranks or for none."""
    name = frame.function.name if frame is not None and frame.function is not None else ""
    return any(word in name for word in ("available", "installed", "support"))


def _name_of(value: Value | None) -> str:
    return str(value.value) if isinstance(value, Const) else ""
