"""Score hand-checked places in real repositories: bugs to find, traps to stay silent on.

    python -m benchmarks.labels LABELS.jsonl CORPUS [--whole] [--all-families]

Each line of the file is an object with ``id``, ``repo`` (owner/name), ``commit``, ``path``,
``line``, ``verdict`` (``bug`` or ``trap``), ``category``, optionally ``related_lines``, and ``at``.
The tree of a repository lies at ``CORPUS/owner+name``, one at another commit at
``CORPUS/owner+name@`` and the first eight digits of it. A trap is tripped by a finding of its
family on its line. A bug is found by a finding of its family on its line or on one of its related
lines, or by one that names the line among its related places. Labels whose tree is not there are
listed and left out.

Only the files with labels are checked, unless ``--whole`` asks for their whole trees, which also
shows what the code that calls into a file does with it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from distlint.engine.run import check_paths
from distlint.engine.settings import Resolver
from distlint.source.finding import Finding, Place

# The codes that a category is about, the first pattern that fits.
FAMILIES = (
    ("rank_conditional_update", ("DST110", "DST4", "DST6")),
    ("rank_conditional_*", ("DST1", "DST407")),
    ("rank_divergent_condition_guards_collective", ("DST1", "DST407")),
    ("rank0_forward_through_wrapper", ("DST1",)),
    ("unsynced_*stop", ("DST1",)),
    ("divergent_*", ("DST1", "DST407")),
    ("collective_*", ("DST1",)),
    ("new_group_in_loop", ("DST1",)),
    ("missing_*", ("DST2", "DST7")),
    ("sampler_*", ("DST2",)),
    ("set_epoch_*", ("DST2",)),
    ("unsynced_shuffle", ("DST2",)),
    ("unseeded_*", ("DST2",)),
    ("process_dependent_hash", ("DST2",)),
    ("save_*", ("DST4",)),
    ("ddp_prefix_*", ("DST4",)),
    ("load_*", ("DST4",)),
    ("fs_race", ("DST4",)),
    ("download_*", ("DST4",)),
    ("wrapper_bypass", ("DST6",)),
    ("*", ("DST5", "DST8")),
)
SCORED = (
    "rank_conditional_*",
    "rank_divergent_condition_guards_collective",
    "rank0_forward_through_wrapper",
    "unsynced_*stop",
    "divergent_*",
    "collective_*",
    "new_group_in_loop",
)
ENOUGH = 0.8


@dataclass(frozen=True)
class Label:
    """A place that a person read."""

    name: str
    tree: str
    path: str
    line: int
    verdict: str
    category: str
    related: tuple[int, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        return next(codes for pattern, codes in FAMILIES if fnmatch(self.category, pattern))

    @property
    def scored(self) -> bool:
        return any(fnmatch(self.category, pattern) for pattern in SCORED)


def read(file: Path, corpus: Path) -> tuple[list[Label], list[Label]]:
    """Read the labels: those whose tree is there, and the others."""
    present: list[Label] = []
    absent: list[Label] = []
    for line in filter(str.strip, file.read_text().splitlines()):
        row = json.loads(line)
        name = row["repo"].replace("/", "+")
        if row["at"] != "corpus-commit":
            name += f"@{row['commit'][:8]}"
        label = Label(
            row["id"],
            name,
            row["path"],
            row["line"],
            row["verdict"],
            row["category"],
            tuple(row.get("related_lines", ())),
        )
        (present if (corpus / name / row["path"]).is_file() else absent).append(label)
    return present, absent


def check(labels: Iterable[Label], corpus: Path, *, whole: bool) -> dict[str, list[Finding]]:
    """Check the trees of the labels, or the labelled files in them; findings by tree."""
    files: dict[str, set[Path]] = {}
    for label in labels:
        root = corpus / label.tree
        files.setdefault(label.tree, set()).add(root if whole else root / label.path)
    found = {}
    for tree, paths in sorted(files.items()):
        resolver = Resolver(cwd=corpus / tree)
        report = check_paths(sorted(paths), resolver, jobs=0, respect_gitignore=False)
        found[tree] = list(report.findings)
    return found


def hit(label: Label, findings: Iterable[Finding], corpus: Path) -> Finding | None:
    """Give the finding that trips a trap, or finds a bug."""
    path = (corpus / label.tree / label.path).resolve()
    for finding in findings:
        if not finding.code.startswith(label.codes):
            continue
        lines = [label.line]
        places = [finding.place]
        if label.verdict == "bug":
            if any(is_on(each.place, path, [label.line]) for each in finding.related):
                return finding
            lines += label.related
        if any(is_on(place, path, lines) for place in places):
            return finding
    return None


def is_on(place: Place, path: Path, lines: list[int]) -> bool:
    """Does a place start on one of the lines of a file?"""
    return place.path.resolve() == path and place.span.row in lines


def main() -> int:
    """Print the score; 1 when a trap is tripped or too few bugs are found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path, help="the labels, one JSON object a line")
    parser.add_argument("corpus", type=Path, help="the folder with the trees")
    parser.add_argument("--whole", action="store_true", help="check whole trees, not single files")
    parser.add_argument(
        "--all-families", action="store_true", help="also count bugs that are not about collectives"
    )
    options = parser.parse_args()
    labels, absent = read(options.file, options.corpus)
    found = check(labels, options.corpus, whole=options.whole)
    bugs = [label for label in labels if label.verdict == "bug"]
    traps = [label for label in labels if label.verdict == "trap"]
    counted = bugs if options.all_families else [label for label in bugs if label.scored]
    hits = {label.name: hit(label, found[label.tree], options.corpus) for label in labels}

    tripped = [label for label in traps if hits[label.name] is not None]
    print(f"traps tripped: {len(tripped)} of {len(traps)}")
    for label in tripped:
        print(f"  {describe(label)}: {say(hits[label.name])}")
    caught = [label for label in counted if hits[label.name] is not None]
    print(f"bugs found: {len(caught)} of {len(counted)}")
    for label in caught:
        print(f"  {describe(label)}: {say(hits[label.name])}")
    missed = Counter(label.category for label in counted if hits[label.name] is None)
    print(f"bugs missed: {sum(missed.values())}")
    for label in counted:
        if hits[label.name] is None:
            print(f"  {describe(label)}")
    if absent:
        print(f"left out, no tree: {len(absent)}")
        for label in absent:
            print(f"  {describe(label)}")
    return 1 if tripped or len(caught) < ENOUGH * len(counted) else 0


def describe(label: Label) -> str:
    return f"{label.name} {label.category} {label.tree}/{label.path}:{label.line}"


def say(finding: Finding | None) -> str:
    return "" if finding is None else f"{finding.code} row {finding.place.span.row}"


if __name__ == "__main__":
    sys.exit(main())
