"""Repair files: apply what the findings propose, analyse the result, keep what proves right.

A file is repaired in rounds until nothing more can be done. A round takes one fix, or, where there
are many, all that do not touch each other, and analyses the text that they make. It is kept when it
is Python, when the findings are gone and no other has come. Otherwise the fixes of the round are
tried one by one, and the one that does not prove right is refused, with a word to the user.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from distlint.engine import documents
from distlint.engine.check import Session, is_python
from distlint.engine.harm import Importers, loose, said_of, told
from distlint.engine.meetings import Meetings
from distlint.engine.moves import EditMoves
from distlint.engine.results import State
from distlint.engine.rewriting import compiles, rewritten
from distlint.engine.settings import Resolver, Settings
from distlint.engine.writing import NotWritten, beyond, replace, sweep
from distlint.rules.table import UNUSED_SUPPRESSION
from distlint.source.document import Document, DocumentError
from distlint.source.edits import Lines, apply
from distlint.source.finding import Edit, Finding, Fix
from distlint.source.notebook import Notebook, NotInCells
from distlint.source.paths import STDIN, display
from distlint.source.report import Fixed, Notice, Report, Round

MAX_ROUNDS = 100
MAX_HIDDEN = 4
"""Hangs that are fixed together, as the first of them hides the others."""
UNFINISHED = "the result could not be fully analysed"
FEW = 8
"""Up to so many fixes are applied one by one, for one may make the next unnecessary."""


Identity = tuple[object, str, tuple[str, ...]]
"""A finding but for its row, its line, and what its fix writes."""


@dataclass(slots=True)
class Repairs:
    """What fixes made of the files of a run: those that change, and what is to be said."""

    files: list[Fixed] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def repair(report: Report, resolver: Resolver, *, unsafe: bool | None, write: bool) -> Repairs:
    """Apply the fixes of a report.

    Args:
        report: what ``check_paths`` found.
        resolver: finds the settings of each file.
        unsafe: apply fixes that are unsafe as well; None leaves it to the configuration.
        write: replace the files, rather than only tell what would become of them.
    """
    repairs = Repairs()
    session = Session(resolver)
    repaired: dict[Path, _Repaired] = {}
    if write:
        sweep({file.parent for file in report.files})
    for path in sorted({item.finding.place.path for item in report.reported if item.finding.fix}):
        if notice := not_to_be_written(path, resolver):
            repairs.notices.append(notice)
            continue
        try:
            before = documents.read(path)
        except (OSError, DocumentError) as error:
            repairs.notices.append(Notice("failed", f"not fixed: {error}", path))
            continue
        repaired[path] = _repaired(before, report, session, resolver.of_file(path), unsafe)
    _spare_importers(repaired, report, session, unsafe, repairs)
    for path, found in repaired.items():
        repairs.notices += found.notices
        if not found.rounds:
            continue
        try:
            if write:
                replace(path, found.before.data, found.after.data)
        except NotWritten as error:
            repairs.notices.append(Notice("failed", f"not fixed: {error}", path))
        else:
            repairs.files.append(found.result)
    return repairs


def _spare_importers(
    repaired: dict[Path, _Repaired],
    report: Report,
    session: Session,
    unsafe: bool | None,
    repairs: Repairs,
) -> None:
    """Repair files without the fixes that harm files which import them."""
    importers = Importers(report, session.resolver)
    barred: dict[Path, dict[Identity, Notice]] = {path: {} for path in repaired}
    while True:
        changed = {path: found for path, found in repaired.items() if found.rounds}
        harm = importers.harm(changed)
        if not harm:
            return
        culprits = {path: _culprits(changed[path], {}, importers, changed.keys()) for path in harm}
        if not any(culprits.values()):  # they may be in what those files import
            culprits = _hidden_culprits(changed, importers)
            harm |= dict.fromkeys(culprits, next(iter(harm.values())))
        bars = {path: found for path, found in culprits.items() if found}
        bars = {path: found for path, found in bars.items() if len(barred[path]) < FEW}
        for path, fixes in bars.items():
            for document, finding in fixes:
                barred[path].update([refusal(finding, harm[path], document)])
            settings = session.resolver.of_file(path)
            repaired[path] = _repaired(
                changed[path].before, report, session, settings, unsafe, barred[path]
            )
        if bars:
            continue
        for path, problem in harm.items():
            repairs.notices.append(Notice("warning", f"not fixed: {problem}", path))
            repaired[path] = _Repaired(changed[path].before, changed[path].before)


def _hidden_culprits(
    changed: Mapping[Path, _Repaired], importers: Importers
) -> dict[Path, list[tuple[Document, Finding]]]:
    """The fixes of a file without which no other file is harmed, whoever imports it."""
    for path, found in changed.items() if len(changed) <= FEW else ():
        others = {other: each for other, each in changed.items() if other != path}
        if not importers.harm(others, [path]):
            culprits = _culprits(found, others, importers, changed.keys())
            if culprits:
                return {path: culprits}
    return {}


def _culprits(
    found: _Repaired,
    others: Mapping[Path, _Repaired],
    importers: Importers,
    repaired: Collection[Path],
) -> list[tuple[Document, Finding]]:
    """The fixes of the first round after which other files are harmed, and their text."""
    if isinstance(found.before, Notebook):
        return []
    first, path = found.before, found.before.path
    texts = [Document.from_bytes(first.encode(each.text), path) for each in found.rounds]
    for number, after in enumerate([*texts[1:], found.after]):
        if importers.harm({**others, path: _Repaired(first, after)}, repaired):
            return [(texts[number], finding) for finding in found.rounds[number].findings]
    return []


def not_to_be_written(path: Path, resolver: Resolver) -> Notice | None:
    """Why a file is left alone whatever is found in it: a link that leads out of the project.

    Whoever makes a project would otherwise decide which files elsewhere are rewritten.
    """
    real = beyond(path, [resolver.of_file(path).root, *resolver.named])
    if real is None:
        return None
    message = (
        f"not changed: symbolic link to {display(real)}, which is outside the project; pass "
        "that file instead"
    )
    return Notice("warning", message, path)


def repair_bytes(
    data: bytes, path: Path, report: Report, resolver: Resolver, *, unsafe: bool | None
) -> tuple[bytes, Repairs]:
    """The same for a text that is no file; the result is the repaired text."""
    try:
        before = documents.from_bytes(data, path)
    except DocumentError:  # the report says so
        return data, Repairs()
    settings = resolver.of_folder(resolver.cwd if path == STDIN else path.parent)
    found = _repaired(before, report, Session(resolver), settings, unsafe)
    return found.after.data, Repairs([found.result] if found.rounds else [], found.notices)


@dataclass(frozen=True, slots=True)
class _Repaired:
    """A document before and after its fixes, these, and what was refused."""

    before: Document
    after: Document
    rounds: tuple[Round, ...] = ()
    notices: list[Notice] = field(default_factory=list)

    @property
    def result(self) -> Fixed:
        return fixed(self.before, self.after, self.rounds)


def _repaired(
    before: Document,
    report: Report,
    session: Session,
    settings: Settings,
    unsafe: bool | None,
    barred: Mapping[Identity, Notice] | None = None,
) -> _Repaired:
    allowed = {"safe"}
    if settings.unsafe_fixes if unsafe is None else unsafe:
        allowed.add("unsafe")
    proposed = [item.finding for item in report.reported if item.finding.place.path == before.path]
    if not any(finding.fix and finding.fix.applicability in allowed for finding in proposed):
        return _Repaired(before, before)
    repairman = Repairman(session, settings, frozenset(allowed), barred)
    after = repairman.repaired(before, proposed)
    return _Repaired(before, after, tuple(repairman.rounds), repairman.notices)


class Repairman:
    """Repairs one file, in memory."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        allowed: frozenset[str],
        barred: Mapping[Identity, Notice] | None = None,
    ) -> None:
        self.session = session
        self.settings = settings
        self.allowed = allowed
        self.rounds: list[Round] = []
        self._barred = barred or {}
        self._refused: dict[Identity, Notice] = {}
        self._refused_before: dict[Identity, Notice] = {}
        """Before the text last changed; it may offer no such fix any more."""
        self._retry = False  # has the text changed since something was refused?
        self._left: list[Notice] = []

    @property
    def notices(self) -> list[Notice]:
        """What was not applied, and why."""
        return [*self._barred.values(), *self._refused.values(), *self._left]

    def repaired(self, document: Document, proposed: Sequence[Finding]) -> Document:
        """The document with all fixes that prove right.

        ``proposed`` are the findings of the whole run in it: comments that look unused in this file
        may be used by another, so that only those named there are removed.
        """
        if not isinstance(document, Notebook):
            return self._repaired(document, proposed)
        after: Document = document
        for program in document.programs:
            if isinstance(after, Notebook):
                own = [finding for finding in proposed if finding.place.cell in program.numbers]
                after = self._repaired(after.program(program.number), own)
        return after.program(0) if isinstance(after, Notebook) else after

    def _repaired(self, document: Document, proposed: Sequence[Finding]) -> Document:
        state = self._analysed(document)
        unused = {
            _identity(finding, document, _row(finding, document))
            for finding in proposed
            if finding.code == UNUSED_SUPPRESSION
        }
        if state is None:
            return document
        for _ in range(MAX_ROUNDS):
            chosen = list(self._compatible(state, unused))
            if not chosen and not self._retry:
                self._recall(state)
                return state.document
            if not chosen:  # what was refused may prove right behind what was applied since
                self._refused_before |= self._refused
                self._refused.clear()
                self._retry = False
                continue
            if len(chosen) <= FEW:
                del chosen[1:]
            state = self._applied(state, chosen)
        left = f"stopped after {MAX_ROUNDS} rounds of fixes; the remaining fixes were not applied"
        self._left.append(Notice("warning", left, document.path))
        return state.document

    def _recall(self, state: State) -> None:
        """Refuse what was refused before, and is no longer proposed for what is still found."""
        before = {identity[:2]: notice for identity, notice in self._refused_before.items()}
        for finding in state.proposed:
            identity = _identity(finding, state.document, finding.place.span.row)
            if finding.fix is None and identity[:2] in before:
                self._refused[identity] = before[identity[:2]]
        self._refused_before.clear()

    def _compatible(self, state: State, unused: set[Identity]) -> Iterator[Finding]:
        """The fixes that do not touch each other; at one place the first finding wins."""
        lines = Lines(state.document.text)
        taken: dict[Edit, tuple[int, int]] = {}
        for finding in state.proposed:
            fix = finding.fix
            if fix is None or fix.applicability not in self.allowed:
                continue
            identity = _identity(finding, state.document, finding.place.span.row)
            if identity in self._refused or identity in self._barred:
                continue
            if finding.code == UNUSED_SUPPRESSION and identity not in unused:
                continue
            # an edit that another fix makes as well, such as an import, is made once
            own = {edit: lines.bounds(edit) for edit in fix.edits if edit not in taken}
            if any(_touch(one, other) for one in own.values() for other in taken.values()):
                continue
            taken.update(own)
            yield finding

    def _applied(self, state: State, chosen: Sequence[Finding]) -> State:
        after, _ = self._proven(state, chosen)
        if after is not None:
            self._keep(state, chosen)
            return after
        kept: list[Finding] = []
        result = state
        for finding in chosen:
            after, problem = self._proven(state, [*kept, finding])
            if after is not None:
                kept.append(finding)
                result = after
            elif not kept and (together := self._proven_together(state, finding)):
                return together
            else:
                self._refuse(finding, problem, state.document)
        if kept:
            self._keep(state, kept)
        return result

    def _keep(self, state: State, chosen: Sequence[Finding]) -> None:
        self.rounds.append(Round(state.document.text, tuple(chosen)))
        self._retry = bool(self._refused)

    def _refuse(self, finding: Finding, problem: str, document: Document) -> None:
        self._refused.update([refusal(finding, problem, document)])

    def _proven_together(self, state: State, finding: Finding) -> State | None:
        """The state after the fix of a hang and of those that it has hidden, if that proves right.

        Ranks that wait in one collective do not reach the next.
        """
        if isinstance(state.document, Notebook):
            return None
        current, next_one, rounds = state, finding, list[Round]()
        known = [each for each in state.findings if each is not finding]
        while next_one.explanation is not None and len(rounds) < MAX_HIDDEN:
            after, _, problem = self._tried(current, [next_one])
            if after is None:
                return None
            rounds.append(Round(current.document.text, (next_one,)))
            moves = EditMoves.between(state.document, after.document)
            problem = self._problem(state, after, known, moves, [finding])
            if not problem:
                self.rounds += rounds
                self._retry = bool(self._refused)
                return after
            news = {id(each) for each in _news(known, after, moves)}
            offered = (each for each in self._compatible(after, set()) if id(each) in news)
            hidden = next(offered, None)
            if hidden is None or loose(hidden) == loose(next_one):
                return None
            current, next_one = after, hidden
        return None

    def _proven(self, state: State, chosen: Sequence[Finding]) -> tuple[State | None, str]:
        """The state after some fixes, or what speaks against them."""
        after, edits, problem = self._tried(state, chosen)
        if after is None:
            return None, problem
        known = [f for f in state.findings if f not in chosen]
        problem = self._problem(state, after, known, EditMoves(state.document, edits), chosen)
        return (None, problem) if problem else (after, "")

    def _tried(
        self, state: State, chosen: Sequence[Finding]
    ) -> tuple[State | None, list[Edit], str]:
        """The state after some fixes with their edits, or why there is none."""
        edits = list(dict.fromkeys(edit for f in chosen if f.fix for edit in f.fix.edits))
        text = apply(state.document.text, edits)
        try:
            document = rewritten(state.document, text, edits)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            return None, edits, f"{character!r} cannot be encoded as {state.document.encoding}"
        except NotInCells as error:
            return None, edits, str(error)
        if document is None:
            return None, edits, "writing the file would change other text"
        if is_python(document) and compiles(state.document.text) and not compiles(text):
            return None, edits, "the result is not valid Python"
        after = self._analysed(document)
        if after is None or after.failed - state.failed:
            return None, edits, UNFINISHED
        return after, edits, ""

    def _problem(
        self,
        state: State,
        after: State,
        known: Sequence[Finding],
        moves: EditMoves,
        fixed: Sequence[Finding],
    ) -> str:
        """What speaks against the state after fixes, if anything."""
        news = list(_news(known, after, moves))
        if not news and after.over_budget > state.over_budget:
            return UNFINISHED
        if not news:
            meeting = Meetings([moves]).misplaced(state.meetings, after.meetings)
            return "" if meeting is None else said_of(meeting, after.document)
        where = f"{news[0].code} ({told(news[0].place, after.document)})"
        gone = {loose(finding) for finding in fixed}
        verb = "leave" if loose(news[0]) in gone else "introduce"
        return f"it would {verb} {where}"

    def _analysed(self, document: Document) -> State | None:
        self.session.project(self.settings).forget(document.path)
        try:
            return self.session.state_of(document, self.settings)
        except Exception:  # whatever it is, the text is not proven
            return None


