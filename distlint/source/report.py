"""What a run hands to the outside: findings with what is needed to print them, and notices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from distlint.source.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class RuleText:
    """What a rule says about itself; ``documentation`` is Markdown."""

    code: str
    name: str
    summary: str
    documentation: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Source lines around a place, ``first_row`` being the row of the first of them."""

    first_row: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding, its source lines, and the row on which a comment would suppress it."""

    finding: Finding
    frame: Frame | None
    noqa_row: int | None
    fails: bool
    proposed: tuple[str, ...] = ()
    """The lines of a diff that shows what the fix would do."""
    is_selected: bool = True
    """Is its rule selected? Without that it is told in the closing note alone."""
    entry_point: str = ""
    """Of which the analysis is incomplete, if that is what it says."""


@dataclass(frozen=True, slots=True)
class Round:
    """Fixes that were applied together, and the text that they were made for."""

    text: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """What fixes make of a file; ``cells`` are the ones of a notebook that change."""

    path: Path
    before: str
    after: str
    rounds: tuple[Round, ...]
    cells: tuple[tuple[int, str, str], ...] = ()

    @property
    def applied(self) -> tuple[tuple[str, str], ...]:
        """The code and name of each finding whose fix was applied, in that order."""
        return tuple((found.code, found.name) for each in self.rounds for found in each.findings)


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the user about a path (or about the run) that is no finding.

    ``failed`` makes the run end with status 2, the others do not. ``detail`` is for ``--verbose``.
    """

    kind: Literal["failed", "warning", "skipped", "nothing"]
    message: str
    path: Path | None = None
    detail: str = ""


CommentKey = tuple[Path, int, int]
"""A code in a suppression comment: the file, the row and the column."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A finding about a comment, void when another part of the run uses one of its codes."""

    item: Reported
    unless_used: frozenset[CommentKey]


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run, in a deterministic order; ``roots`` counts the entry points."""

    reported: tuple[Reported, ...]
    notices: tuple[Notice, ...]
    checked: int
    skipped: int
    suppressed: int
    over_budget: int
    roots: int
    files: tuple[Path, ...] = ()
    """The files that were checked."""
    noted: tuple[Reported, ...] = ()
    """What is incomplete in the analysis, where that was not selected by name."""
    tolerated: int = 0
    """Findings that are left out because a baseline holds them."""
    undecided: tuple[Undecided, ...] = ()
    used: frozenset[CommentKey] = frozenset()
    """The codes in comments that had something to suppress."""
    shard: tuple[int, int] | None = None
    """Which part of a run this is the report of, and of how many."""

    @property
    def failed(self) -> bool:
        return any(notice.kind == "failed" for notice in self.notices)

    @property
    def fails(self) -> bool:
        return any(item.fails for item in self.reported)

    @property
    def listed(self) -> tuple[Reported, ...]:
        """All that is reported to programs: the findings, and where the analysis is incomplete."""
        noted = [item for item in self.noted if item.is_selected]
        if not noted:
            return self.reported
        return tuple(sorted([*self.reported, *noted], key=lambda item: item.finding.sort_key))

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(item.finding for item in self.reported)

    def fixable(self, applicability: str) -> int:
        """How many of the findings have a fix of this kind."""
        fixes = (finding.fix for finding in self.findings)
        return sum(fix is not None and fix.applicability == applicability for fix in fixes)

    def by_severity(self) -> Counter[Severity]:
        return Counter(finding.severity for finding in self.findings)
