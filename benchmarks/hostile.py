"""Whatever is in a file, its check ends soon, in little memory, and says something.

    python -m benchmarks.hostile --files DIR --mutants 10000 --programs 5000 --seed 1 --out DIR

Mutants are real files (all ``*.py`` below DIR) in which lines, tokens or bytes were changed, that
were cut off or encoded otherwise, or into which a long chain of some kind (``tests.hostile``) was
put. Programs are those of hypothesmith, which has to be installed for them. Each is checked in a
process that may take 1 GB of address space beyond what it has at the start, and 20 CPU seconds. A
process that dies and an internal error are failures: the input is written to ``--out``, and the
status is 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import resource
import signal
import time
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from distlint.engine.run import check_stdin
from distlint.engine.settings import Overrides, Resolver
from tests.hostile import KINDS, MEGABYTE, SCRIPT

MEMORY = 1024 * MEGABYTE
SECONDS = 20
CHECKS_PER_PROCESS = 200
BATCH = 100
"""Programs that hypothesmith is asked for at once."""
SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_CODECS = ("utf-16", "utf-32", "latin-1", "cp1252", "shift_jis", "utf-7", "utf-8-sig", "koi8-r")
_ENDS = ("\r\n", "\r", "\x0c\n", "\u2028", "")


@dataclass(frozen=True)
class Case:
    """An input, by the campaign and the kind of change that made it."""

    campaign: str
    kind: str
    number: int
    data: bytes


# ---- mutants


def _lines(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    for _ in range(rng.randint(1, 5)):
        here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
        change = rng.randrange(5)
        if change == 0 and len(lines) > 1:
            del lines[here]
        elif change == 1:
            lines.insert(there, lines[here])
        elif change == 2:
            lines[here], lines[there] = lines[there], lines[here]
        elif change == 3:
            lines[here] = " " * rng.randint(0, 9) + lines[here].lstrip()
        else:
            lines[here] = lines[here].rstrip("\r\n") + lines[there]
    return "".join(lines)


def _tokens(text: str, rng: random.Random) -> str:
    tokens = _TOKEN.findall(text) or [""]
    for _ in range(rng.randint(1, 8)):
        here, there = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        change = rng.randrange(4)
        if change == 0 and len(tokens) > 1:
            del tokens[here]
        elif change == 1:
            tokens.insert(there, tokens[here])
        elif change == 2:
            tokens[here], tokens[there] = tokens[there], tokens[here]
        else:
            tokens[here] = rng.choice([*"()[]{}:,.=@*-+'\"\\#;\n\t~", "lambda", "not", "await"])
    return "".join(tokens)


def _bytes(text: str, rng: random.Random) -> bytes:
    data = bytearray(text.encode() or b" ")
    for _ in range(rng.randint(1, 8)):
        here = rng.randrange(len(data))
        change = rng.randrange(3)
        if change == 0:
            data[here] = rng.randrange(256)
        elif change == 1:
            data.insert(here, rng.randrange(256))
        elif len(data) > 1:
            del data[here]
    return bytes(data)


def _truncated(text: str, rng: random.Random) -> bytes:
    data = text.encode()
    return data[: rng.randrange(len(data) + 1)]


def _encoded(text: str, rng: random.Random) -> bytes:
    codec = rng.choice(_CODECS)
    if rng.random() < 0.5:
        text = f"# -*- coding: {rng.choice(_CODECS)} -*-\n{text}"
    return text.replace("\n", rng.choice(["\n", *_ENDS])).encode(codec, "replace")


def _chained(text: str, rng: random.Random, kind: str) -> str:
    """A chain between two lines, mostly indented as they are."""
    lines = text.splitlines(keepends=True)
    place = rng.randrange(len(lines) + 1)
    below = lines[place] if place < len(lines) else ""
    indent = "" if rng.random() < 0.2 else below[: len(below) - len(below.lstrip(" \t"))]
    chain = KINDS[kind](rng.choice(SIZES))
    if chain.count("\n") < 100:
        chain = "".join(f"{indent}{line}" for line in chain.splitlines(keepends=True))
    return "".join([*lines[:place], chain, *lines[place:]])


_PLAIN_MUTATIONS: dict[str, Callable[[str, random.Random], str | bytes]] = {
    "lines": _lines,
    "tokens": _tokens,
    "bytes": _bytes,
    "truncation": _truncated,
    "encoding": _encoded,
}


def mutant(number: int, seed: int, texts: Sequence[str]) -> Case:
    """A mutant by its number: every second one has a chain, all kinds in turn."""
    rng = random.Random(f"{seed}:{number}")
    text = rng.choice(texts)
    if number % 2:
        kind = list(KINDS)[number // 2 % len(KINDS)]
        data: str | bytes = _chained(text, rng, kind)
        kind = f"chain: {kind}"
    else:
        kind = list(_PLAIN_MUTATIONS)[number // 2 % len(_PLAIN_MUTATIONS)]
        data = _PLAIN_MUTATIONS[kind](text, rng)
        if isinstance(data, str) and rng.random() < 0.3:
            data = _tokens(data, rng)
    encoded = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return Case("mutants", kind, number, encoded)


def read(folder: Path) -> list[str]:
    """The texts of the files below a folder."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        try:
            with tokenize.open(path) as file:
                found.append(file.read())
        except (SyntaxError, UnicodeDecodeError):
            continue
    return found


