"""What a projection may still read: states that differ in nothing else are one state."""

from __future__ import annotations

from collections.abc import Set
from functools import reduce
from itertools import compress
from operator import or_
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.closure import Bits
from distlint.analyzer.static.hooks import STOP_FLAGS
from distlint.analyzer.symbolic.continuations import (
    Continuation,
    EndOfGenerator,
    FinallyBlock,
    LoopHead,
    RestOfBlock,
    ResumeGenerator,
    TryBlock,
    WithBlock,
)
from distlint.analyzer.symbolic.live_variables import LiveVariables
from distlint.analyzer.symbolic.state import Key, Known, Question, State
from distlint.analyzer.symbolic.strategies import UNDER, may_name_strategy
from distlint.analyzer.symbolic.values import Phi, Unknown, Value, own_names
from distlint.analyzer.symbolic.view import RISKY, SEEDED

if TYPE_CHECKING:
    from distlint.analyzer.static.effects import Effects

FACTS = frozenset({SEEDED, "nosync", "joined", "once", "risky", "gradients"})
"""First parts of variables that no name in the source stands for."""

APART = FACTS - {SEEDED}
"""Those of them that keep states apart: a seed is a value that can be joined like others."""

Live = frozenset[tuple[Key, Value]]

Identity = tuple[object, ...]
"""What tells states from others."""


class StateAbstraction:
    """Names that continuations read, remembered for one entry point."""

    def __init__(self, effects: Effects, main: Module) -> None:
        self.effects = effects
        self.main = main
        self.slicer = effects.slicer(main)
        self.live_variables = LiveVariables(self.slicer)
        self.tables: dict[Continuation | None, _Table] = {}
        self.numbering = effects.graph.numbering
        self.sets: dict[frozenset[str], Bits] = {}
        self.statements: dict[ir.Stmt, Bits] = {}
        self.strategic: dict[Unknown, bool] = {}
        self.atoms: dict[Live, frozenset[Unknown]] = {}

    def forget(self) -> None:
        """Let go of the tables: each refers to this object, which only a collection would see."""
        self.tables.clear()

    def identity(
        self, states: tuple[State, ...], lives: tuple[Live, ...], known: Known
    ) -> Identity:
        """What tells one state or two from others."""
        sides = [
            (state.k, state.frame, state.it, live, tuple(state.results.items()))
            for state, live in zip(states, lives, strict=True)
        ]
        return (*sides, frozenset(known.items()))

    def matters(
        self,
        states: tuple[State, ...],
        known: Known,
        again: Set[Question],
    ) -> tuple[tuple[Live, ...], Known]:
        """The variables that still matter, and what of the known does.

        Args:
            again: what statements in hand ask again, whatever there is left to do.
        """
        lives = tuple(map(self.live, states))
        if not known:
            return lives, known
        atoms: frozenset[Unknown] = frozenset()
        for state, live in zip(states, lives, strict=True):
            atoms |= self.atoms_of(live)
            for value in state.results.values():
                atoms |= value.atoms
        reads = self.reads(states[0].k) | self.reads(states[-1].k)
        kept = {
            key: outcome
            for key, outcome in known.items()
            if key in again or self.can_be_asked(key, reads, atoms)
        }
        return lives, kept

    def live(self, state: State) -> Live:
        """The variables that may still be read and can decide something.

        All others are dropped from the state.
        """
        table = self.tables.get(state.k)
        if table is None:
            table = self.tables[state.k] = _Table(self, state.k)
        store = state.store
        verdicts = bytes(map(table.__getitem__, store))
        live = frozenset(compress(store.items(), verdicts.translate(_LIVE_ONLY)))
        hidden = list(compress(store.items(), verdicts.translate(_HIDDEN_ONLY)))
        if _DEAD in verdicts:
            state.store = dict(compress(store.items(), verdicts.translate(_NOT_DEAD)))
        return self.with_reachable(live, hidden) if hidden else live

    def is_told_apart(self, once: object) -> bool:
        """Does it make a difference whether something has been done already?"""
        return not isinstance(once, ir.Function) or self.effects.may_communicate(once)

    def with_reachable(self, live: Live, hidden: list[tuple[Key, Value]]) -> Live:
        """Add the attributes of values that cannot be made again where something holds these."""
        while hidden:
            atoms = self.atoms_of(live)
            reached = [item for item in hidden if item[0][0] in atoms]
            if not reached:
                break
            live |= frozenset(reached)
            hidden = [item for item in hidden if item[0][0] not in atoms]
        return live

    def atoms_of(self, live: Live) -> frozenset[Unknown]:
        found = self.atoms.get(live)
        if found is None:
            found = self.atoms[live] = frozenset().union(*(value.atoms for _, value in live))
        return found

    # ---- what may be asked again

    def can_be_asked(self, key: Question, reads: Bits, atoms: frozenset[Unknown]) -> bool:
        atom = key[1] if isinstance(key, tuple) else key
        return self.is_strategic(atom) or self.can_be_made(atom, reads, atoms)

    def can_be_made(self, value: Value, reads: Bits, atoms: frozenset[Unknown]) -> bool:
        """Can what is left to do come to this very term again?"""
        if isinstance(value, Phi):
            return value.atoms <= atoms
        if not isinstance(value, Unknown) or value in atoms:
            return True
        if not value.fresh:
            tokens = self.names(value.tokens)
            if tokens & reads == tokens:
                return True
            own = self.names(own_names(value))
            if own & reads != own:
                return False
        elif value.leaf:
            return False
        parts = [arg for arg in value.args if isinstance(arg, Value)]
        return bool(parts) and all(self.can_be_made(part, reads, atoms) for part in parts)

    def is_strategic(self, atom: Unknown) -> bool:
        """Does an assumption bear on which strategy is in use? Calls ask for that by themselves."""
        found = self.strategic.get(atom)
        if found is None:
            found = self.strategic[atom] = atom.op == UNDER or any(
                map(may_name_strategy, atom.tokens)
            )
        return found

    # ---- what is read

    def reads(self, k: Continuation | None) -> Bits:
        """Every name that what is left to do may read."""
        if k is None:
            return 0
        chain = []
        step: Continuation | None = k
        while step is not None and step.reads is None:
            chain.append(step)
            step = step.next
        below = step.reads if step is not None and step.reads is not None else 0
        for item in reversed(chain):
            both = below | self.own(item)
            below = item.reads = below if both == below else both  # long numbers, and many
        return below

    def own(self, k: Continuation) -> Bits:
        """What a continuation reads before the next one has its turn."""
        module = k.frame.module if k.frame is not None else self.main
        if isinstance(k, RestOfBlock):
            return reduce(or_, [self.of(module, s) for s in k.block[k.index :]], 0)
        if isinstance(k, (LoopHead, TryBlock, EndOfGenerator)):
            return self.of(module, k.statement)
        if isinstance(k, FinallyBlock):
            return reduce(or_, [self.of(module, s) for s in k.block], 0)
        if isinstance(k, ResumeGenerator):
            return self.reads(k.rest)
        return self.names(_EXIT) if isinstance(k, WithBlock) else 0

    def of(self, module: Module, statement: ir.Stmt) -> Bits:
        """What a statement reads, and the functions that it may call."""
        found = self.statements.get(statement)
        if found is None:
            tokens = ir.tokens_of(statement)
            found = self.statements[statement] = self.effects.graph.of_block(module, tokens)
        return found

    def names(self, names: frozenset[str]) -> Bits:
        """The bits of a set of names."""
        found = self.sets.get(names)
        if found is None:
            found = self.sets[names] = self.numbering.of(names)
        return found


