"""Variants of what the analysis has to know of values, under ``variants/TOPIC/``.

A variant is one script, or a directory where it takes several files. What is reported about hangs
is what the marks, ``# expect: CODE``, ask for, and nothing else: many variants have none, as they
are the correct twins of the others. One whose name begins with ``miss_`` is not judged right yet.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver
from distlint.engine.trial import Mark, marks
from tests.support import about_hangs, findings

VARIANTS = [
    variant
    for topic in sorted((Path(__file__).parent / "variants").iterdir())
    for variant in sorted(topic.glob("[!._]*"))
]


def named(variant: Path) -> str:
    return f"{variant.parent.name}/{variant.stem}"


def params(are_files: bool) -> list[object]:
    known = pytest.mark.xfail(strict=True, reason="known: what is judged right loses the prefix")
    return [
        pytest.param(each, id=named(each), marks=[known] if each.name.startswith("miss_") else [])
        for each in VARIANTS
        if each.is_file() is are_files
    ]


@pytest.mark.parametrize("script", params(are_files=True))
def test_script(script: Path) -> None:
    source = script.read_text("utf-8")
    assert about_hangs(findings(source, preview=False)) == marks(source)


@pytest.mark.parametrize("directory", params(are_files=False))
def test_directory(directory: Path, tmp_path: Path) -> None:
    shutil.copytree(directory, tmp_path, dirs_exist_ok=True)
    (tmp_path / ".git").mkdir()
    report = check_paths([tmp_path], Resolver(Overrides(isolated=True), tmp_path), jobs=1)
    found: dict[str, list[Mark]] = {path.name: [] for path in tmp_path.rglob("*.py")}
    for each in report.findings:
        found[each.place.path.name].append((each.place.span.row, each.code))
    for path in tmp_path.rglob("*.py"):
        assert about_hangs(sorted(found[path.name])) == marks(path.read_text("utf-8")), path.name
