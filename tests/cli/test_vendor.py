"""``distlint vendor``: one file that a project can keep."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from distlint import __version__
from distlint.engine.vendor import public_names
from tests.cli.conftest import Run
from tests.notebooks import notebook


def test_what_the_project_uses(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(
        "from distlint.runtime import any_rank\nimport distlint.runtime as rt\nrt.free_port()\n"
    )
    (project / "sub").mkdir()
    (project / "sub" / "eval.py").write_text("from distlint import runtime\nruntime.from_main(1)\n")
    (project / "other.py").write_text("import torch\ntorch.runtime.unwrap\n")
    result = distlint("vendor", "sub/ranks.py")
    assert result.stdout == "sub/ranks.py: any_rank, free_port, from_main (written)\n"
    assert result.returncode == 0
    text = (project / "sub" / "ranks.py").read_text()
    tree = ast.parse(text)
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {"any_rank", "free_port", "from_main"} <= defined
    assert "save_checkpoint" not in defined
    assert text.startswith(f"# Vendored from distlint.runtime {__version__}. ")
    assert "Apache License, Version 2.0" in text
    assert "import distlint" not in text
    assert "from distlint.runtime import" not in text


def test_again_changes_nothing_also_after_the_imports_have_moved(
    distlint: Run, project: Path
) -> None:
    train = project / "train.py"
    train.write_text("from distlint.runtime import any_rank\n")
    assert distlint("vendor", "ranks.py").returncode == 0
    before = (project / "ranks.py").read_text()
    train.write_text("from ranks import any_rank\n")
    assert distlint("vendor", "ranks.py").stdout == "ranks.py: any_rank (unchanged)\n"
    assert (project / "ranks.py").read_text() == before
    train.write_text("from ranks import any_rank, Trigger\n")
    assert distlint("vendor", "ranks.py").stdout == "ranks.py: Trigger, any_rank (written)\n"


def test_notebooks_count_as_well(distlint: Run, project: Path) -> None:
    cells = notebook("!ls", "from distlint.runtime import free_port", "broken (")
    (project / "train.ipynb").write_text(cells)
    assert distlint("vendor", "ranks.py").returncode == 0
    assert "def free_port(" in (project / "ranks.py").read_text()


def test_everything_stays_everything(distlint: Run, project: Path) -> None:
    assert distlint("vendor", "--all", "ranks.py").stdout == "ranks.py: all utilities (written)\n"
    assert distlint("vendor", "ranks.py").stdout == "ranks.py: all utilities (unchanged)\n"


@pytest.mark.parametrize("name", sorted(public_names()))
def test_each_name_alone_is_complete(distlint: Run, project: Path, name: str) -> None:
    """No name is used that the file neither defines nor imports, and none is imported in vain."""
    assert distlint("vendor", "--names", name, "ranks.py").returncode == 0
    options = ["--isolated", "--ignore-noqa", "--select", "F", "ranks.py"]
    check = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *options], capture_output=True, text=True
    )
    assert check.returncode == 0, check.stdout


def test_a_file_of_the_users_own_is_left_alone(distlint: Run, project: Path) -> None:
    file = project / "ranks.py"
    file.write_text("mine = 1\n")
    for options in (["--all"], ["--names", "any_rank"], []):
        result = distlint("vendor", "ranks.py", *options)
        assert result.returncode == 2
        assert "was not written by `distlint vendor`; not overwritten" in result.stderr
    assert file.read_text() == "mine = 1\n"


def test_names_that_are_not_there(distlint: Run, project: Path) -> None:
    result = distlint("vendor", "--names", "any_rnak", "ranks.py")
    assert result.returncode == 2
    assert "distlint.runtime has no `any_rnak`; did you mean `any_rank`?" in result.stderr


def test_a_project_that_uses_nothing(distlint: Run, project: Path) -> None:
    result = distlint("vendor", "ranks.py")
    assert result.returncode == 2
    assert "select utilities with --names or --all" in result.stderr
    assert not (project / "ranks.py").exists()


def test_the_name_of_the_file(distlint: Run, project: Path) -> None:
    assert "is not a .py file" in distlint("vendor", "--all", "ranks").stderr


def test_vendoring_needs_no_torch(process: Run, project: Path) -> None:
    root = str(Path(__file__).parents[2])
    result = process("vendor", "--all", "ranks.py", PYTHONPROFILEIMPORTTIME="1", PYTHONPATH=root)
    assert result.returncode == 0
    assert "| torch" not in result.stderr
    assert "distlint.runtime" not in result.stderr
