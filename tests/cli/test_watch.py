"""``distlint check --watch``."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import BUGGY, CLEAN, Run

WATCHING = "Watching for changes. Press Ctrl-C to stop.\n"


class Watched:
    """A run that goes on, and what it says."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "distlint", "check", "--watch", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def round(self) -> str:
        """What it says until it watches again."""
        said = []
        while not said or said[-1] != WATCHING:
            said.append(self.lines.get(timeout=30))
        return "".join(said)

    def end(self) -> int:
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(timeout=30)


@pytest.fixture
def watched(project: Path) -> Iterator[Watched]:
    (project / "pkg").mkdir()
    (project / "pkg" / "train.py").write_text(CLEAN)
    (project / "helper.py").write_text("")
    run = Watched("pkg", "--output-format", "concise")
    try:
        assert "No findings" in run.round()
        yield run
    finally:
        if run.process.poll() is None:
            os.killpg(run.process.pid, signal.SIGKILL)
            run.process.wait()


@pytest.mark.campaign
def test_every_change_is_seen(project: Path, watched: Watched) -> None:
    (project / "pkg" / "train.py").write_text(BUGGY)
    assert "DST101" in watched.round()
    (project / "pkg" / "distlint.toml").write_text('ignore = ["DST101"]\n')
    assert "No findings (checked 1 file)" in watched.round()
    (project / "pkg" / "distlint.toml").write_text("selct = []\n")
    assert "unknown key `selct`" in watched.round()
    (project / "pkg" / "distlint.toml").write_text("preview = 1\n")
    assert "`preview` must be true or false" in watched.round()
    (project / "pkg" / "distlint.toml").unlink()
    assert "DST101" in watched.round()
    (project / "pkg" / "new.py").write_text(CLEAN)
    assert "checked 2 files" in watched.round()
    (project / "helper.py").write_text("x = 1\n")  # what is imported lies outside what is named
    assert "checked 2 files" in watched.round()
    assert watched.end() == 130


def test_what_a_configuration_extends_is_watched(project: Path, watched: Watched) -> None:
    shared = project.parent / f"{project.name}-shared.toml"
    shared.write_text("")
    (project / "distlint.toml").write_text(f'extend = "{shared}"\n')
    (project / "pkg" / "train.py").write_text(BUGGY)
    assert "DST101" in watched.round()
    shared.write_text('ignore = ["DST101"]\n')
    assert "No findings (checked 1 file)" in watched.round()
    assert watched.end() == 130


def test_it_rests_while_nothing_changes(project: Path, watched: Watched) -> None:
    (project / "notes.md").write_text("no Python")
    with pytest.raises(queue.Empty):
        watched.lines.get(timeout=1.5)


def test_a_configuration_that_is_broken_from_the_start(project: Path) -> None:
    (project / "distlint.toml").write_text("selct = []\n")
    (project / "train.py").write_text(CLEAN)
    run = Watched("train.py")
    assert "unknown key `selct`" in run.round()
    (project / "distlint.toml").write_text("")
    assert "No findings" in run.round()
    run.end()


def test_what_does_not_go_together(project: Path, distlint: Run) -> None:
    for arguments in (["--fix"], ["-"]):
        result = distlint("check", "--watch", *arguments)
        assert result.returncode == 2
        assert "--watch cannot be combined with --fix or standard input" in result.stderr


@pytest.mark.parametrize("paths", [["missing.py"], [".", "missing"], ["a\0b.py"]])
def test_a_path_that_does_not_exist_is_refused(
    project: Path, distlint: Run, paths: list[str]
) -> None:
    result = distlint("check", "--watch", *paths)
    assert result.returncode == 2
    assert result.stderr.startswith("distlint: ")
    assert "Watching" not in result.stderr
