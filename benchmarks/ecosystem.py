"""Run distlint over checked-out repositories and keep, or compare, what it says.

    python -m benchmarks.ecosystem CORPUS_DIR --output after.jsonl [--only NAME ...] [--jobs 2]
    python -m benchmarks.ecosystem --compare before.jsonl after.jsonl

CORPUS_DIR holds one folder for each repository. Each line of the output is one finding; the last
line printed for a repository counts its files, those over budget, and crashes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from distlint.analyzer.ir.errors import ParseError
from distlint.analyzer.project.project import Project
from distlint.engine.workers import rare_collection
from distlint.rules.find import find
from distlint.rules.prefilter import worth_analysing
from distlint.source.document import Document, DocumentError

Row = dict[str, object]


@dataclass
class Outcome:
    """What one repository gave."""

    name: str
    files: int = 0
    analysed: int = 0
    roots: int = 0
    over_budget: int = 0
    seconds: float = 0.0
    rows: list[Row] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", nargs="?", type=Path)
    parser.add_argument("--output", type=Path, default=Path("build/ecosystem.jsonl"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args(arguments)
    if options.compare:
        return compare(*options.compare)
    if options.corpus is None:
        parser.error("which folder?")
    return run(options.corpus, options.output, options.only, options.jobs)


def run(corpus: Path, output: Path, only: list[str], jobs: int) -> int:
    names = only or sorted(path.name for path in corpus.iterdir() if path.is_dir())
    output.parent.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    crashed = 0
    with output.open("w", encoding="utf-8") as file, ProcessPoolExecutor(jobs) as pool:
        for outcome in pool.map(check, [corpus / name for name in names]):
            for row in outcome.rows:
                file.write(json.dumps(row) + "\n")
                total[f"{row['code']} {row['severity']}"] += 1
            file.flush()
            crashed += len(outcome.crashes)
            print(
                f"{outcome.name}: {outcome.files} files, {outcome.analysed} analysed, "
                f"{outcome.roots} roots, {outcome.over_budget} over budget, "
                f"{len(outcome.rows)} findings, {outcome.seconds:.1f} s",
                flush=True,
            )
            for crash in outcome.crashes:
                print(f"  crash: {crash}", flush=True)
    for key, count in sorted(total.items()):
        print(f"{count:6} {key}")
    return 1 if crashed else 0


def check(root: Path) -> Outcome:
    outcome = Outcome(root.name)
    project = Project(root, with_weak=False)  # as without --preview
    started = time.process_time()
    seen: set[tuple[object, ...]] = set()
    with rare_collection() as tidy:
        for path in sorted(root.rglob("*.py")):
            if not path.is_file() or path.is_symlink():
                continue
            outcome.files += 1
            for row in findings(path, root, project, outcome):
                key = (row["path"], row["row"], row["code"])
                if key not in seen:
                    seen.add(key)
                    outcome.rows.append(row)
            tidy()
    outcome.seconds = time.process_time() - started
    return outcome


def findings(path: Path, root: Path, project: Project, outcome: Outcome) -> Iterator[Row]:
    try:
        document = Document.read(path)
        if not worth_analysing(document.data):
            return
        outcome.analysed += 1
        found = find(document, project)
    except (DocumentError, ParseError, OSError):
        return
    except Exception as error:  # what is being looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        outcome.crashes.append(f"{path}: {error!r} at {Path(where.filename).name}:{where.lineno}")
        return
    outcome.crashes += [f"{path}: {problem.message}" for problem in found.problems]
    outcome.roots += found.roots
    outcome.over_budget += found.over_budget
    for finding in found.findings:
        place = finding.place.path
        yield {
            "repo": root.name,
            "path": str(place.relative_to(root) if place.is_relative_to(root) else place),
            "row": finding.place.span.row,
            "code": finding.code,
            "severity": "preview" if finding.preview else finding.severity.value,
            "message": finding.message,
            "related": [
                [related.message, related.place.path.name, related.place.span.row]
                for related in finding.related
            ],
        }


def compare(before: Path, after: Path) -> int:
    """Print what is new and what is gone."""
    old, new = _keyed(before), _keyed(after)
    for key in sorted(new.keys() - old.keys()):
        print("+", *key, new[key])
    for key in sorted(old.keys() - new.keys()):
        print("-", *key, old[key])
    return 0 if old.keys() == new.keys() else 1


def _keyed(path: Path) -> dict[tuple[str, ...], str]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        (row["repo"], row["path"], str(row["row"]), row["code"], row["severity"]): row["message"]
        for row in rows
    }


if __name__ == "__main__":
    sys.exit(main())
