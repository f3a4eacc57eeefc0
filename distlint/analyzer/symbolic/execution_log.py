"""What a rank has decided and done in a replay, in order: explanations and programs rest on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.symbolic.continuations import AbruptCompletion
from distlint.analyzer.symbolic.values import Value

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.state import Frame, Iterations


@dataclass(frozen=True, slots=True, eq=False)
class LogEntry:
    """Something that a rank has done at a site."""

    frame: Frame
    site: int

    @property
    def place(self) -> tuple[Frame, int]:
        """The activation and the site."""
        return (self.frame, self.site)


@dataclass(frozen=True, slots=True, eq=False)
class Decided(LogEntry):
    """A condition has been decided, or whether a loop has another iteration."""

    value: Value
    outcome: bool
    turns: Iterations
    """The iterations of the loops around it."""

    @property
    def question(self) -> tuple[Frame, int, Iterations, Value]:
        """What was decided, and where."""
        return (self.frame, self.site, self.turns, self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Assigned(LogEntry):
    """A target has been assigned."""

    target: ir.Expr
    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Jumped(LogEntry):
    """A block has been left by a return, break or continue."""

    completion: AbruptCompletion
    turns: Iterations
    """The iterations of the loops around it, as of a decision."""


@dataclass(frozen=True, slots=True, eq=False)
class Exited(LogEntry):
    """The process has ended."""

    ok: bool


@dataclass(frozen=True, slots=True, eq=False)
class Issued(LogEntry):
    """A collective has been issued."""

    turns: Iterations
    """The iterations of the loops around it."""


@dataclass(frozen=True, slots=True, eq=False)
class StepEntry(LogEntry):
    """A step of the execution, from which a program is written; it explains nothing by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Executed(StepEntry):
    """A statement is executed; more than once in a row where it calls functions or communicates."""

    turns: Iterations
    """The iterations of the loops around it."""


@dataclass(frozen=True, slots=True, eq=False)
class Branched(StepEntry):
    """An arm of an ``if`` has been taken: was its condition true?"""

    outcome: bool


@dataclass(frozen=True, slots=True, eq=False)
class LoopReached(StepEntry):
    """The head of a loop has been reached, before the iteration of this number, if there is one."""

    index: int
    more: bool
    turns: Iterations


@dataclass(frozen=True, slots=True, eq=False)
class Called(StepEntry):
    """A function of the project has been entered."""

    callee: Frame
    turns: Iterations
    is_exit: bool
    """Does a ``with`` call it when its block is left?"""


@dataclass(frozen=True, slots=True, eq=False)
class ManagerEntered(StepEntry):
    """A generator that manages a ``with`` has been entered: the block runs at its yield."""

    manager: Frame


@dataclass(frozen=True, slots=True, eq=False)
class Failed(StepEntry):
    """An exception has been raised before what stands at the site, and is caught in a try.

    At the site of the try itself, its body has failed after all else in it.
    """

    turns: Iterations


@dataclass(frozen=True, slots=True, eq=False)
class Raised(StepEntry):
    """The program has raised an exception itself."""

    turns: Iterations
    """The iterations of the loops around it."""


@dataclass(frozen=True, slots=True, eq=False)
class Caught(StepEntry):
    """The handler of a try has been entered."""


def decisions_in(log: Iterable[LogEntry]) -> Iterator[Decided]:
    """The decisions among the entries of a log."""
    return (entry for entry in log if isinstance(entry, Decided))


def without_steps(log: Iterable[LogEntry]) -> list[LogEntry]:
    """The entries of a log that may explain a divergence."""
    return [entry for entry in log if not isinstance(entry, StepEntry)]


def first_decision(*logs: Iterable[LogEntry]) -> Decided | None:
    """The first decision in the first log that has one."""
    return next((entry for log in logs for entry in decisions_in(log)), None)
