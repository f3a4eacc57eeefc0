"""The answer to what happened to a job, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from distlint.diagnose.events import Frame
from distlint.diagnose.lines import Time


@dataclass(frozen=True)
class Quote:
    """A line of a log, and where it stands."""

    text: str
    source: str
    line: int
    rank: int | None = None


@dataclass(frozen=True)
class Waiting:
    """Ranks that stand in the same collective."""

    what: str
    ranks: tuple[int, ...]
    group: str = ""
    number: int | None = None
    place: Frame | None = None


@dataclass(frozen=True)
class Doing:
    """What a rank was doing, as far as the logs tell."""

    rank: int
    last: Quote | None = None
    time: Time | None = None
    place: Frame | None = None
    said: str = ""


@dataclass(frozen=True)
class Seen:
    """A message that is not the cause, and on which ranks."""

    id: str
    title: str
    meaning: str
    ranks: tuple[int, ...]
    count: int
    quote: Quote
    level: str
    help: str = ""
    rules: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cause:
    """What it is all about."""

    id: str
    title: str
    ranks: tuple[int, ...] = ()
    meaning: str = ""
    help: str = ""
    quotes: tuple[Quote, ...] = ()
    place: Frame | None = None
    sure: bool = True
    rules: tuple[str, ...] = ()
    utilities: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    level: str = "error"


@dataclass
class Diagnosis:
    """The answer."""

    cause: Cause | None = None
    waiting: tuple[Waiting, ...] = ()
    doing: tuple[Doing, ...] = ()
    also: tuple[Seen, ...] = ()
    consequences: tuple[Seen, ...] = ()
    notices: tuple[Seen, ...] = ()
    invented: tuple[Seen, ...] = ()
    exits: tuple[tuple[int, str], ...] = ()
    size: int = 0
    notes: tuple[str, ...] = ()
    lines: int = 0
    bytes: int = 0
    names: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = field(default=())
    """The user's own lines that are named, for the rules to be compared with."""

    @property
    def level(self) -> str:
        """The gravest thing found: ``error``, ``warning``, ``info`` or nothing."""
        if self.cause is not None:
            return self.cause.level
        levels = {each.level for each in (*self.notices, *self.invented)}
        return next((level for level in ("error", "warning", "info") if level in levels), "")
