"""What a run costs that knows nothing, with one worker and with two, and what the next ones cost.

    python -m benchmarks.again FOLDER [FOLDER ...]

Uses a cache of its own. For two workers also tells how evenly the work is spread: the CPU time of
one worker alone, beside that of the busier one of two, which is how many times as fast two are
where nothing else keeps the cores busy (Linux).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

OFTEN = 5


@dataclass
class Run:
    """Seconds waited, CPU seconds of each process, and the most memory of any (MB)."""

    waited: float = 0.0
    spent: dict[int, float] = field(default_factory=dict)
    memory: int = 0

    @property
    def busiest(self) -> float:
        """CPU seconds of the process that had most to do; the first one waits for the others."""
        return max(self.spent.values(), default=0.0)


def main() -> int:
    folders = sys.argv[1:]
    if not folders:
        print(__doc__)
        return 2
    files = sum(1 for folder in folders for _ in Path(folder).rglob("*.py"))
    print(f"{files:,} files")
    with tempfile.TemporaryDirectory() as cache:
        one = run(["--no-cache", "--jobs", "1", *folders])
        tell("one worker, nothing known", one)
        two = run(["--cache-dir", cache, "--jobs", "2", *folders])
        tell("two workers, nothing known", two)
        print(f"{'':34}{one.busiest / two.busiest:5.2f} times as fast where both have a core")
        again = [run(["--cache-dir", cache, *folders]) for _ in range(OFTEN)]
        tell("all known", min(again, key=lambda each: each.waited))
    return 0


def run(options: list[str]) -> Run:
    """Check the files, and look at the processes meanwhile."""
    result = Run()
    command = [sys.executable, "-m", "distlint", "check", "--exit-zero", *options]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        for each in (process.pid, *children(process.pid)):
            look(each, result)
        time.sleep(0.005 if time.perf_counter() - start < 2 else 0.2)
    result.waited = time.perf_counter() - start
    return result


def children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def look(pid: int, result: Run) -> None:
    """Note what a process has used up to now."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return
    result.spent[pid] = (int(fields[11]) + int(fields[12])) / 100
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            result.memory = max(result.memory, int(line.split()[1]) // 1024)


def tell(what: str, found: Run) -> None:
    print(
        f"{what:32}{found.waited:8.2f} s, {sum(found.spent.values()):8.2f} CPU s,"
        f" {found.memory:6,} MB in one process"
    )


if __name__ == "__main__":
    sys.exit(main())
