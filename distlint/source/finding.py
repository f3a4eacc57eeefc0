"""What a rule reports: plain data, shared by every layer and cheap to import."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal


class Severity(Enum):
    """How much a finding matters; ordered, so that ``--fail-on`` can compare."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def weight(self) -> int:
        return ("info", "warning", "error").index(self.value)

    @property
    def lower(self) -> Severity:
        """The next lower one, if there is one."""
        return Severity.WARNING if self is Severity.ERROR else Severity.INFO


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a file: rows and columns from 1, columns in code points, ends exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A span in a file; in a notebook that of a cell, which is counted from 1 (0: no notebook)."""

    path: Path
    span: Span
    cell: int = 0


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding, and what it has to do with it."""

    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a group of ranks does, such as issuing a collective."""

    text: str
    place: Place | None = None
    is_collective: bool = False
    """Does the group wait here for the other ranks?"""


@dataclass(frozen=True, slots=True)
class Lane:
    """What one group of ranks does from the last common collective on."""

    ranks: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition on the way to the divergence, and what each group of ranks made of it."""

    text: str
    outcome: str
    kind: Literal["rank predicate", "rank-local value", "failure path", "assumed"]
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why ranks part ways: the last common collective, a lane for each group, the decisions."""

    common: Step | None
    lanes: tuple[Lane, ...]
    decisions: tuple[Decision, ...]
    effect: str
    help: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of a span; in a notebook, of a cell."""

    span: Span
    content: str
    cell: int = 0


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair: edits that belong together."""

    applicability: Literal["safe", "unsafe", "displayonly"]
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What became of a script that shows a reported hang: it hangs, or it does not."""

    verdict: Literal["confirmed", "not confirmed", "no script"]
    reason: str
    """Where the ranks were in the end, or why there is no script."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem in one file."""

    code: str
    name: str
    message: str
    severity: Severity
    place: Place
    related: tuple[Related, ...] = ()
    explanation: Explanation | None = None
    fix: Fix | None = None
    preview: bool = False
    """Does it rest on what is seldom so, and is shown only when asked for?"""
    moved_from: Place | None = None
    """Where the cause is, if that is in another file; the place is the call that leads there."""
    confirmation: Confirmation | None = None
    """Of a hang, if a script was run to show it."""

    @property
    def title(self) -> str:
        """The message, and what a script has shown."""
        if self.confirmation is None or self.confirmation.verdict == "no script":
            return self.message
        return f"{self.message} ({self.confirmation.verdict})"

    @property
    def sort_key(self) -> tuple[Path, int, Span, str, str]:
        place = self.place
        return (place.path, place.cell, place.span, self.code, self.message)


@dataclass(frozen=True, slots=True)
class Meeting:
    """Collectives of different places in which two ranks meet; no finding by itself."""

    ops: tuple[str, str]
    paths: tuple[tuple[Place, ...], tuple[Place, ...]]
    """The calls that lead to each collective, the outermost first, and its own."""
    is_misplaced: bool
    """Has one of the ranks been at the place of the other, and met it elsewhere?"""


def is_plural(ranks: str) -> bool:
    """Does a name of some ranks take a verb in the plural?"""
    return ranks.startswith(("ranks ", "the other ", "all "))


def waiting(ranks: str) -> str:
    """``rank 0 waits``, ``the other ranks wait``"""
    return f"{ranks} {'wait' if is_plural(ranks) else 'waits'}"
