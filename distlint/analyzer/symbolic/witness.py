"""A witness: two groups of ranks that come to different collectives, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from distlint.source.finding import Decision, Place, Step, waiting

CauseKind = Literal["rank", "local", "exception", "loop", "state", "order"]
ExitKind = Literal["return", "break", "continue", "sys.exit", "should_stop"]


@dataclass(frozen=True, slots=True)
class EventFact:
    """A collective that one side comes to."""

    op: str
    kind: str
    entry: str
    text: str
    place: Place
    group: str = ""
    site: int = 0


@dataclass(frozen=True, slots=True)
class CauseFact:
    """The decision that separated the ranks."""

    kind: CauseKind
    text: str
    place: Place
    exit: ExitKind | None = None
    exit_place: Place | None = None
    in_loop: bool = False
    site: int = 0
    exit_site: int | None = None
    """Where the node of the exit is found, in the file of ``exit_place``."""
    written: Place | None = None
    """Where only some ranks wrote the variable that the condition reads."""


@dataclass(frozen=True, slots=True)
class Witness:
    """What a rule of the family DST1xx is asked about."""

    first: EventFact | None
    second: EventFact | None
    ranks: tuple[str, str]
    cause: CauseFact
    common: Step | None
    steps: tuple[tuple[Step, ...], tuple[Step, ...]]
    decisions: tuple[Decision, ...]
    subject: EventFact | None = None
    """The collective that one side alone comes to, as far as that can be told."""
    region: str | None = None
    """Name of the context manager that lets one rank go first."""
    region_event: EventFact | None = None
    """The collective inside that region."""
    local: bool = False
    weak: bool = False
    failure: bool = False
    conditional: tuple[str, ...] = ()
    same_event_arguments: str | None = None
    call_place: Place | None = None
    """Where the root calls into the function of the cause, when that lies in another file."""

    @property
    def weight(self) -> tuple[int, ...]:
        """What makes a witness less telling than another: the smaller, the better."""
        return (bool(self.conditional), self.failure, self.weak, self.local, len(self.decisions))

    @property
    def effect(self) -> str:
        """What happens when the job runs."""
        if self.same_event_arguments is not None:
            return "the ranks wait for each other in the same call, or exchange wrong data"
        first, second = self.first, self.second
        if first is not None and second is not None:
            return f"{waiting(self.ranks[0])} in {first.op}, {self.ranks[1]} in {second.op}"
        event = first or second
        ranks = self.ranks[0] if first is not None else self.ranks[1]
        op = event.op if event is not None else "a collective"
        return f"{waiting(ranks)} in {op} until the timeout"