def fixed(before: Document, after: Document, rounds: tuple[Round, ...] = ()) -> Fixed:
    """What became of a document, for people: the cells that changed, if it is a notebook."""
    cells = []
    if isinstance(before, Notebook) and isinstance(after, Notebook):
        new = {cell.number: cell.source for cell in after.every_cell}
        cells = [
            (cell.number, cell.source, new.get(cell.number, ""))
            for cell in before.every_cell
            if new.get(cell.number, "") != cell.source
        ]
    return Fixed(before.path, before.text, after.text, rounds, tuple(cells))


def _news(known: Sequence[Finding], after: State, moves: EditMoves) -> Iterator[Finding]:
    """The findings of a new text that were not known before: by place, else by what they say."""
    lines = Lines(after.document.text)
    left = list(known)
    unplaced = []
    placed = {
        (f.code, f.place.path, moves.offset(f.place)): f for f in known if moves.knows(f.place)
    }
    for finding in after.findings:
        path, span = finding.place.path, finding.place.span
        offset = lines.offset(span.row, span.column) if path == after.document.path else -1
        same = placed.pop((finding.code, path, offset), None)
        if same is not None:
            left.remove(same)
        else:
            unplaced.append(finding)
    said = [loose(finding) for finding in left]
    for finding in unplaced:
        if loose(finding) in said:
            said.remove(loose(finding))
        else:
            yield finding


def refusal(finding: Finding, problem: str, document: Document) -> tuple[Identity, Notice]:
    """What is said of a fix that is not applied to a text, under the identity of the fix."""
    row = finding.place.span.row
    message = f"fix of {finding.code} ({document.where(row)}) not applied: {problem}"
    return _identity(finding, document, row), Notice("warning", message, document.path)


def _row(finding: Finding, document: Document) -> int:
    """The row of a text at which a finding of the report lies."""
    if isinstance(document, Notebook):
        return document.program_row(finding.place)
    return finding.place.span.row


def _identity(finding: Finding, document: Document, row: int) -> Identity:
    """What tells a finding and its fix from others, wherever other fixes have moved them."""
    fix: Fix | None = finding.fix
    line = document.lines[row - 1]
    return loose(finding), line, tuple(edit.content for edit in fix.edits) if fix else ()


def _touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
