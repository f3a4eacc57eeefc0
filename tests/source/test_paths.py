"""Paths on one line of a terminal, whatever they are made of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distlint.source.paths import display, printable


def test_paths_below_the_working_folder_are_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert display(tmp_path / "a" / "b.py") == os.path.join("a", "b.py")
    assert display(Path("/elsewhere/b.py")) == "/elsewhere/b.py"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("train.py", "train.py"),
        ("größe 模型.py", "größe 模型.py"),
        ("two\nlines.py", "two\\nlines.py"),
        ("clear\x1b[2J.py", "clear\\x1b[2J.py"),
        ("turned\u202eyp.py", "turned\\u202eyp.py"),
        (os.fsdecode(b"caf\xe9.py"), "caf\\xe9.py"),
    ],
)
def test_what_would_break_the_line_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
