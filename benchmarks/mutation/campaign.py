"""Choose mutants, ask distlint about each, and repair those that it reports."""

from __future__ import annotations

import ast
import difflib
import random
import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from pathlib import Path

from benchmarks.mutation import data, hangs, neutral
from benchmarks.mutation.operators import Operator, Site
from benchmarks.mutation.repository import Repository
from distlint.analyzer.symbolic import entry_points as roots
from distlint.catalogue import RUNTIME
from distlint.engine.check import Session
from distlint.engine.fix import Repairman
from distlint.engine.results import State
from distlint.engine.settings import Overrides, Resolver, Settings
from distlint.engine.workers import rare_collection
from distlint.source.document import Document, DocumentError
from distlint.source.finding import Finding

OPERATORS = {each.name: each for each in (*hangs.OPERATORS, *data.OPERATORS, *neutral.OPERATORS)}
MAX_SIZE = 400_000
_AGREED = re.compile(r"^if (?:.*any_rank\(|.*check_trigger\()|\.set_trigger\(\)$")
PATIENCE = 10
_TESTS = re.compile(r"(?:^|/)(?:tests?|testing|test_[^/]*|[^/]*_test\.py|docs|conftest\.py)(?:/|$)")


@dataclass(frozen=True)
class Found:
    """A site that an operator has in a repository."""

    repository: str
    path: str
    operator: str
    number: int
    """The how-manieth site of the operator in the file."""
    row: int
    what: str
    equivalent: str = ""


@dataclass
class Result:
    """What distlint says of one mutant."""

    site: Found
    reported: list[str] = field(default_factory=list)
    """Codes of new findings of the family, with severity and row."""
    others: list[str] = field(default_factory=list)
    """New findings of other families."""
    over_budget: int = 0
    with_patience: list[str] = field(default_factory=list)
    """What is reported, where nothing was, with ``PATIENCE`` times the budget."""
    fixable: bool = False
    repaired: str = ""
    """Empty, ``not applied``, ``findings left``, or what :func:`likeness` says."""
    text_after: str = ""
    skipped: str = ""

    def row(self) -> dict[str, object]:
        return {**asdict(self.site), **{k: v for k, v in asdict(self).items() if k != "site"}}


# -- choosing


def collect(root: Path) -> list[Found]:
    """All sites of all operators in a repository."""
    repository = Repository(root)
    found: list[Found] = []
    seen: set[object] = set()
    for path in sorted(root.rglob("*.py")):
        name = str(path.relative_to(root))
        if _TESTS.search(name) or path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        operators = [o for o in OPERATORS.values() if any(word in content for word in o.words)]
        if len(content) > MAX_SIZE or not operators or b"torch" not in content:
            continue
        source = repository.source(path)
        if source is None:
            continue
        for operator in operators:
            for number, site in enumerate(_sites(operator, repository, path)):
                key = (operator.name, site.what, _around(source.lines, site.row))
                if key not in seen:  # a copy of a function that is in another file as well
                    seen.add(key)
                    found.append(
                        Found(
                            root.name, name, operator.name, number, site.row, site.what,
                            site.equivalent,
                        )
                    )  # fmt: skip
    return found


def _around(lines: Sequence[str], row: int) -> str:
    return "".join(lines[max(0, row - 4) : row + 3])


def _sites(operator: Operator, repository: Repository, path: Path) -> Iterator[Site]:
    source = repository.source(path)
    if source is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from operator.sites(source, repository)


def choose(sites: Iterable[Found], count: int, seed: int) -> list[Found]:
    """Up to ``count`` mutants an operator, from as many repositories as there are."""
    chosen: list[Found] = []
    by_operator: dict[str, dict[str, list[Found]]] = defaultdict(lambda: defaultdict(list))
    for site in sites:
        if not site.equivalent:
            by_operator[site.operator][site.repository].append(site)
    for name, repositories in sorted(by_operator.items()):
        rng = random.Random(f"{seed} {name}")
        queues = [rng.sample(each, len(each)) for _, each in sorted(repositories.items())]
        rng.shuffle(queues)
        picked: list[Found] = []
        while len(picked) < count and any(queues):
            picked += [queue.pop() for queue in queues if queue]
        chosen += picked[:count]
    return chosen


# -- asking


