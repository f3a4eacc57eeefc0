"""Fixes keep their promises on whole folders; `python -m benchmarks.fix_safety` takes real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import fix_safety
from distlint.engine import documents, fix
from distlint.rules.registry import rules
from distlint.source.edits import apply
from distlint.source.report import Fixed
from tests.notebooks import notebook

UNUSUAL = """\
# -*- coding: latin-1 -*-
import torch\r
import torch.distributed as dist\r
\r
# caf\xe9\r
dist.init_process_group("gloo")\r
if dist.get_rank() == 0:\r
\tdist.all_reduce(torch.ones(1))  # \xe9"""

NOTEBOOK = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.all_reduce(torch.ones(1))
"""


def repository(folder: Path) -> Path:
    """Bad examples of rules about one file's source, a file in an unusual dress, a notebook."""
    root = folder / "repository"
    root.mkdir()
    for code in ("DST203", "DST204", "DST307", "DST404", "DST406", "DST606"):
        for number, example in enumerate(rules()[code].bad):
            (root / f"{code.lower()}_{number}.py").write_text(example.code)
    path = root / "unusual.py"
    path.write_bytes(UNUSUAL.encode("latin-1"))
    path.chmod(0o750)
    (root / "cells.ipynb").write_text(notebook("%pip install torch", NOTEBOOK))
    (root / "data.bin").write_bytes(bytes(range(256)))
    return root


@pytest.mark.campaign
def test_a_folder_of_bad_scripts(tmp_path: Path) -> None:
    outcome = fix_safety.examine(repository(tmp_path), preview=False)
    assert outcome.broken == []
    assert {"DST101", "DST203", "DST204", "DST307"} <= {code for code, _ in outcome.edits}
    in_cell, in_file = (diff for code, diff in outcome.edits if code == "DST101")
    assert in_cell.startswith("# repository/cells.ipynb:7 DST101 unsafe: ")
    assert "+dist.all_reduce(torch.ones(1))" in in_cell.splitlines()
    assert in_file.startswith("# repository/unusual.py:7 DST101 unsafe: ")
    assert "+dist.all_reduce(torch.ones(1))  # \xe9" in in_file.splitlines()


@pytest.mark.campaign
def test_what_changes_beside_the_edits_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path)

    def careless(text: str, edits: object) -> str:
        return apply(text, edits).replace("# caf\xe9", "# cafe")  # type: ignore[arg-type]

    monkeypatch.setattr(fix, "apply", careless)
    broken = fix_safety.examine(root, preview=False).broken
    assert [line.partition("unusual.py: ")[2] for line in broken] == [
        "line 5 is outside of the edits and changed"
    ]


def test_what_changes_beside_the_code_of_a_notebook_is_told(tmp_path: Path) -> None:
    path = repository(tmp_path) / "cells.ipynb"
    before = path.read_bytes()
    fixed = Fixed(path, *[documents.from_bytes(before, path).text] * 2, rounds=())
    after = before.replace(b"keep", b"lost")
    assert list(fix_safety.harm(fixed, (before, 0o644), (after, 0o644))) == [
        "something beside the code of the notebook changed"
    ]


@pytest.mark.campaign
def test_a_sample_is_the_same_for_a_seed(tmp_path: Path) -> None:
    outcome = fix_safety.examine(repository(tmp_path), preview=False)
    edits = tmp_path / "edits.diff"
    edits.write_text("".join(diff for _, diff in outcome.edits))
    first = fix_safety.sample(edits, 3, seed=7)
    assert first == fix_safety.sample(edits, 3, seed=7)
    assert first.count(" unsafe: ") + first.count(" safe: ") == 3
