"""``distlint confirm``: which scripts are written where, and what is said when they are run."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from distlint.cli.confirm import in_folder
from distlint.harness import cluster
from tests.cli.conftest import BUGGY, CLEAN, Run
from tests.confirm.scripts import bad_examples, written

TWO = """\
import torch.distributed as dist


def save():
    if dist.get_rank() == 0:
        dist.barrier()


def load():
    if dist.get_rank() == 1:
        dist.barrier()
"""


def test_the_script_is_printed(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(BUGGY)
    result = distlint("confirm", "train.py")
    assert result.returncode == 0
    assert result.stdout.startswith('"""DST101 at train.py:6, to run.')
    assert "if rank == 0:  # line 6: if dist.get_rank() == 0\n" in result.stdout


def test_the_script_is_written_to_a_file(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(BUGGY)
    result = distlint("confirm", "train.py:6", "-o", "repro.py")
    assert (result.returncode, result.stdout) == (0, "")
    compile((project / "repro.py").read_text(), "repro.py", "exec")


def test_several_scripts_need_a_directory(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(TWO)
    result = distlint("confirm", "train.py", "-o", "repro.py")
    assert result.returncode == 2
    assert "2 scripts: name a directory, or one of the lines 5, 10" in result.stderr
    (project / "out").mkdir()
    assert distlint("confirm", "train.py", "-o", "out").returncode == 0
    names = sorted(path.name for path in (project / "out").iterdir())
    assert names == ["train_10_DST101.py", "train_5_DST101.py"]


def test_a_line_and_a_code_choose(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(TWO)
    assert "train.py:10, to run" in distlint("confirm", "train.py:10").stdout
    for row in ("7", "0"):
        said = f"No findings about hangs in line {row}, but in 5, 10.\n"
        assert distlint("confirm", f"train.py:{row}").stdout == said
    assert (
        distlint("confirm", "train.py", "--code", "DST104").stdout == "No findings about hangs.\n"
    )


def test_correct_code_has_nothing_to_confirm(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(CLEAN)
    result = distlint("confirm", "train.py")
    assert (result.returncode, result.stdout) == (0, "No findings about hangs.\n")


def test_a_finding_without_a_script_says_why(distlint: Run, project: Path) -> None:
    ((title, source),) = (
        item for item in bad_examples().items() if "callback on the main process" in item[0]
    )
    (project / "train.py").write_text(source)
    result = distlint("confirm", "train.py")
    assert result.returncode == 1, title
    assert result.stdout.startswith("train.py:12: DST104 it rests on the source alone")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("gone.py", None, "no such file"),
        ("old.py", "print 'hello'\n", "old.py:1:"),
        ("note.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4}', "for scripts only"),
    ],
)
def test_what_cannot_be_read_is_named(
    distlint: Run, project: Path, name: str, text: str | None, said: str
) -> None:
    if text is not None:
        (project / name).write_text(text)
    result = distlint("confirm", name)
    assert result.returncode == 2
    assert said in result.stderr


def test_without_torch_there_is_one_clear_line(
    distlint: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "train.py").write_text(BUGGY)
    monkeypatch.setattr(cluster, "missing", lambda needs=(): "torch is not installed")
    result = distlint("confirm", "train.py", "--run")
    assert result.returncode == 2
    assert "--run executes the scripts under gloo: torch is not installed" in result.stderr


@pytest.mark.skipif(cluster.missing() is not None, reason="torch is not installed")
def test_a_run_names_where_each_rank_waits(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(BUGGY + "if dist.get_rank() == 1:\n    dist.barrier()\n")
    result = distlint("confirm", "train.py:6", "--run")
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        "train.py:6: DST101 confirmed, the ranks wait for each other",
        "    rank 0: stuck in all_reduce (line 7: dist.all_reduce(x))",
        "    rank 1: stuck in barrier (line 9: dist.barrier())",
        "    ranks 2, 3: finished",
    ]


@pytest.mark.parametrize(
    "name",
    ['it"s""".py', "back\\slash.py", "C:\\new\\u1.py", 'end"', "new\nline.py", "a:7"],
)
@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_script_is_valid_whatever_the_file_is_called(
    distlint: Run, project: Path, name: str
) -> None:
    (project / name).write_text(BUGGY)
    result = distlint("confirm", name)
    assert result.returncode == 0, result.stdout
    compile(result.stdout, "repro.py", "exec")


@pytest.mark.parametrize("target", ["train.py", "notes.txt", "."])
def test_no_other_file_is_written_over(distlint: Run, project: Path, target: str) -> None:
    files = ("train.py", "notes.txt", "train_6_DST101.py")
    for name in files:
        (project / name).write_text(BUGGY)
    result = distlint("confirm", "train.py", "-o", target)
    assert result.returncode == 2
    assert "exists and was not written by `distlint confirm`" in result.stderr
    assert {(project / name).read_text() for name in files} == {BUGGY}


def test_an_earlier_script_is_written_over(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(BUGGY)
    (project / "empty.py").write_text("")
    for target in ("repro.py", "empty.py"):
        assert distlint("confirm", "train.py", "-o", target).returncode == 0
    (project / "train.py").write_text("\n" + BUGGY)
    assert distlint("confirm", "train.py", "-o", "repro.py").returncode == 0
    assert "train.py:7, to run" in (project / "repro.py").read_text()


def test_findings_of_one_line_have_a_file_each(project: Path) -> None:
    (found,) = written(BUGGY)
    other = replace(found.finding, message="another one")
    files = in_folder(project, {found.finding: "first", other: "second"})
    assert {path.name: source for path, source in files.items()} == {
        "train_6_DST101.py": "first",
        "train_6_DST101_2.py": "second",
    }


@pytest.mark.parametrize("code", ["DST101", "dst101", "DST1", "collective-in-rank-branch"])
def test_a_code_is_known_in_any_case(distlint: Run, project: Path, code: str) -> None:
    (project / "train.py").write_text(BUGGY)
    assert "train.py:6, to run" in distlint("confirm", "train.py", "--code", code).stdout


@pytest.mark.parametrize("code", ["DST999", "nonsense", ""])
def test_a_code_that_does_not_exist_is_refused(distlint: Run, project: Path, code: str) -> None:
    (project / "train.py").write_text(BUGGY)
    result = distlint("confirm", "train.py", "--code", code)
    assert result.returncode == 2
    assert f"unknown rule `{code}`" in result.stderr
