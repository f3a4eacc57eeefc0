"""The code blocks of the documentation, and folders in which they may be tried."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from distlint.cli import main
from tests.support import ROOT

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?: title=\"(?P<title>[^\"]*)\")?\n(?P<text>.*?)"
    r"^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_ANY_FENCE = re.compile(r"^ *```", re.MULTILINE)
_NOT_RUN = re.compile(r"# not run by the tests: (?P<reason>.+)$", re.MULTILINE)

_PLAIN = re.compile(r"distlint [^|<>&;$`*'\"]*")
"""A command of ours that needs no shell."""

REASONS = (
    "installs",  # packages, which takes an index
    "hangs",  # which is what it is for
    "takes minutes",
    "starts many processes",
    "changes your shell",
    "the tests run the repaired script without torchrun",
)
"""Why a command is not run: these words are all that the comment in a block may say."""


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, its language, and the file that it is to stand in."""

    page: Path
    line: int
    language: str
    title: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def reason(self) -> str | None:
        """Why nothing in it is run, said on its first line."""
        match = _NOT_RUN.match(self.text)
        return match["reason"] if match else None


@dataclass(frozen=True)
class Step:
    """A command of a block and what the page says it prints; None where it says nothing."""

    block: Block
    command: str
    output: str | None

    def __str__(self) -> str:
        return f"{self.block}: {self.command}"

    @property
    def reason(self) -> str | None:
        match = _NOT_RUN.search(self.command)
        return match["reason"] if match else self.block.reason


def pages() -> list[Path]:
    """Every page that people read, but those that rules make of themselves."""
    return [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "examples").rglob("*.md")),
        *sorted((ROOT / "benchmarks").rglob("*.md")),
    ]


@lru_cache
def blocks(page: Path) -> tuple[Block, ...]:
    text = page.read_text("utf-8")
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        inner = re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        found.append(Block(page, line, match["language"], match["title"], inner))
    assert len(_ANY_FENCE.findall(text)) == 2 * len(found), f"{page}: not understood"
    return tuple(found)


def every_block() -> list[Block]:
    return [block for page in pages() for block in blocks(page)]


def steps(block: Block) -> Iterator[Step]:
    """The commands of a console block: behind ``$``, with their output, or line by line."""
    text = block.text.replace("\\\n", "")
    lines = [line for line in text.splitlines() if not _NOT_RUN.match(line)]
    prompted = any(line.startswith("$ ") for line in lines)
    command: str | None = None
    output: list[str] = []
    for line in lines:
        if prompted and not line.startswith("$ "):
            output.append(line)
            continue
        if command is not None:
            yield Step(block, command, _shown(output))
        command, output = line.removeprefix("$ ") or None, []
        if command is not None and not prompted and command.lstrip().startswith("#"):
            command = None
    if command is not None:
        yield Step(block, command, _shown(output))


def _shown(output: list[str]) -> str | None:
    text = "\n".join(output).strip("\n")
    return text or None


TRAIN = '''\
"""What the pages call train.py where they do not show it."""

import torch
import torch.distributed as dist

from distlint.runtime import any_rank, save_checkpoint


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(1, 1)
    if dist.get_rank() == 0:
        dist.all_reduce(torch.ones(1))
    if any_rank(False):
        return
    save_checkpoint("last.pt", model)


main()
'''


def folder_for(page: Path, folder: Path) -> Path:
    """A repository with the examples, a train.py, and the files that a page shows with a title."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "train.py").write_text(TRAIN)
    _leave_behind_what_a_job_does(folder)
    (folder / "ds_config.json").write_text('{"train_batch_size": 8, "zero_optimisation": {}}\n')
    (folder / "launch.sh").write_text("torchrun --nproc-per-node=2 train.py\n")
    for block in blocks(page):
        if block.title is not None and " " not in block.title:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
    return folder


def _leave_behind_what_a_job_does(folder: Path) -> None:
    recorded = shutil.copytree(
        ROOT / "tests" / "diagnose" / "recorded", folder / "tests" / "diagnose" / "recorded"
    )
    for dump in (recorded / "flight_recorder").iterdir():
        shutil.copy(dump, folder)
    (folder / "logs").mkdir()
    for name in ("job.log", "rank0.log", "logs/job.log"):
        shutil.copy(recorded / "rank_branch.log", folder / name)


@dataclass(frozen=True)
class Finished:
    """What a command leaves behind."""

    returncode: int
    stdout: str
    stderr: str


TERMINAL = {"COLUMNS": "96", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def shell(command: str, folder: Path) -> Finished:
    """Run a command as a reader would type it, at a terminal of 96 columns."""
    if _PLAIN.fullmatch(command):
        return _in_this_process(shlex.split(command, comments=True)[1:], folder)
    bin_folder = os.path.dirname(sys.executable)
    environment = {
        **os.environ,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        **TERMINAL,
        "HOME": str(folder),
    }
    finished = subprocess.run(
        ["bash", "-c", f'distlint() {{ "{sys.executable}" -m distlint "$@"; }}\n{command}'],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Finished(finished.returncode, finished.stdout, finished.stderr)


def _in_this_process(arguments: list[str], folder: Path) -> Finished:
    """The same for a command that needs no shell, without the start of an interpreter."""
    output, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in TERMINAL.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                status = main(arguments)
            except SystemExit as exit_:  # how argparse refuses
                status = int(exit_.code or 0)
    return Finished(status, output.getvalue(), errors.getvalue())
