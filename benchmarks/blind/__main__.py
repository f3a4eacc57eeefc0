"""How many of the bugs are found that were written down blind, and what correct twins are reported.

    python -m benchmarks.blind [SET ...] [--select DST1] [--show]

The programs are in ``benchmarks/blind/programs``, one line each: its files, the code of the rule
that it was written for, whether the bug is in it, and why. Their authors, language models that
played different authors of training scripts, knew the title of the rule and nothing of how it
looks for the bug. A program counts as found if the rule reports anything in it. ``--show`` lists
what is missed, and the correct programs with an error or a warning.

A set that has been looked at is no longer blind: its figures are those of a regression test.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver
from distlint.source.finding import Severity

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Program:
    """A script with its other files, and what its author said of it."""

    name: str
    code: str
    has_bug: bool
    why: str
    files: dict[str, str]


def programs(sets: list[str]) -> Iterator[Program]:
    """The programs of these sets, or of all."""
    for path in sorted(PROGRAMS.glob("*.jsonl")):
        if not sets or path.stem in sets:
            for line in path.read_text("utf-8").splitlines():
                yield Program(**json.loads(line))


def reported(program: Program) -> dict[str, Severity]:
    """The codes that are reported in a program, each with its highest severity."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in program.files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        report = check_paths([Path(folder)], Resolver(Overrides(isolated=True)), jobs=1)
    found: dict[str, Severity] = {}
    for finding in report.findings:
        found[finding.code] = max(
            finding.severity, found.get(finding.code, finding.severity), key=_weight
        )
    return found


def _weight(severity: Severity) -> int:
    return [Severity.INFO, Severity.WARNING, Severity.ERROR].index(severity)


def main() -> int:
    """Print the figures by rule, and in all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("sets", nargs="*", help="files of programs, without their suffix")
    parser.add_argument("--select", default="", help="codes that begin so")
    parser.add_argument("--show", action="store_true", help="list what is missed or reported")
    parser.add_argument("--jobs", type=int, default=None, help="processes")
    options = parser.parse_args()
    chosen = [p for p in programs(options.sets) if p.code.startswith(options.select)]
    counts: dict[str, Counter[str]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for program, found in zip(chosen, pool.map(reported, chosen), strict=True):
            outcome = _outcome(program, found)
            for row in (program.code, "all"):
                counts.setdefault(row, Counter())[outcome] += 1
            if options.show and outcome in ("missed", "alarm"):
                print(f"{outcome} {program.code} {program.name}: {program.why}")
    for code in sorted(counts, key=lambda each: (each == "all", each)):
        had = counts[code]
        buggy, correct = had["found"] + had["missed"], had["alarm"] + had["quiet"]
        print(f"{code}: {had['found']} of {buggy} found, {had['alarm']} of {correct} correct loud")
    return 0


def _outcome(program: Program, found: dict[str, Severity]) -> str:
    if program.has_bug:
        return "found" if program.code in found else "missed"
    loud = any(severity is not Severity.INFO for severity in found.values())
    return "alarm" if loud else "quiet"


if __name__ == "__main__":
    raise SystemExit(main())
