"""Whether a further turn of a loop can do anything that its first turn has not done.

It cannot where it begins as the first did, as far as that matters: with the same in each variable
that the loop reads before it writes it, or with numbers and unknowns that are the same on all ranks
instead of others. What is a rank's own, flags and objects are told apart, and so are numbers with
which something that the loop reads was decided in a turn where they were known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.continuations import LoopHead
from distlint.analyzer.symbolic.state import Frame, Iterations, Key, LoopPlace, State
from distlint.analyzer.symbolic.values import Const, Unknown, Value

if TYPE_CHECKING:
    from distlint.analyzer.static.closure import Bits
    from distlint.analyzer.symbolic.context import ExecutionContext
    from distlint.analyzer.symbolic.state_abstraction import Live

Loop = ir.For | ir.While

MOST_HEADS = 12
"""First turns of one loop that a later one is compared with."""


class Loops:
    """How the first turns of the loops of one root have begun, and what was decided in them."""

    def __init__(self, context: ExecutionContext) -> None:
        self.context = context
        self.heads: dict[tuple[str | None, LoopPlace], dict[Live, dict[Key, Value]]] = {}
        self.counted: dict[LoopPlace, int] = {}
        """Loops in which ranks count for themselves, and from which iteration on."""
        self.tested: Bits = 0
        """Names in conditions of which the outcome was known."""
        self._noted: set[int] = set()
        self._flows: dict[ir.Block, list[tuple[Bits, Bits]]] = {}
        self._calls: dict[Loop, list[tuple[Bits, str]]] = {}
        self._params: dict[str, Bits] = {}
        self._made: dict[tuple[Loop, Bits, int], Bits] = {}
        self._entered = 0

    def begin_root(self) -> None:
        self.heads.clear()
        self.counted.clear()
        self.tested = 0
        self._noted.clear()
        self._params.clear()
        self._made.clear()
        self._entered = 0

    def note_test(self, node: ir.Expr) -> None:
        """A condition had a known outcome: with another number it may have another."""
        if id(node) not in self._noted:
            self._noted.add(id(node))
            self.tested |= self.context.abstraction.names(ir.tokens_of(node))

    def begins(
        self, side: str | None, loop: Loop, frame: Frame, outer: Iterations, store: dict[Key, Value]
    ) -> None:
        """Note how the first turn begins."""
        heads = self.heads.setdefault((side, (loop.site, frame.scope, outer)), {})
        if len(heads) < MOST_HEADS:
            live = self._live(loop, frame, outer, store)
            heads.setdefault(live, dict(live))

    def begun(
        self, side: str | None, loop: Loop, frame: Frame, outer: Iterations
    ) -> list[dict[Key, Value]]:
        """What was live where first iterations began: of one side, or of both as one (None)."""
        return list(self.heads.get((side, (loop.site, frame.scope, outer)), {}).values())

    def repeats(
        self, side: str | None, loop: Loop, frame: Frame, outer: Iterations, store: dict[Key, Value]
    ) -> dict[Key, Value] | None:
        """What is another than in a first turn like which the next one is; None if in none."""
        if self._counts(loop):
            return None
        live = self._live(loop, frame, outer, store)
        for owner in dict.fromkeys((side, None)):
            for head in self.heads.get((owner, (loop.site, frame.scope, outer)), {}).values():
                if all(self._covers(loop, key, head.get(key), now) for key, now in live):
                    return {key: now for key, now in live if head.get(key) is not now}
        return None

    def alike(self, loop: Loop, before: dict[Key, Value], after: dict[Key, Value]) -> bool:
        """Is what a turn has written as good as what had been there?"""
        return not self._counts(loop) and all(
            self._covers(loop, key, before.get(key), now) for key, now in after.items()
        )

    def _live(self, loop: Loop, frame: Frame, outer: Iterations, store: dict[Key, Value]) -> Live:
        """What the loop itself may read of what is there when a turn begins.

        An object that it calls may read its attributes, whatever they are called.
        """
        k = self.context.continuation(LoopHead(frame, None, loop, 1, None, outer))
        live = self.context.abstraction.live(State(k, frame, outer, {}, store))
        frames = self.context.frames
        return live.union(item for item in store.items() if item[0][0] not in frames)

    def _covers(self, loop: Loop, key: Key, before: Value | None, now: Value) -> bool:
        if before is now:
            return True
        if not is_shared(now) or (before is not None and not is_shared(before)):
            return False
        if not (before is not None and _is_number(before)) and not _is_number(now):
            return True
        return not self._is_tested(loop, self.context.abstraction.names(frozenset([str(key[1])])))

    def _counts(self, loop: Loop) -> bool:
        """Was something decided by which turn of the loop it was?"""
        if not isinstance(loop, ir.For):
            return False
        return self._is_tested(loop, self.context.abstraction.names(ir.names_bound(loop.target)))

    def _is_tested(self, loop: Loop, names: Bits) -> bool:
        """Was a condition known that reads these variables, or what is made of them?"""
        key = (loop, names, len(self.context.entered))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._made_of(loop, names)
        return bool(made & self.tested)

    def _made_of(self, loop: Loop, names: Bits) -> Bits:
        """The variables with what a loop, and the functions that were run, make of them."""
        before = 0
        while names != before:
            before = names
            for block in (loop.body, *(function.body for function in self.context.entered)):
                for read, written in self._flow(block):
                    if read & names:
                        names |= written
            for read, callee in self._given(loop):
                if read & names:
                    names |= self._params_of(callee)
        return names

    def _flow(self, block: ir.Block) -> list[tuple[Bits, Bits]]:
        """What the statements of a block read, and what they write with it."""
        found = self._flows.get(block)
        if found is None:
            bits = self.context.abstraction.names
            found = [(bits(read), bits(written)) for read, written in _assignments(block)]
            self._flows[block] = found
        return found

    def _given(self, loop: Loop) -> list[tuple[Bits, str]]:
        """What the calls in a loop pass to which functions."""
        found = self._calls.get(loop)
        if found is None:
            bits = self.context.abstraction.names
            found = self._calls[loop] = [
                (bits(frozenset().union(*map(ir.tokens_of, node.args))), ir.last_name(node.func))
                for node in ir.own_nodes(loop.body)
                if isinstance(node, ir.Call) and node.args
            ]
        return found

    def _params_of(self, name: str) -> Bits:
        """The parameters of functions of this name that have been run."""
        entered = self.context.entered
        if len(entered) != self._entered:
            self._entered = len(entered)
            self._params.clear()
            for function in entered:
                bits = self.context.abstraction.names(
                    frozenset(param.name for param in function.params)
                )
                called = function.owner if function.name == "__init__" else function.name
                self._params[called] = self._params.get(called, 0) | bits
        return self._params.get(name, 0)


def _assignments(block: ir.Block) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for node in ir.own_nodes(block):
        if isinstance(node, ir.Assign):
            yield ir.tokens_of(node.value), _targets(node.targets)
        elif isinstance(node, ir.AugAssign):
            yield ir.tokens_of(node.value), _targets((node.target,))
        elif isinstance(node, ir.For):
            yield ir.tokens_of(node.iterable), _targets((node.target,))


def _targets(targets: Iterable[ir.Expr]) -> frozenset[str]:
    return frozenset().union(*map(ir.tokens_of, targets))


def is_shared(value: Value) -> bool:
    """Is it a number or something unknown, the same on all ranks?"""
    if isinstance(value, v.Phi):
        return not value.local and all(map(is_shared, v.leaves(value)))
    if isinstance(value, v.Seq):
        return all(map(is_shared, value.items))
    return (isinstance(value, Unknown) and not value.local) or _is_number(value)


def _is_number(value: Value) -> bool:
    if isinstance(value, v.Phi):
        return any(map(_is_number, v.leaves(value)))
    if isinstance(value, v.Seq):
        return True  # as its length is
    return isinstance(value, Const) and type(value.value) in (int, float)
