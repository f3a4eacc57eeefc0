"""What each group of ranks does from the start of a script or function to its end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from distlint.source.finding import Decision, Step
from distlint.source.incomplete import Reason


@dataclass(frozen=True, slots=True)
class Trace:
    """One entry point, executed symbolically: a lane for each group of ranks that behaves alike.

    Each row holds what the lanes do at the same point, one cell a lane, None where a lane does
    nothing. ``divergence`` is the first row whose cells do not match.
    """

    path: Path
    function: str | None
    lanes: tuple[str, ...]
    rows: tuple[tuple[Step | None, ...], ...]
    divergence: int | None
    decisions: tuple[Decision, ...] = ()
    effect: str = ""
    incomplete: tuple[Reason, ...] = ()
    """Why the ranks may part elsewhere, on paths that were not compared."""

    @property
    def complete(self) -> bool:
        return not self.incomplete

    @property
    def aligned(self) -> bool:
        return self.divergence is None
