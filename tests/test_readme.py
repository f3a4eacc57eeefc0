"""What the README shows is what the program prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHOWN = re.findall(
    r"```console\n\$ distlint ([^\n]*)\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL
)


def test_something_is_shown() -> None:
    assert len(SHOWN) >= 2


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_shown_output_is_real(command: str, output: str) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "distlint", *command.split()],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "96", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert finished.stdout.rstrip() == output.rstrip()