# ---- programs


def programs(count: int, seed: int) -> Iterator[Case]:
    """Random programs of the whole grammar, behind a part that makes them be analysed."""
    for number in range(0, count, BATCH):
        kind = "from_node" if number // BATCH % 2 else "from_grammar"
        texts = _programs(kind, seed * 1_000_000 + number)
        for place, text in enumerate(texts[: count - number]):
            data = (SCRIPT + text).encode("utf-8", "surrogatepass")
            yield Case("programs", kind, number + place, data)


def _programs(kind: str, seed: int) -> list[str]:
    import hypothesis
    import hypothesmith

    texts: list[str] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(getattr(hypothesmith, kind)())
    def collect(text: str) -> None:
        texts.append(text)

    collect()
    return texts[-BATCH:]


# ---- checks with limits


def check(data: bytes) -> str:
    """What is wrong with the check of a text; empty if nothing is."""
    resolver = Resolver(Overrides(isolated=True, preview=True), Path("/nowhere"))
    report = check_stdin(data, Path("/nowhere/script.py"), resolver)
    failed = [notice.message for notice in report.notices if notice.kind == "failed"]
    return "; ".join(failed)


def _work(pipe: Connection, far_end: Connection) -> None:
    """Check what comes through a pipe; whoever takes too much CPU time is ended by the system."""
    far_end.close()  # a copy; else the pipe would not end with the parent
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            data = pipe.recv_bytes()
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        started = time.process_time()
        try:
            wrong = check(data)
        except BaseException as error:
            wrong = f"raised {type(error).__name__}: {error}"
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send((wrong, time.process_time() - started))


class Process:
    """A process that checks texts until it dies or has checked many."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, self.pipe), daemon=True)
        self.process.start()
        other.close()
        self.checks = 0

    def check(self, data: bytes) -> tuple[str, float]:
        """What is wrong, and the CPU seconds it took."""
        self.checks += 1
        try:
            self.pipe.send_bytes(data)
            wrong, seconds = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            if code == -signal.SIGPROF:
                return f"more than {SECONDS} CPU seconds", SECONDS
            name = signal.Signals(-code).name if code < 0 else f"status {code}"
            return f"died: {name}", 0
        return wrong, seconds

    def end(self) -> None:
        self.process.kill()
        self.process.join()


@dataclass
class Outcome:
    """What came of all cases."""

    checked: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    slowest: dict[str, tuple[float, int, str]] = field(default_factory=dict)

    def note(self, case: Case, wrong: str, seconds: float) -> None:
        self.checked[case.campaign, case.kind] += 1
        self.failed[case.campaign, case.kind] += bool(wrong)
        slowest = self.slowest.get(case.campaign, (0.0, 0, ""))
        self.slowest[case.campaign] = max(slowest, (seconds, case.number, case.kind))


def run(cases: Iterator[Case], out: Path) -> Outcome:
    """Check all cases, and keep the inputs that fail."""
    outcome = Outcome()
    process = Process()
    for case in cases:
        if process.checks >= CHECKS_PER_PROCESS or not process.process.is_alive():
            process.end()
            process = Process()
        wrong, seconds = process.check(case.data)
        outcome.note(case, wrong, seconds)
        if wrong:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{case.campaign}-{case.number}.py").write_bytes(case.data)
            print(f"{case.campaign} {case.number} ({case.kind}): {wrong}", flush=True)
        done = outcome.checked.total()
        if done % 500 == 0:
            print(f"{done:,} checked, {outcome.failed.total()} failed", flush=True)
    process.end()
    return outcome


def show(outcome: Outcome) -> None:
    """Print what was checked, and what failed."""
    print(f"\n{'campaign':<10} {'kind':<32} {'size':>7} {'failures':>9}")
    for (campaign, kind), number in sorted(outcome.checked.items()):
        print(f"{campaign:<10} {kind:<32} {number:>7,} {outcome.failed[campaign, kind]:>9}")
    for campaign, (seconds, number, kind) in outcome.slowest.items():
        total = sum(count for (each, _), count in outcome.checked.items() if each == campaign)
        failed = sum(count for (each, _), count in outcome.failed.items() if each == campaign)
        print(f"{campaign:<10} {'all':<32} {total:>7,} {failed:>9}", end="")
        print(f"   slowest {seconds:.1f} CPU s ({number}, {kind})")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=Path, metavar="DIR", help="real files to change")
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--programs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("hostile-failures"), metavar="DIR")
    options = parser.parse_args()
    texts = read(options.files) if options.files else [SCRIPT]

    def cases() -> Iterator[Case]:
        yield from (mutant(n, options.seed, texts) for n in range(options.mutants))
        yield from programs(options.programs, options.seed) if options.programs else ()

    outcome = run(cases(), options.out)
    show(outcome)
    return int(outcome.failed.total() > 0)


if __name__ == "__main__":
    raise SystemExit(main())
