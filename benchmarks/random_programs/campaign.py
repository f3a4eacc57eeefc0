"""Compare the analyser with the oracle over many scripts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, median
from typing import Literal

from benchmarks.random_programs.generate import generate
from benchmarks.random_programs.oracle import InvalidProgramError, Judgement, judge
from benchmarks.random_programs.reduce import reduce
from benchmarks.verdict import Verdict, verdict

CONFIRMATION = 40_000
"""Executions that an ``aligned`` of the oracle has to survive when the analyser disagrees."""

Expected = Literal["divergent", "aligned", "invalid"]


@dataclass(frozen=True)
class Result:
    """One script, judged by both."""

    number: int
    kind: str
    mutation: str
    expected: Expected
    found: Verdict | Literal["not asked"]
    seconds: float = 0.0
    """The analyser's time."""
    executions: int = 0
    oracle_seconds: float = 0.0
    stuck: str = ""

    @property
    def wrong(self) -> bool:
        """The two contradict each other."""
        return self.found in ("divergent", "aligned") and self.found != self.expected


def _settled(source: str, found: Verdict, judgement: Judgement, seed: int) -> Judgement:
    """Look harder for a hang before calling the analyser's alarm false."""
    if found == "divergent" and judgement.verdict == "aligned" and not judgement.exhaustive:
        return judge(source, limit=CONFIRMATION, seed=seed + 1)
    return judgement


def check(number: int, *, seed: int, limit: int = 400, oracle_only: bool = False) -> Result:
    """Generate one script and judge it both ways."""
    script = generate(seed, number)
    result = Result(number, script.kind, script.mutation, "invalid", "not asked")
    started = time.perf_counter()
    try:
        judgement = judge(script.source, limit=limit, seed=number)
    except InvalidProgramError:
        return result
    middle = time.perf_counter()
    if not oracle_only:
        found = verdict(script.source)
        ended = time.perf_counter()
        judgement = _settled(script.source, found, judgement, number)
        result = replace(result, found=found, seconds=ended - middle)
    return replace(
        result,
        expected=judgement.verdict,
        executions=judgement.executions,
        oracle_seconds=middle - started,
        stuck=judgement.stuck,
    )


def run(
    numbers: Iterable[int],
    *,
    seed: int,
    jobs: int = 1,
    limit: int = 400,
    oracle_only: bool = False,
) -> Iterator[Result]:
    """Judge many scripts, in order."""
    work = partial(check, seed=seed, limit=limit, oracle_only=oracle_only)
    if jobs == 1:
        yield from map(work, numbers)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, numbers, chunksize=20)


def shrink(source: str, expected: str, found: str, seconds: float = 60.0) -> str:
    """Make a script on which the two disagree as small as it gets."""

    def disagrees(candidate: str) -> bool:
        try:
            if verdict(candidate) != found:
                return False
            return judge(candidate, limit=4_000).verdict == expected
        except InvalidProgramError:
            return False

    return reduce(source, disagrees, seconds)


def table(results: Iterable[Result]) -> str:
    """Lay out the verdicts by kind of script, and the analyser's cost."""
    listed = list(results)
    rows: dict[str, Counter[str]] = {}
    for result in listed:
        row = result.kind if result.mutation == "none" else f"{result.kind}, mutated"
        for name in (row, "all"):
            rows.setdefault(name, Counter())[_cell(result)] += 1
    columns = ("TP", "TN", "FP", "FN", "over budget", "not asked", "invalid")
    lines = ["".join([f"{'':18}", *(f"{name:>13}" for name in columns)])]
    lines += [
        "".join([f"{name:18}", *(f"{rows[name][column]:13}" for column in columns)])
        for name in sorted(rows, key=lambda each: (each == "all", each))
    ]
    valid = [result for result in listed if result.expected != "invalid"]
    if valid:
        divergent = sum(result.expected == "divergent" for result in valid)
        executions = sum(result.executions for result in valid)
        oracle = sum(result.oracle_seconds for result in valid)
        lines += [
            "",
            f"divergent by the oracle: {divergent / len(valid):.1%} of {len(valid)}",
            f"oracle: {executions} executions, {executions / oracle:.0f} per second",
        ]
    times = [result.seconds for result in listed if result.found != "not asked"]
    if times:
        lines.append(
            f"analyser: median {median(times) * 1e3:.1f} ms, mean {fmean(times) * 1e3:.1f} ms, "
            f"longest {max(times) * 1e3:.1f} ms"
        )
    return "\n".join(lines)


def _cell(result: Result) -> str:
    if result.expected == "invalid":
        return "invalid"
    match result.found:
        case "not asked":
            return "not asked"
        case "over-budget":
            return "over budget"
        case "divergent":
            return "FP" if result.wrong else "TP"
        case _:
            return "FN" if result.wrong else "TN"
