"""Put an example into a trainer, and compare what is reported alone with what is reported there."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.embedding.fragments import (
    KINDS,
    SET_UP,
    Fragment,
    Source,
    fragment_of,
    with_other_names,
)
from benchmarks.embedding.lines import Line, indented
from benchmarks.embedding.skeletons import SKELETONS, Skeleton
from benchmarks.embedding.trainer import Files, Insert, closed, possible, trainer
from distlint.engine.check import Session
from distlint.engine.settings import Overrides, Resolver
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Finding, Severity

STYLES = ("function", "deeper", "method", "module", "inline")
PLACES = ("before", "epoch", "after")
MOST_FEATURES = 8

Key = tuple[str, int]
"""The code of a finding, and its row in the example."""


@dataclass(frozen=True)
class Case:
    """A way to put an example into a trainer."""

    source: Source
    skeleton: str
    features: tuple[str, ...]
    style: str = "function"
    place: str = "before"
    renamed: bool = False

    def told(self) -> str:
        dress = f"{self.style} {self.place}{' renamed' if self.renamed else ''}"
        return f"{self.source.name} in {self.skeleton}, {dress}"


@dataclass
class Seen:
    """What is reported about a program, by code and row of the example (0: of the trainer)."""

    findings: dict[Key, Severity] = field(default_factory=dict)
    over_budget: int = 0


@dataclass
class Outcome:
    """What became of an example in a trainer."""

    case: Case
    expected: dict[Key, Severity]
    survived: set[Key]
    recoded: dict[Key, str] = field(default_factory=dict)
    """Misses at whose place another code of the family is reported."""
    weaker: set[Key] = field(default_factory=set)
    """Those that survive as information only."""
    alarms: list[tuple[str, int, str]] = field(default_factory=list)
    """Errors and warnings that the example alone and the trainer alone do not have."""
    over_budget: int = 0
    hiding: tuple[str, ...] | None = None
    """The smallest set of features with which the miss is still one."""

    @property
    def missed(self) -> list[Key]:
        return sorted(set(self.expected) - self.survived)


class Judge:
    """Asks distlint about programs; what is known of examples and trainers is kept."""

    def __init__(self) -> None:
        self._alone: dict[str, Seen] = {}
        self._preview: set[str] = set()
        self._trainers: dict[object, set[str]] = {}
        self._fragments: dict[tuple[str, bool], Fragment] = {}

    def seen(self, files: Files, *, preview: bool) -> Seen:
        """What is reported about the files of a program."""
        seen = Seen()
        with TemporaryDirectory(prefix="embedding-") as name:
            root = Path(name)
            for path, lines in files.items():
                (root / path).write_text("\n".join(line.text for line in lines) + "\n")
            resolver = Resolver(Overrides(isolated=True), root)
            settings = replace(resolver.of_folder(root), preview=preview)
            session = Session(resolver)
            for path in files:
                document = Document.from_bytes((root / path).read_bytes(), root / path)
                state = session.state_of(document, settings)
                seen.over_budget += state.over_budget
                for finding in state.proposed:
                    self._note(finding, files, root, seen)
        return seen

    def _note(self, finding: Finding, files: Files, root: Path, seen: Seen) -> None:
        for place in (finding.place, finding.moved_from):
            if place is None:
                continue
            lines = files.get(str(place.path.relative_to(root)), ())
            row = place.span.row
            origin = lines[row - 1].origin if row <= len(lines) else 0
            key = (finding.code, origin)
            known = seen.findings.get(key)
            if known is None or known.weight < finding.severity.weight:
                seen.findings[key] = finding.severity

    def alone(self, source: Source) -> Seen:
        """What is reported about the source by itself."""
        if source.name not in self._alone:
            lines = [Line(t, row) for row, t in enumerate(source.code.splitlines(), 1)]
            seen = self.seen({source.file: lines}, preview=source.preview)
            own = any(code == source.family for code, _ in seen.findings)
            if not own and not source.good and source.family.startswith("DST"):
                self._preview.add(source.name)  # a rule may have a form that is preview
                seen = self.seen({source.file: lines}, preview=True)
            self._alone[source.name] = seen
        return self._alone[source.name]

    def expected(self, source: Source) -> dict[Key, Severity]:
        """What has to survive."""
        if not source.file.endswith(".py") or source.family.startswith("DST0"):
            return {}
        try:
            found = self.alone(source).findings
        except DocumentError:  # no Python of this version
            return {}
        return {key: each for key, each in found.items() if key[0] not in SET_UP}

    def fragment(self, source: Source, *, renamed: bool = False) -> Fragment:
        """Raise NotEmbeddable if it cannot be."""
        key = (source.name, renamed)
        if key not in self._fragments:
            rows = {row for _, row in self.expected(source)}
            self._fragments[key] = fragment_of(source, rows, renamed=renamed)
        return self._fragments[key]

    def trainer_alone(self, skeleton: Skeleton, features: Sequence[str], backend: str) -> set[str]:
        """The codes, at warning or above, that the trainer has by itself."""
        key = (skeleton.name, closed(features), backend)
        if key not in self._trainers:
            seen = self.seen(trainer(skeleton, features, Insert(backend=backend)), preview=False)
            self._trainers[key] = {code for (code, _), s in seen.findings.items() if _matters(s)}
        return self._trainers[key]

    def judge(self, case: Case) -> Outcome:
        files = program(case, self.fragment(case.source, renamed=case.renamed))
        expected = self.expected(case.source)
        preview = case.source.preview or case.source.name in self._preview
        seen = self.seen(files, preview=preview)
        outcome = Outcome(case, expected, set(expected) & set(seen.findings))
        outcome.over_budget = seen.over_budget
        outcome.weaker = {
            key
            for key in outcome.survived
            if _matters(expected[key]) and not _matters(seen.findings[key])
        }
        for code, row in outcome.missed:
            for other, at in seen.findings:
                if at == row and other != code and other[:4] == code[:4]:
                    outcome.recoded[code, row] = other
        if case.source.good:
            known = {
                code for (code, _), s in self.alone(case.source).findings.items() if _matters(s)
            }
            fragment = self.fragment(case.source)
            skeleton = SKELETONS[case.skeleton]
            known |= self.trainer_alone(skeleton, case.features, fragment.backend)
            outcome.alarms = [
                (code, row, s.value)
                for (code, row), s in seen.findings.items()
                if _matters(s) and code not in known
            ]
        return outcome

    def smallest(self, outcome: Outcome) -> None:
        """Drop features one by one while all that is missed stays missed."""
        missed = set(outcome.missed)
        left = list(outcome.case.features)
        for feature in list(left):
            fewer = tuple(each for each in left if each != feature)
            again = self.judge(replace(outcome.case, features=fewer))
            same = missed <= set(again.missed) if missed else bool(again.alarms)
            if same:
                left = list(fewer)
        outcome.hiding = tuple(left)


def _matters(severity: Severity) -> bool:
    return severity.weight >= Severity.WARNING.weight


# -- choosing


def cases(
    source: Source, fragment: Fragment, rng: random.Random, skeletons: Sequence[str],
    features: Sequence[str], count: int,
) -> Iterator[Case]:  # fmt: skip
    """Ways to put an example into trainers."""
    fitting = [SKELETONS[name] for name in skeletons if fits(fragment, SKELETONS[name])]
    for _ in range(count if fitting else 0):
        skeleton = rng.choice(fitting)
        able = [name for name in possible(skeleton) if name in features]
        chosen = rng.sample(able, min(len(able), rng.randint(0, MOST_FEATURES)))
        styles = styles_of(fragment, skeleton)
        yield Case(
            source,
            skeleton.name,
            closed(chosen),
            rng.choice(styles),
            rng.choice(("before", "after") if source.good else PLACES),
            rng.random() < 0.3,
        )


def fits(fragment: Fragment, skeleton: Skeleton) -> bool:
    kinds = {kind for name in fragment.frameworks for kind in KINDS[name]}
    if kinds and skeleton.kind not in kinds:
        return False
    return bool(styles_of(fragment, skeleton))


def styles_of(fragment: Fragment, skeleton: Skeleton) -> tuple[str, ...]:
    if not fragment.run:
        return ("beside", "module")
    if fragment.inline:
        return ("inline",) if skeleton.name == "module" else ()
    return STYLES if skeleton.name == "module" else STYLES[:-1]


# -- putting it in


def program(case: Case, fragment: Fragment) -> Files:
    """The files of the trainer with the example in it.

    Raises:
        SyntaxError: if that is no Python, which is a bug of this benchmark.
    """
    skeleton = SKELETONS[case.skeleton]
    taken = _names_of(trainer(skeleton, case.features))
    fragment = _apart(fragment, taken)
    files = trainer(skeleton, case.features, _insert(case, skeleton, fragment))
    for path, lines in files.items():
        compile("\n".join(line.text for line in lines), path, "exec", dont_inherit=True)
    return files


def _insert(case: Case, skeleton: Skeleton, fragment: Fragment) -> Insert:
    name = "extra_pass"
    style = case.style
    at = f"call_{case.place}"
    body = indented(fragment.run) or [Line("    pass")]
    definitions = [*fragment.definitions, Line(""), Line("")] if fragment.definitions else []
    function = [Line(f"def {name}():"), *body, Line(""), Line("")]
    slots: dict[str, list[Line]] = {"imports": fragment.imports, "defs": definitions}
    files: dict[str, list[Line]] = {}
    if style == "beside":
        pass
    elif style == "inline":
        slots[at] = fragment.run
    elif style == "function":
        slots["defs"] = [*definitions, *function]
        slots[at] = [Line(f"{name}()")]
    elif style == "deeper":
        outer = [Line("def prepare_pass():"), Line(f"    {name}()"), Line(""), Line("")]
        slots["defs"] = [*definitions, *function, *outer]
        slots[at] = [Line("prepare_pass()")]
    elif style == "method" and skeleton.body_of_class:
        slots["methods"] = [Line(f"def {name}(self):"), *body, Line("")]
        slots[at] = [Line(f"self.{name}()")]
    elif style == "method":
        method = [Line("class ExtraPass:"), *indented([Line("def run(self):"), *body])]
        slots["defs"] = [*definitions, *method, Line(""), Line("")]
        slots[at] = [Line("ExtraPass().run()")]
    else:
        slots["imports"] = [Line(f"from extra import {name}" if fragment.run else "import extra")]
        slots["defs"] = []
        files["extra.py"] = [*fragment.imports, Line(""), *definitions]
        if fragment.run:
            files["extra.py"] += function
            slots[at] = [Line(f"{name}()")]
    return Insert(slots, files, fragment.backend)


def _names_of(files: Files) -> set[str]:
    """The names that a trainer has at module level, or uses anywhere."""
    found: set[str] = {"extra_pass", "prepare_pass", "ExtraPass"}
    for path, lines in files.items():
        for node in ast.walk(ast.parse("\n".join(line.text for line in lines), path)):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
    return found


def _apart(fragment: Fragment, taken: set[str]) -> Fragment:
    """The fragment with those of its names changed that the trainer has as well."""
    clashing = fragment.names & taken
    if not clashing:
        return fragment
    names = {name: f"Own{name}" if name[0].isupper() else f"own_{name}" for name in clashing}

    def other(lines: list[Line]) -> list[Line]:
        text = "\n".join(line.text for line in lines) + "\n"
        changed = with_other_names(text, names).splitlines()
        return [Line(new, line.origin) for new, line in zip(changed, lines, strict=False)]

    return replace(fragment, definitions=other(fragment.definitions), run=other(fragment.run))
