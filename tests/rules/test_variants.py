"""Variants of what the analysis has to know of values, under ``variants/TOPIC/``; those of several
files are directories.

What is reported about hangs, and by the rules in ``NO_HANGS``, is what the marks,
``# expect: CODE``, ask for, and nothing else: many variants have none, as they are the correct
twins of the others. In topics that begin with ``files`` or ``objects``, the rules in ``FILES`` or
``OBJECTS`` are judged, too, and all files of a directory. One whose name begins with ``miss_`` is
not judged right yet.
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

FILES = {"DST404", "DST406", "DST408", "DST413", "DST414", "DST415", "DST905"}
"""What is judged of files that all ranks write, delete or read."""

OBJECTS = {"DST202", "DST203", "DST401", "DST504"}
"""What is judged of loaders, samplers, models and ranks that come from elsewhere."""

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
    assert _judged(found, script.parent.name) == marks(source)


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(
            folder,
            id=f"{folder.parent.name}/{folder.name}",
            marks=[KNOWN] if folder.name.startswith("miss_") else [],
        )
        for folder in sorted(
            path.parent for path in (Path(__file__).parent / "variants").glob("*/*/train.py")
        )
    ],
)
def test_scripts_of_several_files(folder: Path, tmp_path: Path) -> None:
    """The marks are in ``train.py``, which imports the others, or in all files of some topics."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    in_all = folder.parent.name.startswith(("files", "objects"))
    for script in sorted(tmp_path.rglob("*.py")) if in_all else [tmp_path / "train.py"]:
        found = find(Document.read(script), Project(tmp_path)).findings
        rows = sorted((each.place.span.row, each.code) for each in found if not each.preview)
        source = script.read_text("utf-8")
        assert _judged(rows, folder.parent.name) == marks(source), script.name


def _judged(found: list[tuple[int, str]], topic: str) -> list[tuple[int, str]]:
    further = {"files": FILES, "objects": OBJECTS}.get(topic.partition("_")[0], set())
    codes = NO_HANGS | further
    return sorted([*about_hangs(found), *(mark for mark in found if mark[1] in codes)])
