"""Repair random scripts, and ask the oracle what has become of them.

    python -m benchmarks.repairs --programs 10000 --seed 3 --jobs 2

Each script gets comments, tabs or other newlines, which have to survive. Counted is how many of the
scripts that distlint speaks about are left without a finding, and what the oracle says of these;
anything else than ``aligned`` is printed, and so is whatever breaks a promise: an exception, a
comment that is lost, a second repair that changes something.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.random_programs.generate import generate
from benchmarks.random_programs.oracle import InvalidProgramError, judge
from distlint.engine.check import Session
from distlint.engine.fix import Repairman
from distlint.engine.settings import Overrides, Resolver
from distlint.source.document import Document

FOLDER = Path("/nowhere")
EXECUTIONS = 2_000


@dataclass(frozen=True)
class Repaired:
    """What became of one script; ``broken`` names the promises that were not kept."""

    number: int
    before: int
    after: int
    verdict: str
    broken: tuple[str, ...]

    @property
    def wrong(self) -> bool:
        return bool(self.broken) or self.verdict == "divergent"


def dressed(source: str, rng: random.Random) -> str:
    """The script with a comment on some lines, and in another layout."""
    lines = source.splitlines()
    for row, line in enumerate(lines):
        if line.strip() and rng.random() < 0.3:
            lines[row] = f"{line}  # note {row}"
    indent, newline = rng.choice(("    ", "\t", "  ")), rng.choice(("\n", "\r\n"))
    lines = [re.sub(r"^(?:    )+", lambda m: indent * (len(m[0]) // 4), line) for line in lines]
    return newline.join(lines) + rng.choice((newline, ""))


def repair(source: str) -> tuple[int, int, str]:
    """How many findings there are before and after the fixes, and the text that these make."""
    resolver = Resolver(Overrides(isolated=True), FOLDER)
    session, settings = Session(resolver), resolver.of_folder(FOLDER)
    document = Document.from_bytes(source.encode(), FOLDER / "script.py")
    before = session.state_of(document, settings)
    if not before.proposed:
        return 0, 0, source
    repairman = Repairman(session, settings, frozenset({"safe", "unsafe"}))
    after = repairman.repaired(document, before.proposed)
    session.project(settings).forget(document.path)
    left = session.state_of(after, settings).findings
    return len(before.findings), len(left), after.text


def check(number: int, *, seed: int) -> Repaired:
    """Repair one script and see whether all promises are kept."""
    source = dressed(generate(seed, number).source, random.Random(number))
    try:
        compile(source, "<script>", "exec")
    except SyntaxError:  # a `continue` in the else of a loop
        return Repaired(number, 0, 0, "no Python", ())
    before, after, text = repair(source)
    if text == source:
        return Repaired(number, before, after, "unchanged", ())
    broken = []
    if sorted(re.findall(r"# note \d+", text)) != sorted(re.findall(r"# note \d+", source)):
        broken.append("comments")
    if repair(text)[2] != text:
        broken.append("idempotence")
    if "\r" in source and len(re.findall(r"\r\n", text)) != len(re.findall(r"\n", text)):
        broken.append("newlines")
    verdict = "findings left"
    if not after:
        try:
            verdict = judge(text, limit=EXECUTIONS, seed=number).verdict
        except InvalidProgramError as error:
            verdict = f"invalid: {error}"
    return Repaired(number, before, after, verdict, tuple(broken))


def run(numbers: Iterable[int], *, seed: int, jobs: int) -> Iterator[Repaired]:
    """Repair many scripts."""
    if jobs == 1:
        yield from map(partial(check, seed=seed), numbers)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(check, seed=seed), numbers, chunksize=20)


def main() -> int:
    """Print the counts, and each script of which something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, metavar="N", help="print script N before and after")
    options = parser.parse_args()
    if options.show is not None:
        source = dressed(generate(options.seed, options.show).source, random.Random(options.show))
        print(source, "-" * 80, repair(source)[2], sep="\n")
        return 0
    results = list(run(range(options.programs), seed=options.seed, jobs=options.jobs))
    spoken = [each for each in results if each.before]
    print(f"{len(results):,} scripts, {len(spoken):,} with findings")
    for verdict, count in Counter(each.verdict for each in spoken).most_common():
        print(f"{count:>8,}  {verdict}")
    for each in results:
        if each.wrong or each.verdict.startswith("invalid"):
            print(f"script {each.number}: {each.verdict} {' '.join(each.broken)}")
    return int(any(each.wrong for each in results))


if __name__ == "__main__":
    raise SystemExit(main())
