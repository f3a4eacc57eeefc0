"""How one rank leaves what it is in: jumps and exits, and what a try catches."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic.assignment import set_name
from distlint.analyzer.symbolic.block_exits import aborts, always_aborts
from distlint.analyzer.symbolic.calls import Calls
from distlint.analyzer.symbolic.continuations import (
    AbruptCompletion,
    BeforeYield,
    CallExit,
    Continuation,
    EndOfGenerator,
    FinallyBlock,
    LoopHead,
    PendingCompletion,
    RestOfBlock,
    ResumeGenerator,
    ReturnToCaller,
    TryBlock,
    WithBlock,
)
from distlint.analyzer.symbolic.execution_log import (
    Caught,
    Decided,
    Exited,
    Failed,
    Jumped,
    Raised,
)
from distlint.analyzer.symbolic.function_calls import is_cached
from distlint.analyzer.symbolic.state import Event, Exit, Frame, Stop
from distlint.analyzer.symbolic.values import Const, Value, const, unknown
from distlint.analyzer.symbolic.view import IN_PROCESSES, RETURNED, RISKY


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
            self.log.append(Jumped(self.frame, s.site, AbruptCompletion.RETURN, self.it))
        self.results = {}
        self.k = k.next
        return self.unwind(AbruptCompletion.RETURN, value, s.site)

    def do_break(self, s: ir.Break, k: RestOfBlock) -> Stop | None:
        if self.fails_on_the_way(k, s.site, (ReturnToCaller, LoopHead)):
            return None
        if self.log is not None:
            self.log.append(Jumped(self.frame, s.site, AbruptCompletion.BREAK, self.it))
        self.k = k.next
        return self.unwind(AbruptCompletion.BREAK, None, s.site)

    def do_continue(self, s: ir.Continue, k: RestOfBlock) -> Stop | None:
        if self.fails_on_the_way(k, s.site, (ReturnToCaller, LoopHead)):
            return None
        if self.log is not None:
            self.log.append(Jumped(self.frame, s.site, AbruptCompletion.CONTINUE, self.it))
        self.k = k.next
        return self.unwind(AbruptCompletion.CONTINUE, None, s.site)

    def do_raise(self, s: ir.Raise | ir.Assert, k: RestOfBlock) -> Stop | None:
        if not self.is_stopped(k, s.raised) and self.fails_on_the_way(k, s.site, ()):
            return None
        if self.log is not None:
            self.log.append(Raised(self.frame, s.site, self.it))
        self.results = {}
        self.k = k.next
        return self.unwind(AbruptCompletion.RAISE, const(s.raised), s.site)

    def is_stopped(self, k: Continuation | None, raised: str = "") -> bool:
        """Does anything on the way out catch an exception, or communicate?"""
        while k is not None and not _begins_processes(k):
            if isinstance(k, TryBlock):
                handler = self.catching(k.statement, raised)
                if handler is not None and not aborts(handler.body):
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

    def leave_with(self, k: WithBlock) -> Stop | None:
        """The body of a with has ended; the manager's exit runs."""
        raise NotImplementedError

    def enter_generator_rest(self, k: ResumeGenerator, after: Continuation | None) -> Stop | None:
        """Go on in the generator that manages a with, and then with ``after``."""
        self.k = self.context.graft(k.rest, after)
        self.frame, self.it, self.results = k.generator, k.it, {}
        return None

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
        if handler is not None and RISKY in self.store and self.failed(k, None, handler):
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
            if always_aborts(handler.body) and not self.is_stopped(k.next):
                continue
            if not handler.is_for_all:
                return handler
        return None

    def catching(self, s: ir.Try, raised: str) -> ir.Handler | None:
        """The handler that takes an exception raised by the program itself."""
        return next((handler for handler in s.handlers if handler.catches(raised)), None)

    def failed(self, k: TryBlock, site: int | None, handler: ir.Handler) -> bool:
        """Has something in the body of the try at ``k`` raised on this rank alone?

        Before what stands at the site, or None: before the end of the body.
        """
        frame = k.frame or self.frame
        where = "end" if site is None else ("before", site)
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
            if outcome and site is None:
                self.log.append(Failed(frame, k.statement.site, k.it))
            elif outcome and site is not None:
                self.log.append(Failed(self.frame, site, self.it))
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
                    if not self.failed(k, site, handler):
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
        if self.log is not None:
            self.log.append(Caught(self.frame, handler.site))
        self.it = k.it
        self.results, self.inner = {}, ()
        if handler.name:
            set_name(self, handler.name, unknown("caught", handler.site, local=True, fresh=True))
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
