"""``--shard`` and ``distlint merge``: parts of a run make the whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from distlint.output import formats
from distlint.source.exchange import shape_of
from distlint.source.report import Report
from tests.cli.conftest import BUGGY, CLEAN, Run
from tests.notebooks import notebook

SHAPE = shape_of(Report)


@pytest.fixture
def tree(project: Path) -> Path:
    """Findings of every kind, a comment without use, and notices."""
    files = {
        "a.py": BUGGY,
        "b.py": CLEAN + "# distlint: ignore[DST102]\nx += 1\n",
        "c.py": "x = (\n",
        "d.py": CLEAN,
        "e.py": "x = 1\n" * 200,
        "n.ipynb": notebook(BUGGY),
        "distlint.toml": "max-file-size = 1000\n",
    }
    for name, text in files.items():
        (project / name).write_text(text)
    (project / "gone.py").symlink_to("nowhere.py")
    return project


def sharded(distlint: Run, count: int) -> list[str]:
    names = [f"{number}.json" for number in range(1, count + 1)]
    for number, name in enumerate(names, 1):
        part = f"{number}/{count}"
        result = distlint("check", "--shard", part, "--output-format", "report", "-o", name)
        assert result.returncode in (0, 1)
        assert result.stdout == ""
    return names


@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_the_parts_make_the_whole(tree: Path, distlint: Run, count: int) -> None:
    names = sharded(distlint, count)
    merged, whole = distlint("merge", *names), distlint("check")
    assert merged == whole
    assert whole.returncode == 1
    assert "DST102 reports nothing here" in whole.stdout
    assert distlint("merge", *reversed(names), "--statistics").stdout == (
        distlint("check", "--statistics").stdout
    )


def test_a_part_that_is_missing_is_no_clean_part(tree: Path, distlint: Run) -> None:
    names = sharded(distlint, 3)
    for given, message in (
        (names[:1], "missing report of shard 2/3, 3/3"),
        ([*names, names[0]], "the report of a shard is given twice"),
    ):
        result = distlint("merge", *given)
        assert result.returncode == 2
        assert message in result.stderr
    distlint("check", "--output-format", "report", "-o", "whole.json")
    assert "not shards of the same run" in distlint("merge", "whole.json", names[0]).stderr


@pytest.mark.parametrize("name", formats.names())
def test_any_format(tree: Path, distlint: Run, name: str) -> None:
    names = sharded(distlint, 2)
    merged = distlint("merge", *names, "--output-format", name)
    assert merged.stdout == distlint("check", "--output-format", name).stdout


def test_a_part_cannot_tell_which_comments_are_of_no_use(tree: Path, distlint: Run) -> None:
    for part in ("1/2", "2/2"):
        shown = distlint("check", "--shard", part, "--output-format", "concise").stdout
        assert "DST001" not in shown


def test_every_file_is_in_one_part(tree: Path, distlint: Run) -> None:
    found = []
    for name in sharded(distlint, 3):
        found += json.loads((tree / name).read_text())["report"]["files"]
    assert sorted(found) == ["a.py", "b.py", "c.py", "d.py", "n.ipynb"]


def test_reports_of_other_machines(
    tree: Path, distlint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = sharded(distlint, 2)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(tree, elsewhere, symlinks=True, ignore=shutil.ignore_patterns("elsewhere"))
    monkeypatch.chdir(elsewhere)
    merged = distlint("merge", *names, "--output-format", "json")
    assert {Path(each["filename"]).parent for each in json.loads(merged.stdout)} == {elsewhere}


def test_the_baseline_is_compared_once_all_parts_are_there(tree: Path, distlint: Run) -> None:
    distlint("check", "--baseline", "known.json", "--update-baseline")
    (tree / "a.py").rename(tree / "z.py")
    names = sharded(distlint, 3)
    merged = distlint("merge", *names, "--baseline", "known.json")
    assert merged.returncode == 0
    assert "stale" not in merged.stderr
    assert merged == distlint("check", "--baseline", "known.json")
    assert distlint("merge", *names, "--exit-zero").returncode == 0


def test_a_run_that_failed(tree: Path, distlint: Run) -> None:
    arguments = ("--output-format", "report", "-o", "r.json", "missing.py", "d.py")
    assert distlint("check", *arguments).returncode == 2
    result = distlint("merge", "r.json")
    assert result.returncode == 2
    assert "missing.py: no such file or directory" in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "r.json: cannot read file: No such file or directory"),
        ("{", "r.json: not JSON"),
        ("[]", "r.json: not a report written by `--output-format report`"),
        (
            '{"format": 0, "distlint": "9.9", "report": {}}',
            "written by another version of distlint (9.9)",
        ),
        (f'{{"format": "{SHAPE}", "report": {{"reported": 1}}}}', "r.json: corrupt report"),
        (f'{{"format": "{SHAPE}", "report": {{}}}}', "r.json: corrupt report: KeyError"),
    ],
)
def test_mistakes(project: Path, distlint: Run, content: str | None, message: str) -> None:
    if content is not None:
        (project / "r.json").write_text(content)
    result = distlint("merge", "r.json")
    assert result.returncode == 2
    assert message in result.stderr


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "a/b", "1/0"])
def test_parts_that_are_none(project: Path, distlint: Run, part: str) -> None:
    result = distlint("check", "--shard", part)
    assert result.returncode == 2
    assert f"invalid shard (expected, for example, 1/4): {part}" in result.stderr
