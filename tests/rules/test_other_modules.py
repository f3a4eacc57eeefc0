"""What several processes do in one file, as other files of the project call it.

The projects lie under ``variants/other_modules``. Of what the rules in ``JUDGED`` say about each
file, the marks, ``# expect: CODE``, ask for all, and for nothing else. A project whose name begins
with ``miss_`` is not judged right yet.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver
from distlint.engine.trial import marks

PROJECTS = sorted((Path(__file__).parent / "variants" / "other_modules").iterdir())
JUDGED = ("DST202", "DST212", "DST404", "DST406", "DST408", "DST413", "DST414", "DST415", "DST905")

KNOWN = pytest.mark.xfail(strict=True, reason="known: what is judged right loses the prefix")


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(each, id=each.name, marks=[KNOWN] if each.name.startswith("miss_") else [])
        for each in PROJECTS
    ],
)
def test_project(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / ".git").mkdir()
    resolver = Resolver(Overrides(Layer(select=JUDGED), isolated=True), tmp_path)
    places = [(each.place, each.code) for each in check_paths([tmp_path], resolver).findings]
    found = [(str(at.path.relative_to(tmp_path)), at.span.row, code) for at, code in places]
    wanted = [
        (str(script.relative_to(tmp_path)), row, code)
        for script in sorted(tmp_path.rglob("*.py"))
        for row, code in marks(script.read_text("utf-8"))
    ]
    assert sorted(found) == wanted