class Judge:
    """Checks the mutants of one repository; what is known of its files is kept."""

    def __init__(self, root: Path, *, patient: bool = False) -> None:
        self.root = root
        self.patient = patient
        self.repository = Repository(root)
        resolver = Resolver(Overrides(isolated=True), root)
        self.session = Session(resolver)
        self.settings: Settings = resolver.of_folder(root)
        self._originals: dict[Path, State | None] = {}

    def state(self, path: Path, text: str) -> State | None:
        document = Document.from_bytes(text.encode(), path)
        self.session.project(self.settings).forget(path)
        try:
            return self.session.state_of(document, self.settings)
        except DocumentError:
            return None

    def original(self, path: Path) -> State | None:
        if path not in self._originals:
            source = self.repository.source(path)
            assert source is not None
            self._originals[path] = self.state(path, source.text)
        return self._originals[path]

    def judge(self, site: Found) -> Result:
        operator, path = OPERATORS[site.operator], self.root / site.path
        result = Result(site)
        text = next(
            each.text
            for number, each in enumerate(_sites(operator, self.repository, path))
            if number == site.number
        )
        before = self.original(path)
        if before is None:
            result.skipped = "cannot be analysed"
            return result
        if operator.group != "neutral" and any(operator.expects(f.code) for f in before.findings):
            result.skipped = "the original has a finding of the family"
            return result
        after = self.state(path, text)
        if after is None:
            result.skipped = "the mutant is no Python"
            return result
        result.over_budget = after.over_budget
        news = _news(before, after)
        new = [finding for finding in news if operator.expects(finding.code)]
        result.reported = [_told(each) for each in new] if operator.group != "neutral" else []
        result.others = [_told(each) for each in news if each not in new or not operator.codes]
        if result.reported:
            result.fixable = any(each.fix is not None for each in new)
            if result.fixable:
                self._repair(result, before, after, new)
        elif self.patient and operator.group in ("one file", "across files"):
            with patience():
                late = self.state(path, text)
            result.with_patience = [
                _told(each)
                for each in (late.findings if late else ())
                if operator.expects(each.code)
            ]
        self.session.project(self.settings).forget(path)
        return result

    def _repair(self, result: Result, before: State, after: State, new: Sequence[Finding]) -> None:
        """Apply the fixes of what is new, and compare with the original."""
        repairman = Repairman(self.session, self.settings, frozenset({"safe", "unsafe"}))
        document = repairman.repaired(after.document, new)
        if document.text == after.document.text:
            result.repaired = "not applied"
            return
        state = self.state(document.path, document.text)
        operator = OPERATORS[result.site.operator]
        if state is None or any(operator.expects(f.code) for f in _news(before, state)):
            result.repaired = "findings left"
            return
        result.repaired = likeness(before.document.text, document.text)
        if result.repaired == "another text":
            result.text_after = _difference(before.document.text, document.text)


def likeness(original: str, repaired: str) -> str:
    """What a repaired text is: the original, that with a decision of all ranks, or another."""
    one, two = (ast.dump(_Plain().visit(ast.parse(text))) for text in (original, repaired))
    if one == two:
        return "the original"
    agreed = ast.dump(_Plain(without_agreements=True).visit(ast.parse(repaired)))
    return "all ranks agree" if one == agreed else "another text"


class _Plain(ast.NodeTransformer):
    """Takes out of a tree what makes no difference, or the exits that all ranks take together."""

    def __init__(self, *, without_agreements: bool = False) -> None:
        self.without_agreements = without_agreements

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords.sort(key=lambda keyword: keyword.arg or "")
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        agreed = self.without_agreements and _AGREED.search(ast.unparse(node))
        return None if agreed and len(node.body) == 1 else self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        is_ours = self.without_agreements and node.module == RUNTIME
        return None if is_ours else node


def _news(before: State, after: State) -> list[Finding]:
    """The findings of a new text that the old one does not have, by what they say."""
    known = Counter(_said(each) for each in before.findings)
    found = []
    for finding in after.findings:
        if known[_said(finding)]:
            known[_said(finding)] -= 1
        else:
            found.append(finding)
    left = Counter({finding.code: 0 for finding in found})
    for (code, _), count in known.items():
        left[code] += count
    news = []
    for finding in found:  # the same finding in other words: names have changed
        if left[finding.code]:
            left[finding.code] -= 1
        else:
            news.append(finding)
    return news


def _said(finding: Finding) -> tuple[str, str]:
    return finding.code, re.sub(r"\d+", "", finding.message)


def _told(finding: Finding) -> str:
    return f"{finding.code} {finding.severity.value} line {finding.place.span.row}"


def _difference(before: str, after: str) -> str:
    """What is not the same in two texts, lines and layout aside."""
    one, two = (ast.unparse(ast.parse(text)).splitlines() for text in (before, after))
    return "\n".join(difflib.unified_diff(one, two, "original", "repaired", lineterm="", n=2))


@contextmanager
def patience() -> Iterator[None]:
    """Analyse with a larger budget, to tell what a miss is owed to."""
    kept = roots.LEVELS, roots.FUNCTION_LEVELS, roots.MODULE_BUDGET, roots.REPLAY_BUDGET
    try:
        roots.LEVELS = (_longer(kept[0][0]), kept[0][1])
        roots.FUNCTION_LEVELS = (_longer(kept[1][0]), kept[1][1])
        roots.MODULE_BUDGET, roots.REPLAY_BUDGET = (each * PATIENCE for each in kept[2:])
        yield
    finally:
        roots.LEVELS, roots.FUNCTION_LEVELS, roots.MODULE_BUDGET, roots.REPLAY_BUDGET = kept


def _longer(level: tuple[int, int, int]) -> tuple[int, int, int]:
    depth, budget, reserve = level
    return depth, budget * PATIENCE, reserve * PATIENCE


@lru_cache(maxsize=2)
def _judge_of(root: Path, patient: bool) -> Judge:
    return Judge(root, patient=patient)


def judge_file(root: Path, sites: Sequence[Found], patient: bool) -> list[Result]:
    """The results of the mutants of one file."""
    sys.setrecursionlimit(10_000)
    judge = _judge_of(root, patient)
    with rare_collection() as tidy, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [judge.judge(site) for site in sites]
        tidy()
    return results


def run(
    corpus: Path, chosen: Sequence[Found], jobs: int, *, patient: bool = False
) -> Iterator[Result]:
    """Judge the mutants, file by file."""
    files: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for site in chosen:
        files[site.repository, site.path].append(site)
    folders = [corpus / repository for repository, _ in files]
    judged = partial(judge_file, patient=patient)
    with ProcessPoolExecutor(jobs) as pool:
        for results in pool.map(judged, folders, files.values(), chunksize=4):
            yield from results
