"""``python -m benchmarks.random_programs``: the campaign."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.random_programs.campaign import Result, run, shrink, table
from benchmarks.random_programs.generate import generate
from benchmarks.random_programs.oracle import InvalidProgramError, judge


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.random_programs",
        description="Compare distlint's verdicts with executed random scripts.",
    )
    parser.add_argument("--programs", type=int, default=2000, help="how many scripts")
    parser.add_argument("--first", type=int, default=0, help="number of the first script")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=400, help="executions per script at most")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("build/random_programs"),
        help="folder for the scripts on which the two disagree",
    )
    parser.add_argument("--no-shrink", action="store_true", help="write them as they are")
    parser.add_argument("--oracle-only", action="store_true", help="do not ask the analyser")
    parser.add_argument(
        "--show", type=int, metavar="N", help="print script N and the oracle's word"
    )
    return parser.parse_args()


def _show(seed: int, number: int, limit: int) -> None:
    script = generate(seed, number)
    print(script.source)
    try:
        judgement = judge(script.source, limit=limit, seed=number)
    except InvalidProgramError as error:
        print(f"# {script.kind}, mutation {script.mutation}: invalid, {error}")
        return
    certainty = "all valuations" if judgement.exhaustive else "sampled"
    print(f"# {script.kind}, mutation {script.mutation}")
    print(f"# {judgement.verdict} after {judgement.executions} executions ({certainty})")
    if judgement.stuck:
        print(f"# {judgement.stuck}")


def _write(result: Result, arguments: argparse.Namespace) -> Path:
    """Write a script on which the two disagree, with what each says."""
    source = generate(arguments.seed, result.number).source
    if not arguments.no_shrink:
        source = shrink(source, result.expected, result.found)
    kind = "false_alarm" if result.found == "divergent" else "missed"
    path: Path = arguments.output / f"{kind}_{arguments.seed}_{result.number}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        stuck = judge(source, limit=4000).stuck
    except InvalidProgramError:
        stuck = ""
    heading = f"# oracle: {result.expected}; analyser: {result.found}\n"
    heading += f"# {stuck}\n" if stuck else ""
    path.write_text(heading + source)
    return path


def main() -> int:
    """Run the campaign; 1 when the two disagree anywhere."""
    arguments = _arguments()
    if arguments.show is not None:
        _show(arguments.seed, arguments.show, arguments.limit)
        return 0
    numbers = range(arguments.first, arguments.first + arguments.programs)
    results: list[Result] = []
    wrong = 0
    for result in run(
        numbers,
        seed=arguments.seed,
        jobs=arguments.jobs,
        limit=arguments.limit,
        oracle_only=arguments.oracle_only,
    ):
        results.append(result)
        if result.wrong:
            wrong += 1
            print(f"disagreement: {_write(result, arguments)}", file=sys.stderr)
        elif len(results) % 1000 == 0:
            print(f"{len(results)} scripts, {wrong} disagreements", file=sys.stderr)
    print(table(results))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
