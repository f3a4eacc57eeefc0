"""Whole reports as a user reads them, at 60, 80 and 120 columns.

After a change that is meant: ``python -m tests.output.test_snapshots``, and read the difference.
"""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from distlint.cli import main
from tests.support import ROOT

SNAPSHOTS = Path(__file__).parent / "snapshots"
WIDTHS = (60, 80, 120)
SCRIPTS = {
    "nanogpt": "examples/nanogpt_style/buggy.py",
    "accelerate": "examples/accelerate_style/buggy.py",
    "several_files": "tests/rules/variants/decisions_elsewhere/early_class/train.py",
}

each = pytest.mark.parametrize("name", SCRIPTS)


def shown(name: str, width: int) -> str:
    """What ``distlint check`` prints about a script in a terminal of this width."""
    stream = io.StringIO()
    arguments = ["check", "--isolated", "--no-cache", "--color", "never", SCRIPTS[name]]
    environment = {"COLUMNS": str(width), "PYTHONIOENCODING": "utf-8"}
    with patch.dict(os.environ, environment), redirect_stdout(stream):
        main(arguments)
    return stream.getvalue()


@each
@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_is_as_it_was(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    expected = (SNAPSHOTS / f"{name}_{width}.txt").read_text(encoding="utf-8")
    assert shown(name, width) == expected


@each
def test_no_line_of_a_finding_is_wider_than_the_terminal(name: str) -> None:
    for width in WIDTHS:
        lines = (SNAPSHOTS / f"{name}_{width}.txt").read_text(encoding="utf-8").splitlines()
        findings = lines[: max(n for n, line in enumerate(lines) if not line)]
        assert all(len(line) <= width for line in findings)


def _update() -> None:
    os.chdir(ROOT)
    for name in SCRIPTS:
        for width in WIDTHS:
            target = SNAPSHOTS / f"{name}_{width}.txt"
            target.write_text(shown(name, width), encoding="utf-8")


if __name__ == "__main__":
    _update()
