"""From a checked file to the scripts that show that its hangs are gone after ``distlint fix``.

The fixes are applied to the text in memory, and the new program is executed as the old one was: by
the same ranks, each of which decides at each place as it did in the replay that got stuck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.ir.errors import Unplaced
from distlint.analyzer.ir.positions import Locator
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.cluster import NeedBiggerCluster
from distlint.analyzer.symbolic.context import DEEP, ExecutionContext
from distlint.analyzer.symbolic.divergence import Divergence
from distlint.analyzer.symbolic.entry_points import EntryPointAnalysis
from distlint.analyzer.symbolic.execution_log import Exited, Raised
from distlint.analyzer.symbolic.proofs import Proof
from distlint.analyzer.symbolic.rank_execution import DecisionOracle, DecisionPoint, answered
from distlint.analyzer.symbolic.replay import rerun
from distlint.analyzer.symbolic.starting_states import entry_of, start_of
from distlint.analyzer.symbolic.state import OverBudget, Stop
from distlint.confirm.collectives import CannotWrite
from distlint.confirm.reproducers import FROM_SOURCE, Reproducer, script_at, script_of
from distlint.confirm.script import Heading, Script
from distlint.engine.check import Session
from distlint.engine.fix import repair_bytes
from distlint.engine.moves import EditMoves
from distlint.engine.settings import Resolver, Settings
from distlint.rules.find import Search, witness_rules
from distlint.source.document import Document
from distlint.source.edits import Lines
from distlint.source.finding import Finding, Place
from distlint.source.report import Report, Reported

NO_FIX = "it has no fix"
UNSAFE = "its fix is unsafe: add --unsafe-fixes"
TOO_MUCH = "the fixed source is too much to be executed to its end"
LEFT = "it is still there after all fixes"

NOWHERE = Divergence((0, 1), (None, None), {}, 0)

BUDGET = 60_000
"""Work that may go into executing a fixed program."""

Decided = dict[int, dict[DecisionPoint, bool]]
"""How each rank has answered where."""

Spot = tuple[int, str, int]
"""Where a node begins, its type, and its number among those of this type that begin there."""


def repaired_in(path: Path, resolver: Resolver, unsafe: bool | None) -> list[Reproducer]:
    """The same as ``repaired`` for a file, which stays as it is.

    Raises:
        ConfigError: if the file cannot be read or parsed, or is a notebook.
    """
    with script_at(path) as document:
        return repaired(document, resolver, resolver.of_file(path), unsafe)


def repaired(
    document: Document, resolver: Resolver, settings: Settings, unsafe: bool | None
) -> list[Reproducer]:
    """A script of the fixed program for each hang that is reported in a document.

    Args:
        document: the script as it is now; no file is written.
        unsafe: apply fixes that are unsafe as well; None leaves it to the configuration.

    Raises:
        DocumentError: if the document is no Python.
    """
    session = Session(resolver)
    search, reported = session.proven(document, settings)
    proofs = {each: search.proofs.get((each.code, each.place)) for each in reported}
    # before the next analysis, which lets go of the values
    decided = {each: _decided(proof) for each, proof in proofs.items() if proof is not None}
    moves, fixed = _fixed(document, reported, resolver, unsafe)
    session.forget(document.path)
    after, left = session.proven(fixed, settings)
    still = {(each.code, _offset(each.place, fixed)) for each in left}
    about_hangs = {rule.code for rule in witness_rules()}
    found = []
    for finding, proof in proofs.items():
        if proof is None:
            found += [Reproducer(finding, reason=FROM_SOURCE)] * (finding.code in about_hangs)
        elif (finding.code, _moved(_offset(finding.place, document), moves)) in still:
            found.append(Reproducer(finding, reason=_why_left(finding, settings, unsafe)))
        else:
            write = partial(_reproducer, finding, proof, decided[finding], (search, after), moves)
            found.append(after.project.placing(write))
    return found


def _decided(proof: Proof) -> Decided:
    return {trace.rank: answered(trace) for trace in proof.traces}


def _fixed(
    document: Document, reported: Sequence[Finding], resolver: Resolver, unsafe: bool | None
) -> tuple[list[EditMoves], Document]:
    """The fixed document, and the edits that lead to it one after the other."""
    items = tuple(Reported(finding, None, None, fails=False) for finding in reported)
    report = Report(items, (), 1, 0, 0, 0, 0, (document.path,))
    data, repairs = repair_bytes(document.data, document.path, report, resolver, unsafe=unsafe)
    moves = []
    for each in repairs.files[0].rounds if repairs.files else ():
        fixes = (finding.fix for finding in each.findings if finding.fix is not None)
        edits = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
        moves.append(EditMoves(replace(document, text=each.text), edits))
    return moves, Document.from_bytes(data, document.path)


def _offset(place: Place, document: Document) -> int | Place:
    """Where a place begins; in another file, the place itself."""
    if place.path != document.path:
        return place
    return Lines(document.text).offset(place.span.row, place.span.column)


def _moved(offset: int | Place, moves: Sequence[EditMoves]) -> int | Place:
    if isinstance(offset, int):
        for each in moves:
            offset = each.moved(offset)
    return offset


def _why_left(finding: Finding, settings: Settings, unsafe: bool | None) -> str:
    if finding.fix is None:
        return NO_FIX
    allowed = settings.unsafe_fixes if unsafe is None else unsafe
    return UNSAFE if finding.fix.applicability == "unsafe" and not allowed else LEFT


def _reproducer(
    finding: Finding,
    proof: Proof,
    decided: Decided,
    searches: tuple[Search, Search],
    moves: Sequence[EditMoves],
) -> Reproducer:
    try:
        return Reproducer(finding, _script(finding, proof, decided, searches, moves))
    except CannotWrite as why:
        return Reproducer(finding, reason=str(why))
    except Unplaced:
        return Reproducer(finding, reason="a file on the way cannot be read")


def _script(
    finding: Finding,
    proof: Proof,
    decided: Decided,
    searches: tuple[Search, Search],
    moves: Sequence[EditMoves],
) -> Script:
    """What the ranks of the fixed program do where those of the old one got stuck.

    Raises:
        CannotWrite: if it has no counterpart in a script, or does not come to its end.
    """
    before, after = searches
    ways = _Ways(before, after, moves)
    root = None if proof.root is None else ways.function(proof.root)
    if root is None and proof.root is not None:
        raise CannotWrite("the function is another one after the fixes")
    analysis = EntryPointAnalysis(after.project, after.catalogue, after.module, after.project.world)
    context = analysis.prepared(proof.cluster.nodes, proof.cluster.local)
    try:
        moved = ways.decided(decided)
        guides = [DecisionOracle(moved, leaves=leaves) for leaves in (False, True)]
        return _rerun(finding, context, root, guides, after)
    except NeedBiggerCluster:
        raise CannotWrite("the fixed source needs more ranks") from None
    except OverBudget:
        raise CannotWrite(TOO_MUCH) from None
    finally:
        analysis.leave()


def _rerun(
    finding: Finding,
    context: ExecutionContext,
    root: ir.Function | None,
    guides: Iterable[DecisionOracle],
    after: Search,
) -> Script:
    v.forget()
    context.begin_root(DEEP, BUDGET, is_script=root is None)
    start = start_of(context, root)
    for guide in guides:
        traces, waits = rerun(context, start, guide)
        for event in waits:
            row = after.locators.of(event.module).place(event.site).span.row
            raise CannotWrite(f"without it, ranks get stuck in line {row} of the fixed source")
        if not any(each.is_cut or each.ended is Stop.ABORT for each in traces):
            proof = Proof(NOWHERE, traces, context.cluster, root, entry_of(start))
            heading = Heading("after its fix", "all ranks finish", "fixed source")
            return script_of(finding, proof, after.module, after.locators, heading)
        if any(isinstance(entry, (Exited, Raised)) for each in traces for entry in each.log[-1:]):
            raise CannotWrite("without it, a rank ends with an error in the fixed source")
    raise CannotWrite(TOO_MUCH)


class _Ways:
    """What of the old program is where in the fixed one."""

    def __init__(self, before: Search, after: Search, moves: Sequence[EditMoves]) -> None:
        self.key = before.module.key
        found = {spot: site for site, spot in _spots(after.locators.of(self.key))}
        self.sites = {
            site: found.get((_end(offset, moves), kind, number))
            for site, (offset, kind, number) in _spots(before.locators.of(self.key))
        }
        self.functions = {each.site: each for each in after.module.functions}
        self.copies = dict(self._copied(before, after))

    def function(self, function: ir.Function) -> ir.Function | None:
        """The function itself if it is of another file; None if it is gone."""
        if function.module != self.key:
            return function
        site = self.sites.get(function.site)
        return None if site is None else self.functions.get(site)

    def _copied(self, before: Search, after: Search) -> Iterator[tuple[int, list[int]]]:
        """The tests that fixes have taken out of others, by the sites of those."""
        old, new = before.locators.of(self.key), after.locators.of(self.key)
        kept = set(self.sites.values())
        written = [site for site in range(new.count) if site not in kept and _is_test(new, site)]
        for site in self.sites if written else ():
            if _is_test(old, site):
                text = old.text(site)
                yield site, [each for each in written if new.text(each) in text]

    def decided(self, decided: Decided) -> Decided:
        """The decisions, without those at places that are gone."""
        return {
            rank: {
                moved: outcome
                for point, outcome in answers.items()
                for moved in self._points(point)
            }
            for rank, answers in decided.items()
        }

    def _points(self, point: DecisionPoint) -> Iterator[DecisionPoint]:
        where, site, turns, turn = point
        if (where if isinstance(where, str) else where.module) != self.key:
            yield point
            return
        scope = where if isinstance(where, str) else self.function(where)
        for moved in (self.sites.get(site), *self.copies.get(site, ())):
            if scope is not None and moved is not None:
                yield scope, moved, turns, turn


def _is_test(locator: Locator, site: int) -> bool:
    return isinstance(locator.node(site), (cst.If, cst.While))


def _end(offset: int, moves: Sequence[EditMoves]) -> int:
    for each in moves:
        offset = each.moved(offset)
    return offset


def _spots(locator: Locator) -> Iterator[tuple[int, Spot]]:
    """Where each site of a file is, so that it is found again when text around it changes."""
    lines = Lines(locator.document.text)
    seen: Counter[tuple[int, str]] = Counter()
    for site in range(locator.count):
        span = locator.place(site).span
        begin = (lines.offset(span.row, span.column), type(locator.node(site)).__name__)
        yield site, (*begin, seen[begin])
        seen[begin] += 1
