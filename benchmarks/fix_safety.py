"""Apply every fix to copies of real repositories, and look for broken promises.

    python -m benchmarks.fix_safety CORPUS_DIR --output edits.diff [--only NAME ...] [--preview]
    python -m benchmarks.fix_safety --sample 100 --seed 1 edits.diff

CORPUS_DIR holds one folder for each repository; each is copied before anything is written. After
``fix --unsafe-fixes`` every file that Python took has to be taken still, no line outside the edits
may have changed (bytes, newlines, byte order mark, file mode; no other file), nothing new may be
found, and a second run has nothing to change. What breaks that is printed, and the status is 1.

The output has one diff for each edit, under a line with repository, file, row, code and what the
fix says; the second form prints a sample of these for a reader.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import stat
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from distlint.engine import documents
from distlint.engine.fix import Repairs, repair
from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver
from distlint.source.document import DocumentError
from distlint.source.edits import apply, changed_lines
from distlint.source.finding import Edit, Finding
from distlint.source.notebook import Notebook
from distlint.source.report import Fixed, Report

CONTEXT = 6

_HEADER = re.compile(r"^# .+:\d+ DST\d{3} ")


@dataclass
class Outcome:
    """What became of one repository."""

    name: str
    files: int = 0
    findings: int = 0
    seconds: float = 0.0
    edits: list[tuple[str, str]] = field(default_factory=list)
    """The code of each applied fix, and its diff under a header."""
    refused: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def examine(source: Path, *, preview: bool) -> Outcome:
    """Repair a copy of a repository; whatever is wrong with that becomes part of the outcome."""
    outcome = Outcome(source.name)
    started = time.process_time()
    with tempfile.TemporaryDirectory(prefix="fix_safety-") as folder:
        root = Path(folder).resolve() / source.name
        shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        (root / ".git").mkdir()  # the project ends here, whatever it has
        try:
            _repair_twice(root, outcome, preview=preview)
        except Exception:
            outcome.broken.append(f"a crash: {traceback.format_exc()}")
    outcome.seconds = time.process_time() - started
    return outcome


def _repair_twice(root: Path, outcome: Outcome, *, preview: bool) -> None:
    before = _files(root)
    report, repairs = _repaired(root, preview=preview)
    outcome.files, outcome.findings = report.checked, len(report.reported)
    outcome.refused = [notice.message for notice in repairs.notices if notice.kind == "warning"]
    outcome.broken += [f"{n.path}: {n.message}" for n in repairs.notices if n.kind == "failed"]
    after = _files(root)
    fixed = {each.path: each for each in repairs.files}
    for path in before.keys() | after.keys():
        if path not in fixed and before.get(path) != after.get(path):
            outcome.broken.append(f"{path}: changed without a fix")
    for path, each in fixed.items():
        outcome.broken += [f"{path}: {what}" for what in harm(each, before[path], after[path])]
        outcome.edits += _diffs(each, root)
    if not fixed:
        return
    again, more = _repaired(root, preview=preview)
    outcome.broken += [f"{path}: {code} is new" for path, code in _news(report, again)]
    outcome.broken += [f"{each.path}: changed by a second run" for each in more.files]


def _repaired(root: Path, *, preview: bool) -> tuple[Report, Repairs]:
    resolver = Resolver(Overrides(isolated=True, preview=preview), root)
    report = check_paths([root], resolver, jobs=1, respect_gitignore=False)
    return report, repair(report, resolver, unsafe=True, write=True)


def _files(root: Path) -> dict[Path, tuple[bytes, int]]:
    """The bytes and the mode of each file."""
    return {
        path: (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def harm(fixed: Fixed, before: tuple[bytes, int], after: tuple[bytes, int]) -> Iterator[str]:
    """What is wrong with a repaired file."""
    if before[1] != after[1]:
        yield f"the mode changed from {before[1]:o} to {after[1]:o}"
    try:
        old, new = (documents.from_bytes(data, fixed.path) for data, _ in (before, after))
    except DocumentError as error:
        yield f"cannot be read back: {error}"
        return
    if old.encoding != new.encoding:
        yield f"the encoding changed from {old.encoding} to {new.encoding}"
    if (old.text, new.text) != (fixed.before, fixed.after):
        yield "the file does not hold what was told"
    if _compiles(old.text) and not _compiles(new.text):
        yield "no Python any more"
    if _newlines(new.data) - _newlines(old.data):
        yield "other newlines"
    if isinstance(old, Notebook) and _around_code(old.data) != _around_code(new.data):
        yield "something beside the code of the notebook changed"
    texts = [each.text for each in fixed.rounds] + [fixed.after]
    for each, text, following in zip(fixed.rounds, texts, texts[1:], strict=False):
        edits = [edit for finding in each.findings if finding.fix for edit in finding.fix.edits]
        row = _first_difference(_spliced(text, edits), following)
        if row:
            yield f"line {row} is outside of the edits and changed"


def _compiles(text: str) -> bool:
    try:
        compile(text, "<text>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _around_code(data: bytes) -> object:
    """What a notebook holds beside the source of its cells."""
    whole = json.loads(data)
    for cell in whole["cells"]:
        del cell["source"]
    return whole


def _newlines(data: bytes) -> set[bytes]:
    return set(re.findall(rb"\r\n|\r|\n", data))


def _spliced(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits in it, from the last to the first; told apart from what fixes did."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    for edit in sorted(set(edits), key=lambda edit: edit.span, reverse=True):
        start = starts[edit.span.row - 1] + edit.span.column - 1
        end = starts[edit.span.end_row - 1] + edit.span.end_column - 1
        text = text[:start] + edit.content + text[end:]
    return text


def _first_difference(expected: str, found: str) -> int:
    """The row, from 1, where two texts differ; 0 if they do not."""
    if expected == found:
        return 0
    same = next((i for i, (a, b) in enumerate(zip(expected, found, strict=False)) if a != b), 0)
    return len(re.findall(r"\r\n|\r|\n", found[:same])) + 1


def _diffs(fixed: Fixed, root: Path) -> Iterator[tuple[str, str]]:
    for each in fixed.rounds:
        for finding in each.findings:
            assert finding.fix is not None
            where = f"{root.name}/{fixed.path.relative_to(root)}:{finding.place.span.row}"
            after = apply(each.text, finding.fix.edits)
            lines = [line.rstrip("\r\n") for line in changed_lines(each.text, after, CONTEXT)]
            header = f"# {where} {finding.code} {finding.fix.applicability}: {finding.fix.message}"
            yield finding.code, "\n".join([header, f"# {finding.message}", *lines, ""])


def _news(before: Report, after: Report) -> Iterator[tuple[Path, str]]:
    """The files that have more findings of a code than they had."""
    known, found = _counts(before.findings), _counts(after.findings)
    yield from found - known


def _counts(findings: Iterable[Finding]) -> Counter[tuple[Path, str]]:
    return Counter((finding.place.path, finding.code) for finding in findings)


def sample(edits: Path, count: int, seed: int) -> str:
    """Some of the diffs in a file, in its order."""
    starts: list[str] = []
    for line in edits.read_text(encoding="utf-8").splitlines(keepends=True):
        if _HEADER.match(line):
            starts.append("")
        starts[-1] += line
    chosen = random.Random(seed).sample(range(len(starts)), min(count, len(starts)))
    return "".join(starts[index] for index in sorted(chosen))


def run(corpus: Path, output: Path, only: list[str], jobs: int, *, preview: bool) -> int:
    """Repair the repositories, write the edits, print what was found."""
    names = only or [path.name for path in corpus.iterdir() if path.is_dir()]
    names.sort(key=lambda name: sum(1 for _ in (corpus / name).rglob("*.py")))  # the largest last
    output.parent.mkdir(parents=True, exist_ok=True)
    codes: Counter[str] = Counter()
    broken = 0
    work = partial(examine, preview=preview)
    with output.open("w", encoding="utf-8") as file, ProcessPoolExecutor(jobs) as pool:
        for outcome in pool.map(work, [corpus / name for name in names]):
            codes.update(code for code, _ in outcome.edits)
            broken += len(outcome.broken)
            file.writelines(diff for _, diff in outcome.edits)
            file.flush()
            print(
                f"{outcome.name}: {outcome.files} files, {outcome.findings} findings, "
                f"{len(outcome.edits)} fixed, {len(outcome.refused)} refused, "
                f"{outcome.seconds:.0f} s",
                flush=True,
            )
            for line in outcome.refused:
                print(f"  refused: {line}", flush=True)
            for line in outcome.broken:
                print(f"  broken: {line}", flush=True)
    for code, count in sorted(codes.items()):
        print(f"{count:6} {code}")
    print(f"{codes.total()} edits, {broken} broken promises")
    return int(broken > 0)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path, help="the corpus; with --sample the file of edits")
    parser.add_argument("--output", type=Path, default=Path("build/edits.diff"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--preview", action="store_true", help="what preview findings propose, too")
    parser.add_argument("--sample", type=int, metavar="N", help="print N of the edits of a file")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.sample is not None:
        print(sample(options.path, options.sample, options.seed), end="")
        return 0
    return run(options.path, options.output, options.only, options.jobs, preview=options.preview)


if __name__ == "__main__":
    sys.exit(main())
