"""What comparing ranks takes in whole trees, in numbers that do not depend on the machine.

    python -m benchmarks.walks [--save FILE] [--against FILE] FOLDER [FOLDER ...]

Prints for each folder how many entry points there are, how many of them are over budget or within
it only with calls followed less deep, the steps of all attempts, those of replays, and the
findings. ``--save`` keeps that; ``--against`` prints how the findings differ from what was kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from distlint.analyzer import ir
from distlint.analyzer.symbolic.context import DEEP, ExecutionContext
from distlint.analyzer.symbolic.entry_points import EntryPointAnalysis
from distlint.analyzer.symbolic.product import ProductExploration
from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver

COUNTS = ("roots", "over", "shallow", "steps", "states", "replayed", "cut")


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count what all walks take from here on."""
    counts: Counter[str] = Counter()
    compare, run, steps = (
        EntryPointAnalysis.compare_ranks,
        EntryPointAnalysis.run,
        ProductExploration.steps,
    )

    def counted(
        self: EntryPointAnalysis, context: ExecutionContext, function: ir.Function | None
    ) -> bool:
        complete = False
        try:
            complete = compare(self, context, function)
            counts["shallow"] += context.depth < DEEP
            counts["cut"] += not complete
        finally:
            counts["steps"] += context.steps
        return complete

    def run_counted(self: EntryPointAnalysis) -> Any:
        outcome = run(self)
        counts["replayed"] += self.prover.replayed
        return outcome

    def steps_counted(self: ProductExploration, item: Any) -> Any:
        counts["states"] += 1
        return steps(self, item)

    with (
        mock.patch.object(EntryPointAnalysis, "compare_ranks", counted),
        mock.patch.object(EntryPointAnalysis, "run", run_counted),
        mock.patch.object(ProductExploration, "steps", steps_counted),
    ):
        yield counts


def measure(folder: Path) -> dict[str, Any]:
    """The counts of a folder, and its findings."""
    with counting() as counts:
        report = check_paths([folder], Resolver(Overrides(isolated=True), folder), jobs=1)
    counts["roots"], counts["over"] = report.roots, report.over_budget
    found = [
        [each.code, str(each.place.path.relative_to(folder)), each.place.span.row, each.message]
        for each in report.findings
    ]
    return {**{name: counts[name] for name in COUNTS}, "found": sorted(found)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    before = json.loads(given.against.read_text()) if given.against else {}
    measured: dict[str, Any] = {}
    print(*(f"{name:>9}" for name in (*COUNTS, "findings")), " folder", sep="")
    for folder in given.folders:
        now = measured[str(folder)] = measure(folder.absolute())
        print(*(f"{now[name]:9}" for name in COUNTS), f"{len(now['found']):9}  {folder}", sep="")
        differences(before.get(str(folder), now)["found"], now["found"])
        sys.stdout.flush()
        if given.save:
            given.save.write_text(json.dumps(measured))
    return 0


def differences(before: list[Any], now: list[Any]) -> None:
    for sign, one, other in (("-", before, now), ("+", now, before)):
        for found in one:
            if found not in other:
                print(sign, *found)


if __name__ == "__main__":
    sys.exit(main())
