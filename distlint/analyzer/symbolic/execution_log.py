"""What a rank has decided and done in a replay, in order: explanations are made of it."""

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


def decisions_in(log: Iterable[LogEntry]) -> Iterator[Decided]:
    """The decisions among the entries of a log."""
    return (entry for entry in log if isinstance(entry, Decided))


def first_decision(*logs: Iterable[LogEntry]) -> Decided | None:
    """The first decision in the first log that has one."""
    return next((entry for log in logs for entry in decisions_in(log)), None)
