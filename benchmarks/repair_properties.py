"""What repairs promise of any script, on random ones in odd layouts.

    python -m benchmarks.repair_properties --programs 10000 --seed 1 --jobs 2
    python -m benchmarks.repair_properties --seed 1 --show 17

One script in twenty is such a one as the analyser is tried on (``benchmarks.repairs`` has more of
them), the others are put together from the examples of the rules about one file's source; see
``random_programs`` for both, and its ``dress`` for the layouts. Repairs may not raise, have to
leave Python behind, have nothing left to do the second time, and change no line outside of their
edits: every comment is there, the encoding, the byte order mark, the newline of each line and that
of the last one. What does not hold is printed, and the status is 1.
"""

from __future__ import annotations

import argparse
import random
import re
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.fix_safety import harm
from benchmarks.random_programs.dress import dressed
from benchmarks.random_programs.generate import generate
from benchmarks.random_programs.training import training_script
from distlint.engine.fix import repair_bytes
from distlint.engine.run import check_stdin
from distlint.engine.settings import Overrides, Resolver
from distlint.source.report import Fixed

SCRIPT = Path("/nowhere/script.py")
_NOTE = re.compile(r"# (?:note|above|caf\xe9) \d+")
_ARGUMENT = re.compile(r"^\s*(?:\w+\s*=[^=].*?|[\w.]+,?)\)?\s*#")


@dataclass(frozen=True)
class Outcome:
    """What repairs did to a script: the codes of the fixes, and the promises that were broken."""

    number: int
    codes: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def script(number: int, *, seed: int) -> bytes:
    """Script ``number`` of a campaign, in its layout."""
    rng = random.Random(f"{seed}:{number}:layout")
    source = generate(seed, number).source if number % 20 == 0 else training_script(rng)
    return dressed(source, rng)


def check(number: int, *, seed: int) -> Outcome:
    """Repair one script, and see whether all promises are kept."""
    data = script(number, seed=seed)
    try:
        after, fixed = repaired(data)
        again = repaired(after)[0] if fixed is not None else after
    except Exception:
        return Outcome(number, broken=(traceback.format_exc(),))
    if fixed is None:
        return Outcome(number, broken=() if after == data else ("changed without a fix",))
    broken = list(harm(fixed, (data, 0), (after, 0)))
    if again != after:
        broken.append("a second repair changes something")
    broken += [f"lost: {comment}" for comment in lost_comments(fixed)]
    if data.endswith((b"\n", b"\r")) != after.endswith((b"\n", b"\r")):
        broken.append("the newline at the end")
    return Outcome(number, tuple(code for code, _ in fixed.applied), tuple(broken))


def repaired(data: bytes) -> tuple[bytes, Fixed | None]:
    """What all fixes make of a script."""
    resolver = Resolver(Overrides(isolated=True, preview=True), SCRIPT.parent)
    report = check_stdin(data, SCRIPT, resolver)
    assert not report.failed, report.notices
    after, repairs = repair_bytes(data, SCRIPT, report, resolver, unsafe=True)
    return after, repairs.files[0] if repairs.files else None


def lost_comments(fixed: Fixed) -> list[str]:
    """The comments that are gone, but for that of an argument which is gone with its line."""
    kept = Counter(_NOTE.findall(fixed.after))
    return [
        line.strip()
        for line in re.split(r"\r\n|\r|\n", fixed.before)
        for note in _NOTE.findall(line)
        if not kept[note] and not _ARGUMENT.match(line)
    ]


def run(numbers: Iterable[int], *, seed: int, jobs: int) -> Iterator[Outcome]:
    """Repair many scripts."""
    if jobs == 1:
        yield from map(partial(check, seed=seed), numbers)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(check, seed=seed), numbers, chunksize=20)


def main() -> int:
    """Print what was repaired how often, and each script of which something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, metavar="N", help="print script N before and after")
    options = parser.parse_args()
    if options.show is not None:
        data = script(options.show, seed=options.seed)
        print(data.decode("utf-8", "replace"), "-" * 80, sep="\n")
        print(repaired(data)[0].decode("utf-8", "replace"))
        return 0
    codes: Counter[str] = Counter()
    changed = broken = 0
    for outcome in run(range(options.programs), seed=options.seed, jobs=options.jobs):
        codes.update(outcome.codes)
        changed += bool(outcome.codes)
        broken += bool(outcome.broken)
        for line in outcome.broken:
            print(f"script {outcome.number}: {line}", flush=True)
    print(
        f"{options.programs:,} scripts, {changed:,} repaired by {codes.total():,} fixes of ", end=""
    )
    print(f"{len(codes)} rules; {broken} with a broken promise")
    for code, number in sorted(codes.items()):
        print(f"{number:>8,}  {code}")
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
