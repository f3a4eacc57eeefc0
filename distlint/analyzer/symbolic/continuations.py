"""What a machine has still to execute: a linked list, shared and compared by identity.

Continuations are made through :meth:`ExecutionContext.continuation`, so that equal ones are
identical.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import Value
from distlint.catalogue.entries import Entry, First

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.state import Frame, Inner, Iterations, ResultKey


class AbruptCompletion(Enum):
    """How a block is left other than by its end."""

    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"
    RAISE = "raise"
    EXIT = "exit"

    @property
    def is_exception(self) -> bool:
        """Does it leave callers, too, up to a handler? An exit is a ``SystemExit``."""
        return self is AbruptCompletion.RAISE or self is AbruptCompletion.EXIT


@dataclass(slots=True, eq=False)
class Continuation:
    """One part of what is left to do, and what follows it."""

    frame: Frame | None
    next: Continuation | None
    reads: int | None = field(default=None, init=False)
    """Bits of the names that it and what follows may read, once they have been asked for."""

    @property
    def identity(self) -> tuple[object, ...]:
        """What equal continuations have in common."""
        return (type(self), self.frame, self.next)


@dataclass(slots=True, eq=False)
class RestOfBlock(Continuation):
    """The statements of a block from an index on."""

    block: ir.Block
    index: int

    @property
    def identity(self) -> tuple[object, ...]:
        # blocks are told apart by identity: hashing one would hash all of its statements
        return (RestOfBlock, id(self.block), self.index, self.frame, self.next)

    @property
    def statement(self) -> ir.Stmt:
        return self.block[self.index]


@dataclass(slots=True, eq=False)
class LoopHead(Continuation):
    """The test for another iteration of a loop, and the iteration."""

    statement: ir.For | ir.While
    index: int
    iterable: Value | None
    """What a ``for`` iterates over."""
    outer: Iterations
    """The iterations of the loops around it."""

    @property
    def identity(self) -> tuple[object, ...]:
        own = (self.statement, self.index, self.iterable, self.outer)
        return (LoopHead, *own, self.frame, self.next)


@dataclass(slots=True, eq=False)
class TryBlock(Continuation):
    """The end of the body of a ``try``, whose handlers are active until then."""

    statement: ir.Try
    it: Iterations
    was_risky: bool
    """Might something have failed before, for a ``try`` around this one?"""

    @property
    def identity(self) -> tuple[object, ...]:
        return (TryBlock, self.statement, self.it, self.was_risky, self.frame, self.next)


@dataclass(slots=True, eq=False)
class FinallyBlock(Continuation):
    """The ``finally`` of a ``try``, which runs however the ``try`` is left."""

    block: ir.Block

    @property
    def identity(self) -> tuple[object, ...]:
        return (FinallyBlock, self.block, self.frame, self.next)


@dataclass(slots=True, eq=False)
class PendingCompletion(Continuation):
    """An abrupt completion that goes on after what had to run on the way out."""

    completion: AbruptCompletion
    value: Value | None
    """What is returned, the name of the exception, or whether an exit means success."""
    site: int

    @property
    def identity(self) -> tuple[object, ...]:
        own = (self.completion, self.value, self.site)
        return (PendingCompletion, *own, self.frame, self.next)


@dataclass(slots=True, eq=False)
class WithBlock(Continuation):
    """The end of the body of a ``with`` whose manager does something then."""

    at_exit: AtExit
    site: int

    @property
    def identity(self) -> tuple[object, ...]:
        return (WithBlock, self.at_exit, self.site, self.frame, self.next)


@dataclass(slots=True, eq=False)
class ResumeGenerator(Continuation):
    """The end of the body of a ``with`` whose manager is a generator, which resumes."""

    rest: Continuation | None
    """What the generator does after its ``yield``."""
    generator: Frame
    it: Iterations

    @property
    def identity(self) -> tuple[object, ...]:
        own = (self.rest, self.generator, self.it)
        return (ResumeGenerator, *own, self.frame, self.next)


@dataclass(slots=True, eq=False)
class EndOfActivation(Continuation):
    """The end of a function, after which another frame goes on."""

    caller: Frame
    it: Iterations
    """The iterations of the loops in which the caller is."""


@dataclass(slots=True, eq=False)
class ReturnToCaller(EndOfActivation):
    """The end of a function that an expression has called; it is in no frame."""

    results: tuple[tuple[ResultKey, Value], ...]
    """The results of the calls that the statement of the caller had made before."""
    key: ResultKey
    """Where the result of this one is kept."""
    value: Value | None
    """What replaces the returned value."""
    inner: Inner

    @property
    def identity(self) -> tuple[object, ...]:
        own = (self.caller, self.it, self.results, self.key, self.value, self.inner)
        return (ReturnToCaller, *own, self.next)

    @property
    def site(self) -> int:
        """Where the call is."""
        site: int = self.key[0]
        return site


@dataclass(slots=True, eq=False)
class EndOfGenerator(EndOfActivation):
    """The end of a generator that is the manager of a ``with``."""

    statement: ir.With

    @property
    def identity(self) -> tuple[object, ...]:
        own = (self.statement, self.caller, self.it)
        return (type(self), *own, self.frame, self.next)


@dataclass(slots=True, eq=False)
class BeforeYield(EndOfGenerator):
    """The end of a generator that has not entered the body of the ``with`` yet."""


@dataclass(slots=True, eq=False)
class AfterYield(EndOfGenerator):
    """The end of a generator whose ``with`` has been left."""


# ---- what managers do at the end of a ``with``


@dataclass(frozen=True, slots=True)
class CallExit:
    """``__exit__`` of a class in the project is called."""

    method: v.Func


@dataclass(frozen=True, slots=True)
class LetOthersIn:
    """The rank that has gone first meets the ranks that wait before the block."""

    first: First
    is_first: bool
    statement: ir.With


@dataclass(frozen=True, slots=True)
class LeaveJoin:
    """Uneven counts do harm again."""


@dataclass(frozen=True, slots=True)
class ResumeSync:
    """Gradients of a wrapped model are reduced again after ``no_sync``."""

    oid: int


@dataclass(frozen=True, slots=True)
class IssueCollective:
    """The exit of a manager that the catalogue knows communicates."""

    entry: Entry
    receiver: Value
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    """What the manager was made with."""


@dataclass(frozen=True, slots=True)
class RestoreGradients:
    """Gradients are recorded, or are not, as before the block."""

    before: Value | None


AtExit = CallExit | LetOthersIn | LeaveJoin | ResumeSync | IssueCollective | RestoreGradients
