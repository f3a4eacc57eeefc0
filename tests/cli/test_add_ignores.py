"""``distlint check --add-ignores``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import BUGGY, CLEAN, Run


@pytest.fixture
def train(project: Path) -> Path:
    (project / "train.py").write_text(BUGGY)
    return project / "train.py"


def test_every_finding_gets_a_comment(train: Path, distlint: Run) -> None:
    result = distlint("check", "--add-ignores", "train.py")
    assert result.returncode == 0
    assert result.stdout == "No findings (checked 1 file).\n"
    assert result.stderr == "Suppressed 1 finding in 1 file.\n"
    assert train.read_text() == BUGGY.replace("== 0:", "== 0:  # distlint: ignore[DST101]")


def test_a_reason(train: Path, distlint: Run) -> None:
    assert distlint("check", "--add-ignores=the others are servers, #12").returncode == 0
    expected = "== 0:  # distlint: ignore[DST101] -- the others are servers, #12"
    assert train.read_text() == BUGGY.replace("== 0:", expected)


def test_a_reason_is_not_taken_from_what_follows(train: Path, distlint: Run) -> None:
    result = distlint("check", "--add-ignores", "gone.py")
    assert result.returncode == 2
    assert "gone.py: no such file or directory" in result.stderr


def test_a_reason_that_is_none(train: Path, distlint: Run) -> None:
    result = distlint("check", "--add-ignores=a # b")
    assert result.returncode == 2
    assert "the reason must not contain `#`" in result.stderr
    assert train.read_text() == BUGGY


def test_a_preview(train: Path, distlint: Run) -> None:
    result = distlint("check", "--add-ignores", "--diff")
    assert result.returncode == 1
    assert "+if dist.get_rank() == 0:  # distlint: ignore[DST101]" in result.stdout
    assert train.read_text() == BUGGY


@pytest.mark.parametrize(
    ("statement", "commented"),
    [
        (
            "if dist.get_rank() == 0:  # servers",
            "if dist.get_rank() == 0:  # servers  # distlint: ignore[DST101]",
        ),
        (
            "if dist.get_rank() == 0:  # distlint: ignore[DST104] -- so",
            "if dist.get_rank() == 0:  # distlint: ignore[DST104, DST101] -- so",
        ),
        (
            "# distlint: ignore[DST104]\nif dist.get_rank() == 0:",
            "# distlint: ignore[DST104, DST101]\nif dist.get_rank() == 0:",
        ),
        (
            "if (\n    dist.get_rank()\n    == 0\n):",
            "if (\n    dist.get_rank()\n    == 0\n):  # distlint: ignore[DST101]",
        ),
        (
            "if dist.get_rank() == 0 and '''\n''':",
            "if dist.get_rank() == 0 and '''\n''':  # distlint: ignore[DST101]",
        ),
        (
            f"if dist.get_rank() == 0 and {'x' * 60} != 1:",
            f"# distlint: ignore[DST101]\nif dist.get_rank() == 0 and {'x' * 60} != 1:",
        ),
    ],
    ids=["comment", "directive", "directive above", "brackets", "string", "long"],
)
def test_where_it_goes(train: Path, distlint: Run, statement: str, commented: str) -> None:
    text = f"{'x' * 60} = 2\n" + BUGGY
    train.write_text(text.replace("if dist.get_rank() == 0:", statement))
    distlint("check", "--add-ignores", "--ignore", "DST001")
    assert train.read_text() == text.replace("if dist.get_rank() == 0:", commented)
    assert distlint("check", "--ignore", "DST001").returncode == 0


def test_a_line_above_is_indented_and_ends_like_the_others(train: Path, distlint: Run) -> None:
    body = f"    if dist.get_rank() == 0 and {'x' * 60} != 1:\n        dist.barrier()\n"
    text = CLEAN.replace("    dist.all_reduce(x)\n", body).replace("\n", "\r\n")
    train.write_bytes(text.encode())
    distlint("check", "--add-ignores")
    expected = text.replace("    if dist", "    # distlint: ignore[DST101]\r\n    if dist")
    assert train.read_bytes().decode() == expected


def test_mistakes_and_unused_comments_are_left(train: Path, distlint: Run) -> None:
    train.write_text("x = 1  # distlint: ignore[DST101]\n")
    train.with_name("bad.py").write_text("x = (\n")
    result = distlint("check", "--add-ignores")
    assert result.returncode == 1
    assert "Found 1 error, 1 warning in 2 files" in result.stdout
    assert result.stderr == "Suppressed 0 findings in 0 files.\n"


def test_a_file_that_cannot_be_written(train: Path, distlint: Run) -> None:
    train.write_bytes(b"# -*- coding: latin-1 -*-\n" + BUGGY.encode())
    result = distlint("check", "--add-ignores=\N{SNOWMAN}")
    assert result.returncode == 2
    assert "train.py: no comment added: 'latin-1' codec can't encode" in result.stderr
    assert "Found 1 error" in result.stdout


def test_what_does_not_go_together(train: Path, distlint: Run) -> None:
    for arguments in (["--fix"], ["-"]):
        result = distlint("check", "--add-ignores", *arguments)
        assert result.returncode == 2
        assert "--add-ignores cannot be combined with --fix or standard input" in result.stderr


def test_what_the_baseline_holds_needs_no_comment(train: Path, distlint: Run) -> None:
    distlint("check", "--baseline", "b.json", "--update-baseline")
    distlint("check", "--baseline", "b.json", "--add-ignores")
    assert train.read_text() == BUGGY
