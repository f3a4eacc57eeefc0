"""From a document to findings: compare its ranks, and let the rules name what came out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial

from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.project.project import Project
from distlint.analyzer.static.guards import guards
from distlint.analyzer.static.objects import objects
from distlint.analyzer.symbolic.crossings import Crossing, Sites
from distlint.analyzer.symbolic.entry_points import EntryPointAnalysis
from distlint.analyzer.symbolic.explanation import witness_of
from distlint.analyzer.symbolic.incomplete import incomplete
from distlint.analyzer.symbolic.proofs import Proof
from distlint.analyzer.symbolic.witness import Witness
from distlint.fixers import draft as drafts
from distlint.fixers.draft import Draft
from distlint.rules.base import AgreementRule, Rule, SourceRule, WitnessRule, composed
from distlint.rules.collectives._issued import issued
from distlint.rules.found import Found
from distlint.rules.registry import rules
from distlint.rules.table import INCOMPLETE_ANALYSIS
from distlint.source.document import Document
from distlint.source.finding import (
    Explanation,
    Finding,
    Fix,
    Lane,
    Meeting,
    Place,
    Related,
    Severity,
)


def find(
    document: Document,
    project: Project,
    own: Sequence[Rule] = (),
    *,
    off: Collection[str] = (),
    distributed: bool = True,
) -> Found:
    """All findings of the rules in a document: see ``Search``.

    Raises:
        ParseError: if the document is no Python.
    """
    return project.placing(
        lambda: Search(document, project, own, off=off, distributed=distributed).found()
    )


def forget(projects: Iterable[Project] = ()) -> None:
    """Drop the trees of the last files, and what was found out about them."""
    drafts.forget()
    guards.forget()
    objects.forget(projects)
    issued.cache_clear()


class Search:
    """The rules at work on one document.

    Args:
        document: what is to be checked.
        project: where its imports are found.
        own: rules of the user's own, which are asked first.
        off: codes of rules that are not asked. Ranks are compared only for one that is.
        distributed: may ranks diverge in it? If not, only the user's own rules are asked,
        shared: and those of these codes, if other files may run it on several ranks.
        notes_meetings: are the collectives of different places in which ranks meet of interest?

    Raises:
        ParseError: if the document is no Python.
    """

    def __init__(
        self,
        document: Document,
        project: Project,
        own: Sequence[Rule] = (),
        *,
        off: Collection[str] = (),
        distributed: bool = True,
        shared: Collection[str] = (),
        notes_meetings: bool = False,
    ) -> None:
        self.document = document
        self.project = project
        self.own = own
        self.off = off
        self.distributed = distributed
        self.shared = shared
        self.module = project.add(document)
        self.catalogue = project.catalogue_of(self.module)
        self.locators = Locators(project.read, project.sites)
        self.locators.add(document)
        self.notes_meetings = notes_meetings
        self.proofs: dict[tuple[str, Place], Proof] = {}
        """What the findings of the witness rules rest on, by code and place."""
        self._crossings: list[Crossing] = []

    def found(self, compared: Found | None = None) -> Found:
        """All findings; what comparing the ranks has found may be given."""
        compared = compared or self.compared
        proven = {(finding.code, finding.place) for finding in compared.findings}
        in_source = [
            finding
            for finding in self.in_source.findings
            if (finding.code, finding.place) not in proven
        ]
        return Found(
            sorted([*compared.findings, *in_source], key=lambda finding: finding.sort_key),
            compared.over_budget,
            compared.roots,
            compared.incomplete,
            [*compared.problems, *self.in_source.problems],
        )

    def meetings(self) -> list[Meeting]:
        """Where ranks were found to meet in collectives of different places, once each."""
        found = [(each.ops, each.sites, each.is_misplaced) for each in self._crossings]
        return [
            Meeting(ops, (self._placed(first), self._placed(second)), is_misplaced)
            for ops, (first, second), is_misplaced in dict.fromkeys(found)
        ]

    def _placed(self, sites: Sites) -> tuple[Place, ...]:
        return tuple(self.locators.of(module).place(site) for module, site in sites)

    @cached_property
    def compared(self) -> Found:
        """What the rules about ranks that diverge say."""
        found = Found()
        own = (rule for rule in self.own if isinstance(rule, WitnessRule))
        chain = (*own, *witness_rules())
        about_arguments = (rule.code for rule in agreement_rules())
        asked = {INCOMPLETE_ANALYSIS, *about_arguments, *(rule.code for rule in chain)}
        asked -= {*self.off}
        if not self.distributed or not asked:
            return found
        analysis = EntryPointAnalysis(
            self.project,
            self.catalogue,
            self.module,
            self.project.world,
            notes_crossings=self.notes_meetings,
        )
        outcome = analysis.run()
        self._crossings = outcome.crossings
        found.over_budget, found.roots = outcome.over_budget, outcome.roots
        found.incomplete = list(incomplete(outcome, self.module, self.locators))
        witnesses = _distinct(outcome.proofs, self.locators, self.module.key)
        locator = self.locators.of(self.module.key)
        draft = partial(Draft, locator, self.module, self.catalogue)
        named: list[Finding] = []
        for witness, proof in witnesses:
            for finding in _named(witness, self.document, draft, chain, found):
                named.append(finding)
                self.proofs.setdefault((finding.code, finding.place), proof)
        found.findings = _merged(named)
        own_disagreements = [
            each for each in outcome.disagreements.values() if each.module == self.module.key
        ]
        for agreement_rule in agreement_rules():
            if own_disagreements and agreement_rule.code not in self.off:
                check = partial(agreement_rule.check, own_disagreements, self.locators)
                found.findings += found.asked(agreement_rule, check)
        return found

    @cached_property
    def in_source(self) -> Found:
        """What the rules about the source say."""
        found = Found()
        asked = [rule for rule in self.own if isinstance(rule, SourceRule)]
        ours = [rule for rule in source_rules() if self.distributed or rule.code in self.shared]
        for rule in (*asked, *ours):
            if self.project.proceed is not None:
                self.project.proceed()
            if rule.code not in self.off:
                check = partial(
                    rule.check, self.document, self.module, self.catalogue, self.locators
                )
                found.findings += found.asked(rule, check)
        return found


@lru_cache(maxsize=1)
def witness_rules() -> tuple[WitnessRule, ...]:
    """The rules of the family DST1xx, the most specific first."""
    found = [rule() for rule in rules().values() if issubclass(rule, WitnessRule)]
    return tuple(sorted(found, key=lambda rule: rule.rank))


@lru_cache(maxsize=1)
def agreement_rules() -> tuple[AgreementRule, ...]:
    return tuple(rule() for rule in rules().values() if issubclass(rule, AgreementRule))


@lru_cache(maxsize=1)
def source_rules() -> tuple[SourceRule, ...]:
    return tuple(rule() for rule in rules().values() if issubclass(rule, SourceRule))


def _distinct(
    proofs: Iterable[Proof], locators: Locators, main: str
) -> list[tuple[Witness, Proof]]:
    """One witness for each deciding place and pair of collectives, the simplest one."""
    found: dict[object, tuple[Witness, Proof]] = {}
    for proof in sorted(
        proofs, key=lambda proof: (len(proof.divergence.assumed), proof.divergence.serial)
    ):
        witness = witness_of(proof, locators, main)
        if witness is None:
            continue
        key = (witness.cause.place, witness.cause.exit_place)
        known = found.get(key)
        if known is None or witness.weight < known[0].weight:
            found[key] = witness, proof
    witnesses = [witness for witness, _ in found.values()]
    mixed = {w.first.place for w in witnesses if w.first and w.same_event_arguments == "group"}
    # one mismatch of groups is not told once more as a call that other ranks lack
    return [
        (witness, proof)
        for witness, proof in found.values()
        if witness.same_event_arguments
        or witness.subject is None
        or witness.subject.place not in mixed
    ]


def _named(
    witness: Witness,
    document: Document,
    draft: Callable[[], Draft],
    chain: Iterable[WitnessRule],
    found: Found,
) -> Iterable[Finding]:
    """The finding of the first rule that claims a witness."""
    for rule in chain:
        findings = found.asked(rule, partial(_claimed, rule, witness, document, draft))
        if findings:
            return findings
    return ()


def _claimed(
    rule: WitnessRule, witness: Witness, document: Document, draft: Callable[[], Draft]
) -> Iterable[Finding]:
    if not rule.claims(witness):
        return
    finding = _finding(rule, witness, document)
    if witness.cause.place.path == finding.place.path == document.path:
        fix = _fix_of(rule, witness, draft)
        if fix is not None and (witness.weak or witness.failure):  # seldom so: a reader decides
            fix = replace(fix, applicability="displayonly")
        finding = replace(finding, fix=fix)
    yield finding


def _fix_of(rule: WitnessRule, witness: Witness, draft: Callable[[], Draft]) -> Fix | None:
    return composed(lambda: rule.fix(witness, draft()))


def _finding(rule: WitnessRule, witness: Witness, document: Document) -> Finding:
    place = rule.place(witness)
    related = tuple(_related(witness, place))
    finding = Finding(
        code=rule.code,
        name=rule.name,
        message=rule.message(witness),
        severity=severity_of(witness),
        place=place,
        related=related,
        explanation=Explanation(
            common=witness.common,
            lanes=tuple(
                Lane(name, steps) for name, steps in zip(witness.ranks, witness.steps, strict=True)
            ),
            decisions=witness.decisions,
            effect=witness.effect,
            help=rule.help(witness),
        ),
        # files that are there on one node only, other data on ranks that share a model: seldom so
        preview=witness.weak,
    )
    return _moved(finding, witness, document)


def severity_of(witness: Witness) -> Severity:
    """Error for rank predicates alone, warning for rank-local values, info for the rest."""
    if witness.conditional or witness.weak or witness.failure:
        return Severity.INFO
    return Severity.WARNING if witness.local else Severity.ERROR


def _related(witness: Witness, place: Place) -> Iterable[Related]:
    for event, ranks in ((witness.first, witness.ranks[0]), (witness.second, witness.ranks[1])):
        if event is not None and event.place != place:
            yield Related(f"{event.op} on {ranks}", event.place)
    if witness.cause.written is not None:
        yield Related("written on some ranks only", witness.cause.written)
    for decision in witness.decisions:
        if decision.place is not None and decision.place != place:
            yield Related(f"{decision.text}: {decision.outcome}", decision.place)


def _moved(finding: Finding, witness: Witness, document: Document) -> Finding:
    """A finding in a file that is not being checked moves to the call in the one that is."""
    if finding.place.path == document.path or witness.call_place is None:
        return finding
    there = Related(f"ranks diverge here: {witness.cause.text}", finding.place)
    return replace(
        finding,
        place=witness.call_place,
        related=(there, *finding.related),
        moved_from=finding.place,
    )


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Several roots that lead to the same place under one code are one finding.

    What follows from an exception that is swallowed is not told beside the handler itself.
    """
    found: dict[tuple[str, Place], Finding] = {}
    for finding in findings:
        found.setdefault((finding.code, finding.place), finding)
    places = {place for _, place in found}
    for key, finding in sorted(found.items(), key=lambda item: item[1].sort_key, reverse=True):
        decisions = finding.explanation.decisions if finding.explanation else ()
        if any(
            decision.kind == "failure path"
            and decision.place in places
            and decision.place != finding.place
            for decision in decisions
        ):  # of two of which each comes with the other, the first is told
            del found[key]
            places = {place for _, place in found}
    return list(found.values())
