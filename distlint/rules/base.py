"""What a rule is: a code, a name, a docstring, examples, and a check."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from distlint.source.finding import Explanation, Finding, Related

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.symbolic.state import Disagreement
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.catalogue.catalogue import Catalogue
    from distlint.fixers.draft import Draft
    from distlint.rules.settings import Page
    from distlint.source.document import Document
    from distlint.source.finding import Fix, Place, Severity


@dataclass(frozen=True, slots=True)
class Example:
    """A script that a rule reports (bad) or does not report (good).

    In a bad example the comment ``# expect: DST101`` marks each line that must be reported. An
    example is a whole script: run under ``torchrun`` (or the test harness) with ``ranks``
    processes on CPU, a bad one shows ``effect`` and a good one finishes. ``needs`` names the
    packages beyond torch without which it cannot run; ``effect="static"`` is for what only shows
    on other hardware or strategies, and then ``why_static`` says so.
    """

    title: str
    code: str
    ranks: int = 2
    effect: Literal["hang", "fail", "wrong data", "static", "finishes"] = "finishes"
    needs: tuple[str, ...] = ()
    why_static: str = ""
    file: str = "script.py"
    """What it is called: the name says what kind of document it is."""


class Rule:
    """A rule; one subclass per file, found by discovery. The docstring is the rule's page.

    The section ``## Fix safety`` of the docstring begins with "Safe:", "Unsafe:", "Shown only:" or,
    if there are no fixes, "None:", and gives the reason.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity | None] = None
    """None where each finding has its own: for witnesses, what it took to separate the ranks."""
    exceptions: ClassVar[tuple[Severity, ...]] = ()
    """Severities of some of its findings, of which the documentation says so."""
    preview: ClassVar[bool] = False
    good: ClassVar[tuple[Example, ...]] = ()
    bad: ClassVar[tuple[Example, ...]] = ()

    @classmethod
    def documentation(cls) -> str:
        """The docstring as Markdown: a summary line, then what it finds, why, and what to do."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        return cls.documentation().splitlines()[0]


class WitnessRule(Rule):
    """A rule of the family DST1xx: it claims witnesses of ranks that diverge.

    Each witness gets exactly one code. Rules are asked in the order of ``rank`` (most specific
    first) and the first that claims a witness reports it.
    """

    rank: ClassVar[int]

    def claims(self, witness: Witness) -> bool:
        """Is this the code for the witness?"""
        raise NotImplementedError

    def place(self, witness: Witness) -> Place:
        """Where the finding sits: at the exit that separated the ranks, else at the branch."""
        return witness.cause.exit_place or witness.cause.place

    def message(self, witness: Witness) -> str:
        """One sentence for the finding: which ranks do what."""
        raise NotImplementedError

    def help(self, witness: Witness) -> str:
        """What the author should do."""
        raise NotImplementedError

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        """The repair, composed in a fresh draft of the file that is being checked.

        Asked only when the ranks part in that file.

        Raises:
            CannotFix: if no edit is certain to be right; no fix is offered then.
        """
        return None


class SourceRule(Rule):
    """A rule about one module's source: it needs no ranks that diverge."""

    words: ClassVar[tuple[str, ...]] = ()
    """Text that a file holds if the rule has something to say about it.

    A rule of distlint is asked about every file that may be distributed; files that only use a
    framework are analysed as well if they hold a word of a rule. A rule of the user's own is asked
    about files that hold one of its words; () for all.
    """
    patterns: ClassVar[tuple[str, ...]] = ()
    """Of a rule of distlint: the same as regular expressions, where a word would be too common."""
    shared: ClassVar[tuple[str, ...]] = ()
    """Of a rule of distlint about what processes share: regular expressions for text of a file.

    The rule is asked about such a file also if only those that import it may be distributed.
    """

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        """The findings in a module."""
        raise NotImplementedError

    def finding(
        self,
        message: str,
        severity: Severity,
        place: Place,
        *,
        effect: str,
        help: str,
        related: tuple[Related, ...] = (),
        fix: Callable[[], Fix | None] | None = None,
    ) -> Finding:
        """What the rule says about a place: no lanes of ranks, nothing that was decided.

        ``fix`` composes the repair; it may raise ``CannotFix``, and no fix is offered then.
        """
        return Finding(
            code=self.code,
            name=self.name,
            message=message,
            severity=severity,
            place=place,
            related=related,
            explanation=Explanation(common=None, lanes=(), decisions=(), effect=effect, help=help),
            fix=composed(fix) if fix is not None else None,
        )


def composed(fix: Callable[[], Fix | None]) -> Fix | None:
    """The fix that a function composes, or None where it is in doubt."""
    from distlint.fixers.draft import CannotFix  # loads libcst, which `distlint rule` does not need

    try:
        return fix()
    except CannotFix:
        return None


class AgreementRule(Rule):
    """A rule about arguments that have to be the same on all ranks, where nothing communicates."""

    def check(self, found: Iterable[Disagreement], locators: Locators) -> Iterable[Finding]:
        """The findings about rank-local arguments, as the analysis of the entry points saw them."""
        raise NotImplementedError


class SettingsRule(Rule):
    """A rule about how a training is configured and started, in whatever kind of document."""

    def check(self, page: Page) -> Iterable[Finding]:
        """The findings in a document."""
        raise NotImplementedError

    def finding(
        self,
        page: Page,
        message: str,
        severity: Severity,
        bounds: tuple[int, int],
        *,
        effect: str,
        help: str,
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
        preview: bool = False,
    ) -> Finding:
        """What the rule says about a stretch of the document."""
        return Finding(
            code=self.code,
            name=self.name,
            message=message,
            severity=severity,
            place=page.sheet.place(*bounds),
            related=related,
            explanation=Explanation(common=None, lanes=(), decisions=(), effect=effect, help=help),
            fix=fix,
            preview=preview,
        )


def related(label: str, site: CallSite, locators: Locators) -> Related:
    """A call that belongs to a finding, in whatever file it stands."""
    return Related(label, locators.of(site.point.scope.module.key).place(site.call.site))
