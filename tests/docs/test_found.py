"""docs/found.md agrees with its data, and the data with what is executed and can be checked."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import found
from distlint.rules.registry import rules
from scripts import generate_found
from tests.executed.cases import examples, of_folder

ROWS = found.rows()

HANGS = """\
import torch.distributed as dist


def save(loss):
    if dist.get_rank() == 0:
        dist.all_reduce(loss)
"""


def test_the_page_is_up_to_date() -> None:
    assert generate_found.PAGE.read_text("utf-8") == generate_found.page(), (
        "run: python -m scripts.generate_found"
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.repository}-{row.path}:{row.line}")
def test_a_row_is_complete(row: found.Row) -> None:
    assert re.fullmatch(r"[0-9a-f]{40}", row.commit)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", row.repository)
    assert row.code in rules()
    assert row.effect in generate_found.HEADINGS
    assert re.fullmatch(r"[^|]+[^|.]", row.happens)


def test_each_repository_has_few_rows_and_one_commit() -> None:
    places = Counter((row.repository, row.path, row.line) for row in ROWS)
    assert max(places.values()) == 1
    assert max(Counter(row.repository for row in ROWS).values()) <= 5
    assert len({(row.repository, row.commit) for row in ROWS}) == len(
        {row.repository for row in ROWS}
    )


def test_what_is_said_to_be_executed_is_executed() -> None:
    labels = {"-".join(case.label.split("-")[:2]) for case in examples("bad")}
    labels |= {f"bugs/{case.label}" for case in of_folder("bugs") if case.effect != "finishes"}
    assert {row.shown for row in ROWS if row.shown} <= labels


def test_a_row_about_a_hang_names_a_program_that_hangs() -> None:
    effects = {"-".join(case.label.split("-")[:2]): case.effect for case in examples("bad")}
    effects |= {f"bugs/{case.label}": case.effect for case in of_folder("bugs")}
    shown = {row.shown for row in ROWS if row.effect == "hang" and row.shown}
    assert {effects[each] for each in shown} == {"hang"}


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, str]:
    """A directory with one bare repository, owner/name; and its commit."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "train.py").write_text(HANGS)
    run = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Add it"]):
        subprocess.run([*run, *command], check=True)
    corpus = tmp_path / "corpus"
    bare = corpus / "owner+name" / "repo"
    subprocess.run(["git", "clone", "-q", "--bare", str(tree), str(bare)], check=True)
    commit = subprocess.run(
        [*run, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return corpus, commit


@pytest.mark.parametrize(
    ("change", "said", "status"),
    [
        ({}, "found      owner/name", 0),
        ({"line": 3}, "moved (5)", 1),
        ({"code": "DST104"}, "not found", 1),
        ({"commit": "0" * 40}, "absent", 2),
        ({"repository": "owner/other"}, "absent", 2),
    ],
)
def test_the_rows_are_checked(
    corpus: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, object],
    said: str,
    status: int,
) -> None:
    folder, commit = corpus
    row = {
        "repository": "owner/name",
        "commit": commit,
        "path": "train.py",
        "line": 5,
        "code": "DST101",
        "effect": "hang",
        "happens": "",
        "shown": "",
    } | change
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(row) + "\n")
    arguments = [str(folder), "--data", str(data), "--layout", "{owner}+{name}/repo"]
    assert found.main(arguments) == status
    assert capsys.readouterr().out.startswith(said)


def test_a_repository_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        found.main([str(tmp_path), "--only", "owner/unknown"])
