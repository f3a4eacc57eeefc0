"""Break correct code of real repositories, and see whether distlint says so.

    python -m benchmarks.mutation CORPUS_DIR --mutants 40 --seed 1 --jobs 2 --output found.jsonl

CORPUS_DIR holds one folder for each repository; those with an ``@`` in their names are other
commits and left out. Each line of the output is one mutant. ``--sites`` only counts the sites.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.mutation.campaign import OPERATORS, Found, Result, choose, collect, run


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--mutants", type=int, default=40, metavar="N", help="for each operator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("build/mutation.jsonl"))
    parser.add_argument("--only", nargs="*", default=[], metavar="REPOSITORY")
    parser.add_argument("--operator", nargs="*", default=[], metavar="WORD")
    parser.add_argument(
        "--patient", action="store_true", help="ask about misses again, with ten times the budget"
    )
    parser.add_argument("--sites", action="store_true", help="count the sites, check nothing")
    options = parser.parse_args(arguments)
    sites = all_sites(options.corpus, options.only, options.jobs)
    if options.operator:
        sites = [s for s in sites if any(word in s.operator for word in options.operator)]
    print(site_table(sites))
    if options.sites:
        return 0
    results = []
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with options.output.open("w", encoding="utf-8") as file:
        chosen = choose(sites, options.mutants, options.seed)
        for result in run(options.corpus, chosen, options.jobs, patient=options.patient):
            results.append(result)
            file.write(json.dumps(result.row()) + "\n")
            file.flush()
    print(table(results))
    return 0


def all_sites(corpus: Path, only: Sequence[str], jobs: int) -> list[Found]:
    roots = sorted(path for path in corpus.iterdir() if path.is_dir() and "@" not in path.name)
    roots = [root for root in roots if not only or root.name in only]
    with ProcessPoolExecutor(jobs) as pool:
        return [site for found in pool.map(collect, roots) for site in found]


def site_table(sites: Sequence[Found]) -> str:
    lines = ["sites, and those left out as equivalent:"]
    for name in OPERATORS:
        own = [site for site in sites if site.operator == name]
        why = Counter(site.equivalent for site in own if site.equivalent)
        mutants = [site for site in own if not site.equivalent]
        lines.append(
            f"{name:38}{len(mutants):6} in {len({s.repository for s in mutants}):2} repositories; "
            + ", ".join(f"{count} {reason}" for reason, count in why.most_common())
        )
    return "\n".join(lines)


def table(results: Sequence[Result]) -> str:
    lines = [
        "| operator | mutants | reported | share | over budget | with a fix | repaired |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    groups = dict.fromkeys(each.group for each in OPERATORS.values())
    for group in groups:
        names = [name for name, each in OPERATORS.items() if each.group == group]
        lines += [
            _row(name, group, [e for e in results if e.site.operator == name]) for name in names
        ]
        lines.append(_row(f"**{group}**", group, [e for e in results if e.site.operator in names]))
    return "\n".join(lines)


def _row(name: str, group: str, results: Sequence[Result]) -> str:
    judged = [each for each in results if not each.skipped]
    if group == "neutral":
        new = sum(bool(each.others) for each in judged)
        return f"| {name} | {len(judged)} | {new} with new findings | | | | |"
    reported = [each for each in judged if each.reported]
    fixable = [each for each in reported if each.fixable]
    repaired = Counter(each.repaired for each in fixable)
    share = f"{len(reported) / len(judged):.0%}" if judged else ""
    told = ", ".join(f"{count} {what}" for what, count in repaired.most_common())
    late = sum(bool(each.with_patience) for each in judged)
    cells = (name, len(judged), len(reported), share, late, len(fixable), told)
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    sys.exit(main())