def _is_in_try(k: Continuation | None) -> bool:
    """Is what is left to do inside a try?"""
    while k is not None:
        if isinstance(k, TryBlock) or (isinstance(k, ResumeGenerator) and _is_in_try(k.rest)):
            return True
        k = k.next
    return False


_EXIT = frozenset({"__exit__"})

_LIVE, _HIDDEN, _FACT, _DEAD = range(4)
"""What a variable is: read, read if its object is, no variable of the source, or never read."""

_LIVE_ONLY, _HIDDEN_ONLY = b"\1\0\0\0".ljust(256, b"\0"), b"\0\1\0\0".ljust(256, b"\0")
_NOT_DEAD = b"\1\1\1\0".ljust(256, b"\0")
"""Verdicts to whether they are the ones."""


class _Table(dict[Key, int]):
    """What the variables are at one continuation."""

    def __init__(self, abstraction: StateAbstraction, k: Continuation | None) -> None:
        self.abstraction = abstraction
        self.reads = abstraction.reads(k)
        self.exposed = abstraction.live_variables.scopes(k)
        self.in_try = _is_in_try(k)

    def __missing__(self, key: Key) -> int:
        verdict = self[key] = self._verdict(key)
        return verdict

    def _verdict(self, key: Key) -> int:
        owner, name = key
        if key == RISKY:
            return _LIVE if self.in_try else _DEAD  # every try begins without
        if owner in FACTS:
            is_fact = owner == "once" and not self.abstraction.is_told_apart(name)
            return _FACT if is_fact else _LIVE
        if owner in self.exposed and name not in self.exposed[owner]:
            return _DEAD
        if self._is_read(owner, name) or name[:1] == "[":
            is_hidden = isinstance(owner, Unknown) and owner.fresh
            return _HIDDEN if is_hidden else _LIVE
        return _DEAD

    def _is_read(self, owner: object, name: str) -> bool:
        """May a variable be read? An attribute only if its name can decide anything."""
        is_kept = owner in self.exposed or name in self.abstraction.slicer.names
        if is_kept and self.abstraction.numbering.has(self.reads, name):
            return True
        return owner not in self.exposed and name in STOP_FLAGS
