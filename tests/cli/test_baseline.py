"""Adopting the tool on code that has findings: a baseline, and what becomes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BUGGY, CLEAN, Run

FILE = "known.json"
SECOND = """

def later():
    if dist.get_rank() == 1:
        dist.barrier()
"""


@pytest.fixture
def buggy(project: Path, distlint: Run) -> Path:
    """A project whose one finding is in its baseline."""
    file = project / "train.py"
    file.write_text(BUGGY)
    (project / "distlint.toml").write_text(f'baseline = "{FILE}"\n')
    result = distlint("check", "--update-baseline")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"{FILE} now contains 1 finding.\n"
    return file


def entries(project: Path) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = json.loads((project / FILE).read_text())["findings"]
    return found


def test_it_can_be_read(buggy: Path) -> None:
    source = "if dist.get_rank() == 0"
    assert entries(buggy.parent) == {"train.py": [{"code": "DST101", "source": source}]}


def test_what_it_holds_is_passed_over(buggy: Path, distlint: Run) -> None:
    result = distlint("check")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "No new findings (checked 1 file; 1 in the baseline).\n"
    assert "1 finding in the baseline" in distlint("check", "--statistics").stdout
    assert json.loads(distlint("check", "--output-format", "json").stdout) == []
    assert distlint("check", "-", "--stdin-filename", "train.py", stdin=BUGGY).returncode == 0


def test_what_is_new_is_reported(buggy: Path, distlint: Run) -> None:
    buggy.write_text(BUGGY + SECOND)
    result = distlint("check", "--output-format", "concise")
    assert result.returncode == 1
    assert result.stdout.startswith("train.py:11:")
    assert result.stdout.splitlines()[1] == (
        "Found 1 error in 1 file (checked 1 file; 1 in the baseline)."
    )


@pytest.mark.parametrize(
    "text",
    [
        "import os\n\n\n" + BUGGY,
        BUGGY.replace("dist.get_rank() == 0", "dist.get_rank()   == 0"),
        BUGGY.replace(
            "if dist.get_rank() == 0:\n    dist.all_reduce(x)",
            "if x.dim():\n    if dist.get_rank() == 0:\n        dist.all_reduce(x)",
        ),
    ],
    ids=["shifted", "formatted", "indented"],
)
def test_a_finding_stays_itself(buggy: Path, distlint: Run, text: str) -> None:
    buggy.write_text(text)
    result = distlint("check")
    assert (result.returncode, result.stderr) == (0, "")


def test_one_more_of_the_same_is_new(buggy: Path, distlint: Run) -> None:
    buggy.write_text(BUGGY + SECOND.replace("== 1", "== 0"))
    assert distlint("check").returncode == 1
    distlint("check", "--update-baseline")
    (entry,) = entries(buggy.parent)["train.py"]
    assert entry["count"] == 2
    assert distlint("check").returncode == 0


def test_a_changed_line_is_a_new_finding(buggy: Path, distlint: Run) -> None:
    buggy.write_text(BUGGY.replace("== 0", "== 1"))
    result = distlint("check")
    assert result.returncode == 1
    assert "1 entry is stale" in result.stderr


def test_stale_entries_are_named_and_fail_nothing(buggy: Path, distlint: Run) -> None:
    buggy.write_text(CLEAN)
    result = distlint("check", "--verbose")
    assert result.returncode == 0
    assert result.stdout == "No findings (checked 1 file).\n"
    assert result.stderr.splitlines() == [
        "warning: known.json: 1 entry is stale; remove fixed findings with --update-baseline "
        "(list them with --verbose)",
        "  train.py: DST101 if dist.get_rank() == 0",
    ]
    distlint("check", "--update-baseline")
    assert entries(buggy.parent) == {}
    assert distlint("check").stderr == ""


class TestWhatWasNotLookedAt:
    """A hook that names one file, or a run with few rules, says nothing about the rest."""

    @pytest.fixture
    def other(self, buggy: Path, distlint: Run) -> Path:
        other = buggy.with_name("other.py")
        other.write_text(BUGGY)
        distlint("check", "--update-baseline")
        return other

    def test_other_files(self, other: Path, distlint: Run) -> None:
        other.write_text(CLEAN)
        assert distlint("check", "train.py").stderr == ""
        distlint("check", "train.py", "--update-baseline")
        assert set(entries(other.parent)) == {"train.py", "other.py"}
        assert "1 entry is stale" in distlint("check", "other.py").stderr

    def test_rules_that_are_off(self, other: Path, distlint: Run) -> None:
        assert distlint("check", "--select", "DST4").stderr == ""
        distlint("check", "--select", "DST4", "--update-baseline")
        assert len(entries(other.parent)) == 2

    def test_a_file_that_does_not_parse(self, other: Path, distlint: Run) -> None:
        other.write_text("x = (\n")
        result = distlint("check")
        assert result.returncode == 1
        assert result.stderr == ""

    def test_a_file_that_is_gone(self, other: Path, distlint: Run) -> None:
        other.unlink()
        assert "1 entry is stale" in distlint("check").stderr
        distlint("check", "--update-baseline")
        assert set(entries(other.parent)) == {"train.py"}

    def test_a_file_that_was_renamed(self, other: Path, distlint: Run) -> None:
        other.rename(other.with_name("renamed.py"))
        result = distlint("check")
        assert (result.returncode, result.stderr) == (0, "")
        other.with_name("copy.py").write_text(BUGGY)
        assert distlint("check").returncode == 1


def test_an_update_counts_a_mistake_once_however_often_it_is_made(
    buggy: Path, distlint: Run
) -> None:
    buggy.write_text(BUGGY + "x = (\n")
    for _ in range(3):
        result = distlint("check", "--update-baseline")
        assert result.stdout == f"{FILE} now contains 2 findings.\n"


def test_the_file_named_on_the_command_line_wins(buggy: Path, distlint: Run) -> None:
    assert distlint("check", "--baseline", "own.json", "--update-baseline").returncode == 0
    assert (buggy.parent / "own.json").exists()
    (buggy.parent / FILE).unlink()
    assert distlint("check", "--baseline", "own.json").returncode == 0


def test_the_nearest_configuration_names_it(buggy: Path, distlint: Run) -> None:
    package = buggy.parent / "pkg"
    package.mkdir()
    (package / "distlint.toml").write_text('baseline = "own.json"\n')
    (package / "a.py").write_text(BUGGY)
    assert "pkg/own.json: no such baseline" in distlint("check").stderr
    assert distlint("check", "--update-baseline").stdout == (
        "known.json now contains 1 finding.\npkg/own.json now contains 1 finding.\n"
    )
    assert distlint("check").returncode == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "known.json: no such baseline; create it with --update-baseline"),
        ("[", "known.json: not a baseline: "),
        ("[]", "known.json: not a baseline of distlint"),
        ('{"version": 1, "findings": {"a.py": [{"code": 1}]}}', "not a baseline of distlint"),
        ('{"version": 2}', "known.json: written by a newer version of distlint"),
    ],
)
def test_mistakes(buggy: Path, distlint: Run, content: str | None, message: str) -> None:
    file = buggy.parent / FILE
    file.unlink() if content is None else file.write_text(content)
    result = distlint("check")
    assert result.returncode == 2
    assert message in result.stderr


def test_it_cannot_be_updated_without_a_name(project: Path, distlint: Run) -> None:
    (project / "train.py").write_text(BUGGY)
    result = distlint("check", "--update-baseline")
    assert result.returncode == 2
    assert "no baseline given; use `--baseline FILE`" in result.stderr
    for arguments in (["--fix"], ["-"]):
        result = distlint("check", "--baseline", FILE, "--update-baseline", *arguments)
        assert result.returncode == 2
        assert "--update-baseline cannot be combined with --fix or standard input" in result.stderr


def test_a_repair_is_no_failure_for_what_is_known(buggy: Path, distlint: Run) -> None:
    result = distlint("fix")
    assert result.returncode == 0
    assert "1 in the baseline" in result.stdout
    result = distlint("fix", "--unsafe-fixes")
    assert result.returncode == 0
    assert "1 entry is stale" in result.stderr
    assert buggy.read_text() != BUGGY


def test_a_folder_for_it_is_made(buggy: Path, distlint: Run) -> None:
    named = ("--baseline", "ci/known.json")
    assert distlint("check", *named, "--update-baseline").returncode == 0
    assert distlint("check", *named).returncode == 0
