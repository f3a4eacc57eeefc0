"""Put every example of the rules into whole trainers, and compare what is reported.

    python -m benchmarks.embedding --seed 1 --count 2
    python -m benchmarks.embedding --seed 1 --reproducers REPRODUCERS.jsonl --out build/embedding
    python -m benchmarks.embedding --plant --seed 1 --count 8

Each bad and each good example, and each line of the reproducers (objects with ``id``, ``category``
and ``pattern``), goes into ``--count`` trainers, each a skeleton with ordinary features. A finding
survives when its code is reported at the same row of the example in the trainer; errors and
warnings that neither the good example nor the trainer has alone are false alarms. Of a miss, the
features are dropped one by one as long as it stays one; those left hide the finding, and where none
are left the skeleton does. ``--plant`` plants one bug of each kind in such trainers instead, and
its correct twin. The same seed gives the same programs. Exit status: 1 after a false alarm.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from pathlib import Path

from benchmarks.embedding import plant
from benchmarks.embedding.embed import Judge, Outcome, cases, program
from benchmarks.embedding.features import FEATURES
from benchmarks.embedding.fragments import NotEmbeddable, Source, examples, reproducers
from benchmarks.embedding.report import row_of, table, text_of
from benchmarks.embedding.skeletons import SKELETONS
from benchmarks.embedding.trainer import possible


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.plant:
        return plant.report(options)
    judge = _judge()
    loud = _loud_trainers(judge, options)
    left: Counter[str] = Counter()
    outcomes = []
    for outcome in run(sources(options), options, left):
        outcomes.append(outcome)
        if outcome.missed or outcome.alarms:
            print(_told(outcome), flush=True)
        if options.out is not None:
            write(outcome, judge, options.out)
    for line in loud:
        print(line)
    print(table(outcomes, left))
    if options.json is not None:
        text = "".join(json.dumps(row_of(each)) + "\n" for each in outcomes)
        options.json.write_text(text, encoding="utf-8")
    return 1 if loud or any(each.alarms for each in outcomes) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.embedding",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="trainers for each example or kind")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--rules", nargs="*", default=[], metavar="CODE", help="those that begin so"
    )
    parser.add_argument("--skeletons", nargs="*", default=list(SKELETONS), choices=list(SKELETONS))
    parser.add_argument("--features", nargs="*", default=list(FEATURES), choices=list(FEATURES))
    parser.add_argument("--reproducers", type=Path, metavar="FILE")
    parser.add_argument("--plant", action="store_true", help="planted bugs instead of examples")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the programs there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a line for each program")
    parser.add_argument("--quick", action="store_true", help="do not make the misses smaller")
    return parser


def sources(options: argparse.Namespace) -> Iterator[Source]:
    every = [*examples(), *(reproducers(options.reproducers) if options.reproducers else ())]
    wanted = tuple(options.rules)
    return (each for each in every if not wanted or each.family.startswith(wanted))


def run(
    chosen: Iterable[Source], options: argparse.Namespace, left: Counter[str]
) -> Iterator[Outcome]:
    """Judge the cases; what is left out is counted by its reason."""
    with ProcessPoolExecutor(options.jobs) as pool:
        for reason, outcomes in pool.map(partial(judged, options=options), chosen, chunksize=4):
            if reason:
                left[reason] += 1
            yield from outcomes


def judged(source: Source, options: argparse.Namespace) -> tuple[str, list[Outcome]]:
    """What became of a source, or why it is left out."""
    judge = _judge()
    kind = "good" if source.good else "bad"
    try:
        fragment = judge.fragment(source)
    except NotEmbeddable as reason:
        return f"{kind}: {reason}", []
    if not source.good and not judge.expected(source):
        return "bad: nothing is reported alone that is not about set-up", []
    rng = random.Random(f"{options.seed} {source.name}")
    ways = cases(source, fragment, rng, options.skeletons, options.features, options.count)
    outcomes = [judge.judge(case) for case in ways]
    for outcome in outcomes:
        if (outcome.missed or outcome.alarms) and not options.quick:
            judge.smallest(outcome)
    return ("" if outcomes else f"{kind}: no chosen skeleton has a place for it"), outcomes


@lru_cache(maxsize=1)
def _judge() -> Judge:
    """The one of this process."""
    return Judge()


def _loud_trainers(judge: Judge, options: argparse.Namespace) -> list[str]:
    """Trainers without anything in them have to be silent."""
    found = []
    for name in options.skeletons:
        skeleton = SKELETONS[name]
        for chosen in ([], [each for each in possible(skeleton) if each in options.features]):
            codes = judge.trainer_alone(skeleton, chosen, '"nccl"')
            if codes:
                found.append(f"FALSE ALARM in {name} alone: {', '.join(sorted(codes))}")
    return found


def _told(outcome: Outcome) -> str:
    case = outcome.case
    features = case.features if outcome.hiding is None else outcome.hiding
    hidden = ", ".join(features) or "no feature"
    lines = []
    for code, row in outcome.missed:
        other = outcome.recoded.get((code, row))
        instead = f" ({other} instead)" if other else ""
        lines.append(f"missed {code} row {row}{instead}: {case.told()}; with {hidden}")
    for code, row, severity in outcome.alarms:
        where = f"row {row}" if row else "the trainer"
        lines.append(f"FALSE ALARM {code} {severity} at {where}: {case.told()}; with {hidden}")
    return "\n".join(lines)


def write(outcome: Outcome, judge: Judge, folder: Path) -> None:
    """Write the files of a program, and what became of it."""
    case = outcome.case
    name = f"{case.source.name}-{case.skeleton}-{case.style}-{case.place}".replace("/", "-")
    (folder / name).mkdir(parents=True, exist_ok=True)
    files = program(case, judge.fragment(case.source, renamed=case.renamed))
    for path, lines in files.items():
        (folder / name / path).write_text(text_of(lines), encoding="utf-8")
    (folder / name / "outcome.json").write_text(json.dumps(row_of(outcome)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
