"""How many of a collection of bug patterns are reported.

    python -m benchmarks.bug_patterns BUGS.jsonl [--category NAME ...] [--all]

Each line of the file is an object with ``id``, ``category``, ``kind``, ``pattern`` (a short Python
text that shows the bug) and ``statically_detectable``, which starts with ``yes``, ``partly`` or
``no``. Of the kinds ``bug`` and ``review-finding``, the patterns in the categories of the rules
count; a pattern is found when at least one finding of a family that is about it is reported.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.verdict import codes
from distlint.analyzer.ir.errors import ParseError

HANGS = ("DST1", "DST407")
DATA = ("DST2", "DST6")
MEMORY_AND_FILES = ("DST1", "DST3", "DST4")
CATEGORIES = {
    **dict.fromkeys(
        (
            "lightning-log-collective",
            "new-group",
            "oom-swallow",
            "rank-conditional-collective",
            "rank-local-exception",
            "rank-local-skip",
            "rank0-eval-ddp-forward",
            "rank0-metric-compute",
            "rank0-save-collective",
            "unsynced-early-stop",
            "zero3-fsdp-uneven-forward",
        ),
        HANGS,
    ),
    **dict.fromkeys(
        (
            "clip-timing",
            "ddp-forward-bypass",
            "double-sharding",
            "fsdp-misuse",
            "grad-scaler-order",
            "iterable-no-shard",
            "local-metric-as-global",
            "missing-sampler",
            "missing-set-epoch",
            "params-changed-after-wrap",
            "seed-divergence",
        ),
        DATA,
    ),
    **dict.fromkeys(
        (
            "ddp-prefix",
            "grad-accum-scale",
            "grad-accum-sync",
            "load-map-location",
            "loss-graph-retention",
            "rank0-work-race",
            "retry-batch-size",
            "shared-path-write",
            "unguarded-delete",
        ),
        MEMORY_AND_FILES,
    ),
    "async-not-waited": ("DST118", "DST119"),
    "batchnorm-not-synced": (),
    "collective-mismatch": ("DST1",),
    "ddp-attribute-access": ("DST619",),
    "device-binding": ("DST502", "DST504"),
    "find-unused-parameters": ("DST313", "DST620", "DST705"),
    "ineffective-rank-guard": ("DST512",),
    "launch-env": ("DST505", "DST506"),
    "logger-all-ranks": ("DST905",),
    "long-rank0-work": ("DST1",),
    "loss-world-size-scale": ("DST6",),
    "missing-destroy": ("DST503", "DST119"),
    "nccl-cpu-tensor": ("DST511",),
    "rank0-state-not-shared": ("DST110",),
    "scheduler-steps": ("DST6",),
    "teardown-after-failure": ("DST510",),
    "uneven-inputs": ("DST113", "DST205"),
}
"""The categories that count, and the codes that are about each."""

KINDS = ("bug", "review-finding")
DETECTABLE = ("yes", "partly", "no")


@dataclass(frozen=True)
class Judged:
    """A pattern and what was said about it."""

    name: str
    category: str
    detectable: str
    why: str
    found: tuple[tuple[int, str], ...]


def judge(lines: Iterable[str], categories: Iterable[str]) -> list[Judged]:
    """Check the patterns of the categories."""
    wanted = set(categories)
    judged = []
    for line in lines:
        row = json.loads(line)
        if row["category"] not in wanted or row["kind"] not in KINDS:
            continue
        detectable, _, why = row["statically_detectable"].partition(":")
        judged.append(
            Judged(
                row["id"],
                row["category"],
                detectable,
                why.strip(),
                findings(row["pattern"], CATEGORIES.get(row["category"], ("DST",))),
            )
        )
    return judged


def findings(pattern: str, about: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """Give the rows and codes of these families."""
    try:
        found = codes(pattern)
    except ParseError:
        return ()
    return tuple(each for each in found if each[1].startswith(about))


def table(judged: list[Judged]) -> str:
    """Lay out found and all, by category and by how detectable a pattern was said to be."""
    found, known = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for each in judged:
        for row in (each.category, "all"):
            known[row, each.detectable] += 1
            found[row, each.detectable] += bool(each.found)
    lines = [f"{'':30}" + "".join(f"{column:>10}" for column in DETECTABLE)]
    for row in [*sorted({each.category for each in judged}), "all"]:
        cells = [
            f"{found[row, column]}/{known[row, column]}" if known[row, column] else "-"
            for column in DETECTABLE
        ]
        lines.append(f"{row:30}" + "".join(f"{cell:>10}" for cell in cells))
    return "\n".join(lines)


def main() -> int:
    """Print the table and the misses; 1 when fewer are found than the project asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path, help="the patterns, one JSON object a line")
    parser.add_argument("--category", nargs="*", default=CATEGORIES, help="count these only")
    parser.add_argument("--all", action="store_true", help="list what was found, too")
    options = parser.parse_args()
    lines = [line for line in options.file.read_text().splitlines() if line.strip()]
    judged = judge(lines, options.category)
    print(table(judged))
    for each in sorted(judged, key=lambda each: (DETECTABLE.index(each.detectable), each.name)):
        said = ", ".join(f"{code} line {row}" for row, code in each.found)
        if each.found and options.all:
            print(f"found  {each.detectable:7} {each.name}: {said}")
        elif not each.found and each.detectable != "no":
            print(f"missed {each.detectable:7} {each.name}: {each.why}")
    return 0 if enough(judged, "yes", 0.9) and enough(judged, "partly", 0.5) else 1


def enough(judged: list[Judged], detectable: str, share: float) -> bool:
    """Are at least this share of the patterns found?"""
    known = [each for each in judged if each.detectable == detectable]
    return sum(bool(each.found) for each in known) >= share * len(known)


if __name__ == "__main__":
    sys.exit(main())
