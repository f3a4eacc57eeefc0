"""What was found in logs, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from distlint.diagnose.lines import Time
from distlint.diagnose.signatures import Signature

if TYPE_CHECKING:
    from distlint.diagnose.watch import Table


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a traceback."""

    file: str
    line: int
    function: str
    code: str = ""

    @property
    def library(self) -> bool:
        """Is this the code of an installed package, or of Python?"""
        return (
            "site-packages" in self.file
            or "dist-packages" in self.file
            or "/lib/python" in self.file
            or self.file.startswith("<")
            or ("/bin/" in self.file and not self.file.endswith(".py"))  # torchrun and the like
        )


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who wrote a line, as far as the line and its file tell."""

    source: int
    rank: int | None = None
    local: int | None = None
    writer: str = ""


@dataclass(slots=True)
class Event:
    """A message, once for each speaker; ``signature`` is None for an exception of no entry."""

    signature: Signature | None
    speaker: Speaker
    source: int
    line: int
    order: int
    text: str
    groups: dict[str, str] = field(default_factory=dict)
    time: Time | None = None
    group: str = ""
    exception: str = ""
    frames: tuple[Frame, ...] = ()
    count: int = 1
    rank: int | None = None
    """Set when all has been read."""

    @property
    def role(self) -> str:
        return self.signature.role if self.signature else "cause"

    @property
    def place(self) -> Frame | None:
        """The innermost line of the user's own code."""
        return next((frame for frame in reversed(self.frames) if not frame.library), None)


@dataclass(slots=True)
class Exit:
    """How a process ended, as a launcher tells it."""

    speaker: Speaker
    code: int | None
    words: str = ""
    first: bool = False
    """Is it what torchrun calls the root cause?"""
    line: int = 0
    text: str = ""
    rank: int | None = None


@dataclass(slots=True)
class Progressed:
    """How far a rank had come in a process group, as its watchdog tells it."""

    speaker: Speaker
    enqueued: int
    completed: int
    group: str = ""
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Last:
    """The last line of a rank."""

    source: int
    line: int
    raw: bytes


@dataclass
class Collected:
    """All that was found in all sources."""

    events: list[Event] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    progressed: list[Progressed] = field(default_factory=list)
    last: dict[Speaker, Last] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    """Those of the collective watch."""
    files: list[Speaker] = field(default_factory=list)
    """The ranks that have a file of their own, though it may be empty."""
    names: list[str] = field(default_factory=list)
    homes: list[str] = field(default_factory=list)
    """What tells nodes apart, by source: the folder of torchrun, or the source itself."""
    ranks: dict[tuple[str, int], int] = field(default_factory=dict)
    """The global rank of a local one on its node, where a line told both."""
    writers: dict[str, int] = field(default_factory=dict)
    """The rank of a process (``host:pid``), where a line told both."""
    size: int = 0
    """The world size that the logs tell, 0 if they do not."""
    lines: int = 0
    bytes: int = 0
    notes: list[str] = field(default_factory=list)
    dropped: int = 0
