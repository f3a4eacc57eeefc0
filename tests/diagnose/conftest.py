"""Logs as text, and what is made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.diagnose.diagnosis import Diagnosis
from distlint.diagnose.run import Answer, diagnose


class Logs:
    """Writes logs and has them diagnosed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, *contents: str | bytes, size: int = 0) -> Diagnosis:
        """The diagnosis of logs that have these contents, in order."""
        paths = [self.write(f"job{'x' * n}.log", text) for n, text in enumerate(contents)]
        return diagnose(paths, size=size).diagnosis

    def answer(self, *paths: Path, script: Path | None = None) -> Answer:
        return diagnose(list(paths), script=script)


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)
