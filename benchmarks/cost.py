"""What a run costs, beside bare parsing of the same files.

    python -m benchmarks.cost FOLDER [FOLDER ...]

Prints CPU seconds (user and system) and peak memory of ``distlint check`` as a whole process with
one worker, of ``libcst.parse_module`` over the same files, and their ratio; the fastest of three.
Then what each phase took, of one more run, beside the same parse: see ``benchmarks.phases``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

RUNS = 3

PARSE = """\
import sys, pathlib, libcst
for name in sys.argv[1:]:
    for path in sorted(pathlib.Path(name).rglob("*.py")):
        libcst.parse_module(path.read_bytes())
"""


def main() -> int:
    folders = sys.argv[1:]
    if not folders:
        print(__doc__)
        return 2
    files = [path for folder in folders for path in Path(folder).rglob("*.py")]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    print(f"{len(files)} files, {lines} lines")
    check = [
        sys.executable,
        "-m",
        "distlint",
        "check",
        "--no-cache",
        "--jobs",
        "1",
        "--exit-zero",
        "--quiet",
    ]
    parsing, _ = measure([sys.executable, "-c", PARSE, *folders])
    checking, memory = measure([*check, *folders])
    print(f"libcst.parse_module   {parsing:7.2f} CPU s")
    print(f"distlint check        {checking:7.2f} CPU s, {memory} MB at most")
    print(f"ratio                 {checking / parsing:7.2f}")
    phases = [sys.executable, "-m", "benchmarks.phases", "--parse", str(parsing), *folders]
    return subprocess.run(phases, check=False).returncode


def measure(command: list[str]) -> tuple[float, int]:
    """CPU seconds of the fastest run, and the largest memory (MB) of any child so far."""
    best = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, spent)
    return best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


if __name__ == "__main__":
    sys.exit(main())
