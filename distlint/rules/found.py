"""What rules answer: findings, and which of the rules raised instead."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from distlint.analyzer.ir.errors import Unplaced
from distlint.rules.base import Rule
from distlint.source.finding import Finding, Meeting
from distlint.source.incomplete import Incomplete
from distlint.source.paths import display


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that raised in place of an answer."""

    rule: type[Rule]
    error: Exception

    @property
    def message(self) -> str:
        """What was raised, and on which line of the rule's own file."""
        file = getattr(sys.modules.get(self.rule.__module__), "__file__", None)
        frames = traceback.extract_tb(self.error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == file]
        where = f" at {display(Path(file))}:{lines[-1]}" if file and lines else ""
        first = str(self.error).partition("\n")[0]
        what = f"{type(self.error).__name__}: {first}" if first else type(self.error).__name__
        return f"the rule {self.rule.code} ({self.rule.name}) raised {what}{where}"

    @property
    def detail(self) -> str:
        return "".join(traceback.format_exception(self.error))


@dataclass
class Found:
    """The findings of some rules in a document, and how many roots were given up on."""

    findings: list[Finding] = field(default_factory=list)
    over_budget: int = 0
    roots: int = 0
    incomplete: list[Incomplete] = field(default_factory=list)
    """The entry points of which not all was analysed."""
    problems: list[Problem] = field(default_factory=list)
    meetings: list[Meeting] = field(default_factory=list)
    """Where ranks meet in collectives of different places, if that was asked for."""

    def asked(self, rule: Rule, answer: Callable[[], Iterable[Finding]]) -> list[Finding]:
        """The findings of a rule; if it raises, that is recorded and the other rules still run."""
        try:
            return [_checked(rule, finding) for finding in answer()]
        except Unplaced:  # which is not the rule's fault
            raise
        except Exception as error:
            self.problems.append(Problem(type(rule), error))
            return []


def _checked(rule: Rule, finding: Finding) -> Finding:
    if not isinstance(finding, Finding) or finding.code != rule.code:
        raise TypeError(f"returned {finding!r} instead of a finding of {rule.code}")
    return finding
