"""Results depend on nothing but the files: not on hashes, workers or the order of the files."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.worklist import _joined
from distlint.engine.discovery import Target
from distlint.engine.settings import Resolver
from distlint.engine.workers import check_files, chunks_of

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """Some forty scripts with bugs of all kinds, and a package that some import."""
    for folder in ("examples", "tests/rules/bugs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "pyproject.toml").write_text("")
    for file in sorted((tmp_path / "tests/rules/bugs").rglob("*.py"))[::2]:
        file.unlink()
    return tmp_path


def output(folder: Path, seed: int, jobs: int) -> str:
    command = [sys.executable, "-m", "distlint", "check", "--no-cache", "--preview", "-v"]
    result = subprocess.run(
        [*command, "--jobs", str(jobs), "--output-format", "report", "."],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 1
    return result.stdout + result.stderr


@pytest.mark.campaign
def test_hash_seeds_and_workers(scripts: Path) -> None:
    first = output(scripts, seed=0, jobs=1)
    assert first.count('"code"') > 10
    assert output(scripts, seed=1, jobs=2) == first
    assert output(scripts, seed=2, jobs=3) == first
    assert output(scripts, seed=3, jobs=1) == first


@pytest.mark.campaign
def test_the_order_of_files(scripts: Path) -> None:
    targets = [Target(path, False) for path in sorted(scripts.rglob("*.py"))]
    results = check_files(targets, Resolver(), 1, None)
    assert any(result.reported for result in results)
    random.seed(3)
    shuffled = random.sample(targets, len(targets))
    found = dict(zip(shuffled, check_files(shuffled, Resolver(), 1, None), strict=True))
    assert [found[target] for target in targets] == results


def test_a_file_too_large_to_be_imported_is_so_in_any_order(tmp_path: Path) -> None:
    """Also when it was checked itself before the file that imports it."""
    meets = "import torch.distributed as dist\n\n\ndef helper():\n    dist.barrier()\n"
    (tmp_path / "a_large.py").write_text(meets + "# filler\n" * 120_000)
    (tmp_path / "b.py").write_text(
        "import torch.distributed as dist\nfrom a_large import helper\n"
        "if dist.get_rank() == 0:\n    helper()\n"
    )
    targets = [Target(tmp_path / name, True) for name in ("a_large.py", "b.py")]
    results = check_files(targets, Resolver(), 1, None)
    assert check_files(targets[::-1], Resolver(), 1, None) == results[::-1]


def test_what_ways_have_left_is_joined_in_the_order_of_the_program() -> None:
    """States are told apart by the order of what they hold, so that hashes must not make it."""
    keys = [(scope, f"name{n}") for scope in (3, 1, 2) for n in range(20)]
    then = {key: v.const(1) for key in keys}
    orelse = {key: v.const(2) for key in keys}
    joined = _joined(v.unknown("test"), then.items(), orelse.items(), None, keys)
    assert joined is not None
    assert list(joined) == keys


def test_the_longest_files_come_first_and_neighbours_stay_together(tmp_path: Path) -> None:
    sizes = {"a.py": 10, "b.py": 10, "c.py": 500, "d.py": 20, "e.py": 300, "f.py": 9}
    for name, size in sizes.items():
        (tmp_path / name).write_text("#" * size)
    targets = [Target(tmp_path / name, False) for name in sizes]
    chunks = chunks_of(targets, 2)
    assert [target.path.name for chunk in chunks for target in chunk][:2] == ["c.py", "e.py"]
    assert [target.path.name for target in chunks[2]] == ["a.py", "b.py"]
    assert sorted(t.path.name for chunk in chunks for t in chunk) == sorted(sizes)
