"""The cache as its users meet it: in the options, on the disk, and otherwise not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distlint.output import formats
from tests.cli.conftest import BUGGY, CLEAN, Run
from tests.notebooks import notebook

CACHE = ".distlint_cache"
HELPER = """\
import torch.distributed as dist


def helper():
    dist.barrier()
"""
CALLER = """\
import torch.distributed as dist
from helper import helper

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    helper()
"""


@pytest.fixture
def tree(project: Path) -> Path:
    """Findings with and without fixes, comments used and unused, a mistake, skipped files."""
    files = {
        "buggy.py": BUGGY,
        "caller.py": CALLER,
        "helper.py": HELPER,
        "clean.py": CLEAN + "# distlint: ignore[DST102]\nx += 1\n",
        "broken.py": "import torch\nx = (\n",
        "long.py": "x = 1\n" * 200,
        "n.ipynb": "{}",
        "distlint.toml": "max-file-size = 1000\n",
    }
    for name, text in files.items():
        (project / name).write_text(text)
    return project


def outputs(distlint: Run, *options: str) -> list[object]:
    """What each format makes of a run, but for what counts time."""
    found: list[object] = []
    for name in formats.names():
        result = distlint("check", "--output-format", name, *options)
        found.append((name, result.returncode, result.stdout, result.stderr))
    found.append(distlint("check", "--statistics", "--verbose", *options))
    found.append(distlint("check", "--quiet", "--fail-on", "error", *options))
    found.append(distlint("check", "--diff", "--unsafe-fixes", *options))
    return found


@pytest.mark.parametrize(
    "options",
    [(), pytest.param(("--preview",), marks=pytest.mark.campaign), ("--select", "DST0")],
    ids=str,
)
def test_every_output_is_the_same_to_the_byte(
    tree: Path, distlint: Run, options: tuple[str, ...]
) -> None:
    fresh = outputs(distlint, "--no-cache", *options)
    assert not (tree / CACHE).exists()
    assert outputs(distlint, *options) == fresh
    assert (tree / CACHE).is_dir()
    assert outputs(distlint, *options) == fresh


def test_baselines_and_shards(tree: Path, distlint: Run) -> None:
    for _ in range(2):
        reports = [
            distlint("check", "--shard", f"{n}/3", "--output-format", "report") for n in (1, 2, 3)
        ]
        fresh = [
            distlint("check", "--no-cache", "--shard", f"{n}/3", "--output-format", "report")
            for n in (1, 2, 3)
        ]
        assert reports == fresh
    assert distlint("check", "--baseline", "known.json", "--update-baseline").returncode == 0
    result = distlint("check", "--baseline", "known.json")
    assert result == distlint("check", "--baseline", "known.json", "--no-cache")
    assert result.returncode == 0


def test_fixes_of_remembered_findings(tree: Path, distlint: Run) -> None:
    distlint("check")
    assert distlint("fix", "--unsafe-fixes", "buggy.py").returncode == 0
    assert "if dist" not in (tree / "buggy.py").read_text()
    assert "buggy.py" not in distlint("check").stdout


def test_a_comment_whose_use_hangs_on_another_file(project: Path, distlint: Run) -> None:
    (project / "caller.py").write_text(CALLER.replace("0:", "0:  # distlint: ignore[DST101]"))
    (project / "helper.py").write_text(HELPER)
    for _ in range(2):
        assert distlint("check").stdout.startswith("No findings")
    (project / "helper.py").write_text(HELPER.replace("dist.barrier()", "dist.is_initialized()"))
    for _ in range(2):
        shown = distlint("check", "--output-format", "concise").stdout
        assert "caller.py:5:27: warning[DST001]" in shown


def test_what_is_said_of_files_that_were_named_is_not_remembered(
    project: Path, distlint: Run
) -> None:
    names = [f"n{number}.ipynb" for number in range(9)]
    for name in names:
        (project / name).write_text(notebook("x <- 1", language="R"))
    for _ in range(2):
        assert "nothing to check" not in distlint("check").stderr
        assert (
            distlint("check", *names).stderr.count("nothing to check: notebook language is r") == 9
        )


def test_where_it_lies(tree: Path, distlint: Run) -> None:
    def caches() -> list[str]:
        return sorted(path.parent.name for path in tree.rglob("CACHEDIR.TAG"))

    distlint("check", "buggy.py", DISTLINT_NO_CACHE="1")
    assert caches() == []
    distlint("check", "buggy.py", DISTLINT_CACHE_DIR=str(tree / "env"))
    assert caches() == ["env"]
    distlint("check", "--cache-dir", "option", "buggy.py", DISTLINT_CACHE_DIR=str(tree / "other"))
    assert caches() == ["env", "option"]
    (tree / "distlint.toml").write_text('cache-dir = "configured"\n')
    os.mkdir("sub")
    (tree / "sub" / "train.py").write_text(BUGGY)
    distlint("check", "sub")
    assert caches() == ["configured", "env", "option"]
    assert (tree / "configured").is_dir()


def test_standard_input_leaves_nothing(project: Path, distlint: Run) -> None:
    distlint("check", "-", stdin=BUGGY)
    distlint("check", "-", "--stdin-filename", "train.py", stdin=BUGGY)
    assert os.listdir(project) == [".git"]


class TestClean:
    def test_it_removes_caches_here_and_below(self, tree: Path, distlint: Run) -> None:
        (tree / "other").mkdir()
        (tree / "other" / "pyproject.toml").write_text("[tool.distlint]\n")
        (tree / "other" / "train.py").write_text(BUGGY)
        distlint("check", ".", "other/train.py")
        assert len(list(tree.rglob("CACHEDIR.TAG"))) == 2
        result = distlint("clean")
        assert result.stdout.splitlines() == [
            f"Removed cache {CACHE}.",
            f"Removed cache {os.path.join('other', CACHE)}.",
        ]
        assert not list(tree.rglob(f"{CACHE}*"))
        assert distlint("clean").stdout == ""
        assert distlint("clean").returncode == 0

    def test_it_removes_nothing_else(self, tree: Path, distlint: Run) -> None:
        (tree / "mine").mkdir()
        (tree / "mine" / "notes.json").write_text("{}")
        distlint("check", "--cache-dir", "mine", "buggy.py")
        assert len(os.listdir("mine")) == 2
        assert distlint("clean", "--cache-dir", "mine").stdout == "Removed cache mine.\n"
        assert os.listdir("mine") == ["notes.json"]

    def test_a_folder_that_is_not_there(self, project: Path, distlint: Run) -> None:
        result = distlint("clean", "nowhere")
        assert (result.returncode, result.stderr) == (2, "distlint: no such directory: nowhere\n")


@pytest.mark.campaign
def test_runs_at_once_share_a_cache(
    tree: Path, distlint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many at the same time, which read and write the same file, and one that is killed."""
    monkeypatch.setenv("COLUMNS", "100")
    command = [sys.executable, "-m", "distlint", "check"]
    for turn in range(3):
        (tree / "new.py").write_text(CLEAN + f"y = {turn}\n")
        fresh = distlint("check", "--no-cache")
        processes = [
            subprocess.Popen([*command, *jobs], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for jobs in ([], ["-j2"], [], ["clean.py", "new.py"], [])
        ]
        time.sleep(0.2 * turn)
        processes[-1].kill()
        outputs = [process.communicate(timeout=120)[0].decode() for process in processes]
        assert outputs[:3] == [fresh.stdout] * 3
        assert distlint("check") == fresh
    files = [path for path in (tree / CACHE).rglob("*") if path.is_file()]
    assert [path.suffix for path in files if path.suffix == ".tmp"] in ([], [".tmp"])


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.campaign
def test_an_interrupted_run_leaves_a_cache_that_works(tree: Path, distlint: Run) -> None:
    for number in range(40):
        (tree / f"m{number}.py").write_text(BUGGY + f"y = {number}\n")
    command = [sys.executable, "-m", "distlint", "check", "-j2"]
    for delay in (0.5, 1, 1.5, 2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        # 1 where it was quicker, and the signal itself where Python was not ready
        assert process.returncode in (130, 1, -signal.SIGINT)
        assert b"Traceback" not in errors or process.returncode < 0
    assert distlint("check", "-j1") == distlint("check", "--no-cache", "-j1")
