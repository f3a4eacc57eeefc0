"""Check the bugs of ``docs/found.md`` against snapshots of their repositories.

    python -m benchmarks.found DIR [--only OWNER/NAME ...] [--layout LAYOUT]

DIR holds a git directory for each repository, bare or with a work tree, for example one made by
``git clone --bare``. ``--layout`` says where: with the default, ``{owner}+{name}``, that of
pytorch/examples is DIR/pytorch+examples. The commits are those of the rows in ``found.jsonl``.

Each repository is laid out at its commit in a temporary folder (program text and configuration
only, for a snapshot may lack large files) and checked with the default rules. A row is *found* if
its rule reports its line, *moved* if it reports other lines of the file only, else *not found*.
Exits with 0 if all rows are found, with 1 if one is not, and with 2 if there is no git directory
with the commit of a row.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver

DATA = Path(__file__).with_name("found.jsonl")
LAYOUT = "{owner}+{name}"
LAID_OUT = (
    *(".py", ".ipynb", ".json", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".txt"),
    *(".sh", ".bash", ".sbatch", ".slurm", "Dockerfile", ".gitignore"),
)
LARGEST = 2_000_000


@dataclass(frozen=True)
class Row:
    """A bug in public code."""

    repository: str
    commit: str
    path: str
    line: int
    code: str
    effect: str
    """``hang``, ``crash``, ``wrong`` (results) or ``lost`` (files)."""
    happens: str
    shown: str
    """The executed example (``DST101-bad2``) or script (``bugs/NAME``) of the mechanism, if any."""


def rows(file: Path = DATA) -> list[Row]:
    """Read the bugs."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Row(**json.loads(line)) for line in lines if line.strip()]


def git_directory(corpus: Path, repository: str, layout: str = LAYOUT) -> Path | None:
    """Where the git directory of a repository is, if it is there."""
    owner, _, name = repository.partition("/")
    place = corpus / layout.format(owner=owner, name=name)
    candidates = (place, place / ".git")
    return next((each for each in candidates if (each / "objects").is_dir()), None)


def lay_out(git: Path, commit: str, folder: Path) -> bool:
    """Write the program text and the configuration of a commit; False if it is not there."""
    command = ["git", f"--git-dir={git}"]
    tree = subprocess.run(
        [*command, "ls-tree", "-r", "-z", "-l", commit], capture_output=True, check=False
    )
    if tree.returncode != 0:
        return False
    wanted = list(_wanted(tree.stdout))
    blobs = subprocess.run(
        [*command, "cat-file", "--batch"],
        input=b"".join(name + b"\n" for name, _ in wanted),
        capture_output=True,
        check=True,
    )
    for path, content in _contents(blobs.stdout, wanted):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return True


def _wanted(tree: bytes) -> Iterator[tuple[bytes, str]]:
    for row in filter(None, tree.split(b"\0")):
        meta, _, name = row.partition(b"\t")
        mode, kind, blob, size = meta.split()
        path = name.decode("utf-8", "surrogateescape")
        is_file = kind == b"blob" and mode != b"120000"
        if is_file and path.endswith(LAID_OUT) and size.isdigit() and int(size) <= LARGEST:
            yield blob, path


def _contents(blobs: bytes, wanted: list[tuple[bytes, str]]) -> Iterator[tuple[str, bytes]]:
    at = 0
    for _, path in wanted:
        end = blobs.index(b"\n", at)
        head = blobs[at:end].split()
        at = end + 1
        if head[1] == b"missing":
            continue
        yield path, blobs[at : at + int(head[2])]
        at += int(head[2]) + 1


def reported(folder: Path, jobs: int) -> set[tuple[str, int, str]]:
    """The path, line and code of each finding, with the default rules."""
    report = check_paths([folder], Resolver(Overrides(isolated=True), folder), jobs=jobs)
    return {
        (each.place.path.relative_to(folder).as_posix(), each.place.span.row, each.code)
        for each in report.findings
    }


def judge(row: Row, found: Iterable[tuple[str, int, str]]) -> tuple[str, list[int]]:
    """What became of a row, and the other lines that its rule reports in its file."""
    lines = sorted(line for path, line, code in found if (path, code) == (row.path, row.code))
    if row.line in lines:
        return "found", []
    return ("moved" if lines else "not found"), lines


def check(of_it: list[Row], git: Path | None, jobs: int) -> Iterator[tuple[str, Row]]:
    """Lay out a repository at the commits of its rows, and judge these."""
    for commit in sorted({row.commit for row in of_it}):
        here = [row for row in of_it if row.commit == commit]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve() / here[0].repository.replace("/", "+")
            folder.mkdir()
            if git is None or not lay_out(git, commit, folder):
                yield from (("absent", row) for row in here)
                continue
            found = reported(folder, jobs)
        for row in here:
            verdict, lines = judge(row, found)
            yield (f"{verdict} ({', '.join(map(str, lines))})" if lines else verdict), row


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", type=Path, metavar="DIR")
    parser.add_argument("--only", nargs="+", metavar="OWNER/NAME", help="these repositories alone")
    parser.add_argument("--layout", default=LAYOUT, help="where DIR has the git directory of each")
    parser.add_argument("--jobs", type=int, default=0, help="processes; as many as cores")
    parser.add_argument("--data", type=Path, default=DATA, help="another file of rows")
    options = parser.parse_args(arguments)
    known = rows(options.data)
    asked = options.only or sorted({row.repository for row in known})
    if unknown := set(asked) - {row.repository for row in known}:
        parser.error(f"no row is about {', '.join(sorted(unknown))}")
    total: Counter[str] = Counter()
    for repository in asked:
        of_it = [row for row in known if row.repository == repository]
        git = git_directory(options.corpus, repository, options.layout)
        for verdict, row in check(of_it, git, options.jobs):
            total[verdict.partition(" (")[0]] += 1
            print(f"{verdict:9}  {repository} {row.path}:{row.line} {row.code}", flush=True)
    print(", ".join(f"{total[each]} {each}" for each in ("found", "moved", "not found", "absent")))
    return 2 if total["absent"] else int(total["found"] < total.total())


if __name__ == "__main__":
    sys.exit(main())
