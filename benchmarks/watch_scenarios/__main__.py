"""Run every scenario under the watch, under DETAIL and under Accelerate's debug mode.

    python -m benchmarks.watch_scenarios [TEXT] [--table FILE] [--verbose]

Prints what is wrong with the watch (exit status 1 if anything is) and a Markdown table of what each
of them says. TEXT selects scenarios by kind and name.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.watch_scenarios.judge import of_others, of_watch, problems
from benchmarks.watch_scenarios.scenarios import SCENARIOS, Scenario
from benchmarks.watch_scenarios.script import MODES, source
from distlint.harness.cluster import Cluster, Outcome

NEEDS = {"accelerate": ("accelerate",)}
HEADS = ("alone", "DETAIL", "Accelerate's debug mode", "watch", "strict watch")


def main() -> int:
    """Run them, print the table; 1 if the watch is wrong anywhere."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("text", nargs="?", default="", help="run these only")
    parser.add_argument("--table", type=Path, help="write the table there")
    parser.add_argument("--verbose", action="store_true", help="show what the ranks printed")
    options = parser.parse_args()
    chosen = [s for s in SCENARIOS if options.text in f"{s.kind}: {s.name}"]
    outcomes = execute(chosen)
    wrong = 0
    for (scenario, mode), outcome in outcomes.items():
        found = problems(scenario, mode, outcome) if mode in ("watch", "strict") else []
        wrong += bool(found)
        if found or options.verbose:
            print(f"{mode}: {scenario.kind}: {scenario.name}", *found, sep="\n  ")
            print(outcome)
    text = table(chosen, outcomes)
    if options.table:
        options.table.write_text(text)
    else:
        print(text)
    print(f"{len(chosen)} scenarios, {wrong} runs in which the watch is wrong", file=sys.stderr)
    return 1 if wrong else 0


def execute(chosen: list[Scenario]) -> dict[tuple[Scenario, str], Outcome]:
    """Run each scenario in each mode."""
    with Cluster() as cluster:
        futures = {
            (scenario, mode): cluster.submit(
                source(scenario, mode),
                ranks=scenario.ranks,
                needs=NEEDS.get(mode, ()),
                name="scenario",
                limit=7,
            )
            for mode in MODES
            for scenario in chosen
            if mode != "detail" or not scenario.wraps
        }
        return {run: future.result() for run, future in futures.items()}


def table(chosen: list[Scenario], outcomes: dict[tuple[Scenario, str], Outcome]) -> str:
    """One row for each scenario."""
    lines = [
        f"| what goes wrong | {' | '.join(HEADS)} |",
        f"| --- |{' --- |' * len(HEADS)}",
    ]
    for scenario in chosen:
        others = ("plain", "detail", "accelerate")
        cells = [of_others(scenario, outcomes.get((scenario, mode))) for mode in others]
        cells += [
            of_watch(scenario, mode, outcomes[scenario, mode]) for mode in ("watch", "strict")
        ]
        lines.append(f"| {scenario.kind}: {scenario.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
