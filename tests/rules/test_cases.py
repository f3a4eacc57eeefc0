"""The cases of each rule, under ``cases/CODE/``: what it reports, and mostly what it does not.

A case is one script, or a directory where it takes several files. The rule has to report the lines
with a mark, ``# expect: CODE``, and no other: a case without a mark has to be silent. One whose
name begins with ``miss_`` is not judged right yet.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import pytest

from distlint.engine.trial import marks
from distlint.rules.registry import rules
from tests.rules.one_rule import reported
from tests.support import SCRIPT

CODES = sorted((Path(__file__).parent / "cases").iterdir())
CASES = [case for code in CODES for case in sorted(code.glob("[!._]*"))]
Test = TypeVar("Test", bound=Callable[..., None])


def named(case: Path) -> str:
    return f"{case.parent.name}/{case.stem}"


def test_each_directory_is_named_after_a_rule() -> None:
    assert [code.name for code in CODES if code.name not in rules()] == []


def judged(cases: Iterable[Path]) -> Callable[[Test], Test]:
    """The test for each of these cases."""
    known = pytest.mark.xfail(strict=True, reason="known: what is judged right loses the prefix")
    return pytest.mark.parametrize(
        "case",
        [
            pytest.param(case, marks=[known] if case.name.startswith("miss_") else [])
            for case in cases
        ],
        ids=named,
    )


@judged(case for case in CASES if case.is_file())
def test_script(case: Path) -> None:
    holds(case, case.parent.name, SCRIPT.with_suffix(case.suffix))


@judged(case for case in CASES if case.is_dir())
def test_directory(case: Path, tmp_path: Path) -> None:
    """Each script among the files is checked. They are copied into a repository of their own."""
    shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    (tmp_path / ".git").mkdir()
    for script in sorted(tmp_path.rglob("*.py")):
        holds(script, case.parent.name, script)


def holds(file: Path, code: str, path: Path) -> None:
    source = file.read_text("utf-8")
    assert reported(source, code, path) == marks(source)
