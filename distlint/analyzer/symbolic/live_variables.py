"""Which variables are read before they are bound again: live variables, the classic backward pass.

Only names of the scope at hand are followed. What a nested function mentions counts as read at any
time, and so does what functions mention of the variables of their module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.slicing import RUN
from distlint.analyzer.symbolic.continuations import (
    BeforeYield,
    Continuation,
    EndOfActivation,
    FinallyBlock,
    LoopHead,
    PendingCompletion,
    RestOfBlock,
    ResumeGenerator,
    TryBlock,
)

if TYPE_CHECKING:
    from distlint.analyzer.static.slicing import Slicer
    from distlint.analyzer.symbolic.state import Frame

Names = frozenset[str]
NOTHING: Names = frozenset()


class Jumps(NamedTuple):
    """What is read after leaving a block by each of the ways out."""

    leave: Names = NOTHING
    """After ``return``: what a ``finally`` on the way reads."""
    end: Names = NOTHING
    """After ``break``."""
    again: Names = NOTHING
    """After ``continue``."""
    fail: Names = NOTHING
    """In a handler: any statement may fail."""


class LiveVariables:
    """Answers for the continuations of one entry point."""

    def __init__(self, slicer: Slicer) -> None:
        self.slicer = slicer
        self._scopes: dict[Continuation, dict[int, Names]] = {}
        self._before: dict[Continuation, Names] = {}
        self._jumps: dict[Continuation, Jumps] = {}
        self._tables: dict[tuple[int, Names, Jumps], list[Names]] = {}
        self._captured: dict[ir.Function | str, Names] = {}
        self._sets: dict[Names, Names] = {}

    def scopes(self, k: Continuation | None) -> dict[int, Names]:
        """The names that may be read before they are bound, for each scope that is being run."""
        if k is None:
            return {}
        known = self._scopes.get(k)
        if known is not None:
            return known
        found: dict[int, Names] = {}
        step: Continuation | None = k
        frame = k.frame
        while step is not None:
            if frame is not None:
                names = found.get(frame.scope, NOTHING) | self.before(step) | self.captured(frame)
                found[frame.scope] = self.shared(names)
            while step is not None and not isinstance(step, EndOfActivation):
                if isinstance(step, ResumeGenerator):
                    for scope, names in self.scopes(step.rest).items():
                        found[scope] = self.shared(found.get(scope, NOTHING) | names)
                step = step.next
            if step is None:
                break
            frame = step.caller
            if isinstance(step, BeforeYield):
                # the body of the with runs where the generator yields
                body = self.block(
                    step.statement.body, self.before(step.next), self.jumps(step.next), frame
                )[0]
                found[frame.scope] = self.shared(found.get(frame.scope, NOTHING) | body)
            step = step.next
        self._scopes[k] = found
        return found

    def before(self, k: Continuation | None) -> Names:
        """What is left to do in the same scope reads."""
        if k is None or isinstance(k, EndOfActivation):
            return NOTHING
        known = self._before.get(k)
        if known is not None:
            return known
        chain = []
        step: Continuation | None = k
        while not (step is None or isinstance(step, EndOfActivation) or step in self._before):
            chain.append(step)
            step = step.next
        for item in reversed(chain):
            self._before[item] = self._own(item)
        return self._before[k]

    def _own(self, k: Continuation) -> Names:
        after, frame = self.before(k.next), k.frame
        if frame is None:
            return after
        if isinstance(k, RestOfBlock):
            return self.block(k.block, after, self.jumps(k.next), frame)[k.index]
        if isinstance(k, LoopHead):
            return self.loop(k.statement, after, self.jumps(k.next), frame)
        if isinstance(k, TryBlock):
            return after | self._handlers(k)
        if isinstance(k, FinallyBlock):
            return self.block(k.block, after, self.jumps(k.next), frame)[0]
        if isinstance(k, PendingCompletion):
            return after.union(*self.jumps(k.next))
        return after

    def jumps(self, k: Continuation | None) -> Jumps:
        """What is read where the ways out of a continuation lead."""
        if k is None or isinstance(k, EndOfActivation):
            return Jumps()
        known = self._jumps.get(k)
        if known is None:
            known = self._jumps[k] = self._ways_out(k)
        return known

    def _ways_out(self, k: Continuation) -> Jumps:
        out, frame = self.jumps(k.next), k.frame
        if isinstance(k, LoopHead):
            return out._replace(end=self.before(k.next), again=self.before(k))
        if isinstance(k, TryBlock):
            return out._replace(fail=out.fail | self._handlers(k))
        if isinstance(k, ResumeGenerator):
            return out._replace(fail=out.fail | self.before(k.next))
        if isinstance(k, FinallyBlock) and frame is not None:
            return Jumps(*(self.block(k.block, names, out, frame)[0] for names in out))
        return out

    def _handlers(self, k: TryBlock) -> Names:
        statement, after = k.statement, k.next
        if statement.orelse and after is not None:
            after = after.next
        assert k.frame is not None
        return self.handlers(statement, self.before(after), self.jumps(after), k.frame)

    # ---- statements

    def block(self, block: ir.Block, after: Names, jumps: Jumps, frame: Frame) -> list[Names]:
        """What is read from each statement of a block on, and after its last one."""
        key = (id(block), after, jumps)
        table = self._tables.get(key)
        if table is None:
            table = [after] * (len(block) + 1)
            for index in range(len(block) - 1, -1, -1):
                after = self.shared(self.statement(block[index], after, jumps, frame))
                table[index] = after
            self._tables[key] = table
        return table

    def statement(self, node: ir.Stmt, after: Names, jumps: Jumps, frame: Frame) -> Names:
        """What is read from a statement on."""
        if self.slicer.of(frame.module, node) is not RUN:
            return after
        return _STATEMENTS.get(type(node), LiveVariables._other)(
            self, node, after, jumps, frame
        ) | (jumps.fail)

    def _other(self, node: ir.Stmt, after: Names, jumps: Jumps, frame: Frame) -> Names:
        return after | self.named(node, frame)

    def _assign(self, node: ir.Assign, after: Names, jumps: Jumps, frame: Frame) -> Names:
        bound = reduce(frozenset.union, map(ir.names_bound, node.targets), NOTHING)
        return (after - bound) | self.read_by(node.targets, frame) | self.named(node.value, frame)

    def _define(self, node: ir.Define, after: Names, jumps: Jumps, frame: Frame) -> Names:
        return (after - {node.function.name}) | self.named(node, frame)

    def _if(self, node: ir.If, after: Names, jumps: Jumps, frame: Frame) -> Names:
        body = self.block(node.body, after, jumps, frame)[0]
        return body | self.block(node.orelse, after, jumps, frame)[0] | self.named(node.test, frame)

    def _for(self, node: ir.For, after: Names, jumps: Jumps, frame: Frame) -> Names:
        return self.loop(node, after, jumps, frame) | self.named(node.iterable, frame)

    def loop(self, node: ir.For | ir.While, after: Names, jumps: Jumps, frame: Frame) -> Names:
        """What is read where a loop decides on another turn."""
        out = self.block(node.orelse, after, jumps, frame)[0]
        bound = NOTHING
        if isinstance(node, ir.For):
            bound = ir.names_bound(node.target)
            out |= self.read_by((node.target,), frame)
        else:
            out |= self.named(node.test, frame)
        # one pass is enough: a turn adds what it reads, and takes away no more the second time
        turn = jumps._replace(end=after, again=out)
        return out | (self.block(node.body, out, turn, frame)[0] - bound)

    def _with(self, node: ir.With, after: Names, jumps: Jumps, frame: Frame) -> Names:
        body = self.block(node.body, after, jumps, frame)[0]
        targets = (node.target,) if node.target is not None else ()
        bound = reduce(frozenset.union, map(ir.names_bound, targets), NOTHING)
        return (body - bound) | self.read_by(targets, frame) | self.named(node.context, frame)

    def _try(self, node: ir.Try, after: Names, jumps: Jumps, frame: Frame) -> Names:
        if node.final:
            jumps = Jumps(*(self.block(node.final, names, jumps, frame)[0] for names in jumps))
            after = self.block(node.final, after, jumps, frame)[0]
        orelse = self.block(node.orelse, after, jumps, frame)[0]
        handled = self.handlers(node, after, jumps, frame)
        inside = jumps._replace(fail=jumps.fail | handled)
        return self.block(node.body, orelse, inside, frame)[0] | handled

    def handlers(self, node: ir.Try, after: Names, jumps: Jumps, frame: Frame) -> Names:
        """What the handlers of a try read."""
        found = NOTHING
        for handler in node.handlers:
            body = self.block(handler.body, after, jumps, frame)[0]
            found |= body - {handler.name} if handler.name else body
        return found

    def _return(self, node: ir.Return, after: Names, jumps: Jumps, frame: Frame) -> Names:
        return jumps.leave | self.named(node, frame)

    def _raise(self, node: ir.Raise, after: Names, jumps: Jumps, frame: Frame) -> Names:
        return self.named(node, frame)

    def _break(self, node: ir.Break, after: Names, jumps: Jumps, frame: Frame) -> Names:
        return jumps.end

    def _continue(self, node: ir.Continue, after: Names, jumps: Jumps, frame: Frame) -> Names:
        return jumps.again

    # ---- what may be read from elsewhere

    def captured(self, frame: Frame) -> Names:
        """The names of a scope that functions nested in it, or in its module, may read."""
        key = frame.function or frame.module.key
        found = self._captured.get(key)
        if found is None:
            if frame.function is None:
                free = map(ir.names_in, frame.module.functions)
                found = reduce(frozenset.union, free, ir.names_nested(frame.module.body))
            else:
                found = frame.function.captured
            found = self._captured[key] = self.shared(found & self.slicer.names)
        return found

    def named(self, node: object, frame: Frame) -> Names:
        """The variables that a node names, as far as they can decide anything."""
        names = ir.names_in(node)
        made_up = [name for name in names if name[:1] == "$"]
        return self.shared(self.slicer.needed(frame.function, names).union(made_up))

    def read_by(self, targets: tuple[ir.Expr, ...], frame: Frame) -> Names:
        """What assignments to these targets read: objects and indices."""
        found = NOTHING
        for target in targets:
            if isinstance(target, (ir.Display, ir.Starred)):
                items = target.items if isinstance(target, ir.Display) else (target.value,)
                found |= self.read_by(items, frame)
            elif not isinstance(target, ir.Name):
                found |= self.named(target, frame)
        return found

    def shared(self, names: Names) -> Names:
        """The same set for equal ones: there are many, and few that differ."""
        return self._sets.setdefault(names, names)


_STATEMENTS: dict[type, Callable[[LiveVariables, Any, Names, Jumps, Frame], Names]] = {
    ir.Assign: LiveVariables._assign,
    ir.Define: LiveVariables._define,
    ir.If: LiveVariables._if,
    ir.For: LiveVariables._for,
    ir.While: LiveVariables.loop,
    ir.With: LiveVariables._with,
    ir.Try: LiveVariables._try,
    ir.Return: LiveVariables._return,
    ir.Raise: LiveVariables._raise,
    ir.Break: LiveVariables._break,
    ir.Continue: LiveVariables._continue,
}
