"""Variants of what the analysis has to know of values, under ``variants/TOPIC/``; those of several
files are directories.

What is reported about hangs, and by the rules in ``NO_HANGS``, is what the marks,
``# expect: CODE``, ask for, and nothing else: many variants have none, as they are the correct
twins of the others. One whose name begins with ``miss_`` is not judged right yet.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.engine.trial import marks
from distlint.rules.find import find
from distlint.source.document import Document
from tests.support import about_hangs, findings

NO_HANGS = {"DST515", "DST613", "DST623", "DST624"}
"""What else is judged."""

KNOWN = pytest.mark.xfail(strict=True, reason="known: what is judged right loses the prefix")


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            script,
            id=f"{script.parent.name}/{script.stem}",
            marks=[KNOWN] if script.name.startswith("miss_") else [],
        )
        for script in sorted((Path(__file__).parent / "variants").glob("*/*.py"))
    ],
)
def test_script(script: Path) -> None:
    source = script.read_text("utf-8")
    found = findings(source, preview=False)
    judged = [*about_hangs(found), *(mark for mark in found if mark[1] in NO_HANGS)]
    assert sorted(judged) == marks(source)


@pytest.mark.parametrize(
    "folder",
    sorted(path.parent for path in (Path(__file__).parent / "variants").glob("*/*/train.py")),
    ids=lambda folder: f"{folder.parent.name}/{folder.name}",
)
def test_scripts_of_several_files(folder: Path, tmp_path: Path) -> None:
    """The marks are in ``train.py``, which imports the others."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    script = tmp_path / "train.py"
    found = find(Document.read(script), Project(tmp_path)).findings
    hangs = about_hangs(sorted((each.place.span.row, each.code) for each in found))
    assert hangs == marks(script.read_text("utf-8"))
