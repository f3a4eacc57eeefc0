"""Completion, asked of the shells themselves where they are installed."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from distlint.cli import COMMANDS
from tests.cli.conftest import Run

CASES = [
    (["ch"], "check"),
    (["check", "--output-fo"], "--output-format"),
    (["check", "--output-format", "sar"], "sarif"),
    (["check", "--fail-on", "warn"], "warning"),
    (["check", "--select", "unsynced-b"], "unsynced-break"),
    (["check", "tra"], "train.py"),
    (["check", "--add-ignores", "tra"], "train.py"),
    (["rule", "DST10"], "DST101"),
    (["config", "extend-sel"], "extend-select"),
    (["completion", "fi"], "fish"),
]


def needs(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


@pytest.fixture
def script(project: Path, distlint: Run, request: pytest.FixtureRequest) -> Path:
    """The script of a shell, in a folder with a file to complete."""
    (project / "train.py").write_text("")
    result = distlint("completion", request.param)
    assert result.returncode == 0
    (project / "completion").write_text(result.stdout)
    return project / "completion"


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(("typed", "expected"), CASES)
def test_bash(script: Path, typed: list[str], expected: str) -> None:
    words = " ".join(["distlint", *typed])
    asked = (
        "compopt() { :; }\n"  # works only while the shell itself completes
        f"source {script}\nCOMP_WORDS=({words})\nCOMP_CWORD={len(typed)}\n"
        '_distlint\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    result = subprocess.run(
        [needs("bash"), "--norc", "-c", asked], capture_output=True, text=True, check=True
    )
    assert expected in result.stdout.splitlines()
    assert result.stderr == ""


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["check", "--select", "DST101,unsynced-b"], "DST101,unsynced-break"),
        (["check", "--output-format", "=", "sar"], "sarif"),
    ],
)
def test_bash_lists_and_equal_signs(script: Path, words: list[str], expected: str) -> None:
    test_bash(script, words, expected)


@pytest.mark.parametrize("script", ["fish"], indirect=True)
@pytest.mark.parametrize(("typed", "expected"), CASES)
def test_fish(script: Path, typed: list[str], expected: str) -> None:
    line = " ".join(["distlint", *typed])
    result = subprocess.run(
        [needs("fish"), "--no-config", "-c", f'source {script}; complete -C "{line}"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert expected in [each.split("\t")[0] for each in result.stdout.splitlines()]
    assert result.stderr == ""


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
@pytest.mark.parametrize(("typed", "expected"), CASES)
def test_zsh(script: Path, typed: list[str], expected: str) -> None:
    """Typed on a terminal: zsh tells nobody else what it completes."""
    pty = pytest.importorskip("pty", reason="terminals of POSIX")
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "PS1": "", "HOME": str(script.parent)}
    with subprocess.Popen(
        [needs("zsh"), "-f", "-i"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(follower)
        try:
            start = f"autoload -U compinit && compinit -u -D; source {script}; echo rea''dy\n"
            os.write(leader, start.encode())
            assert "ready" in shown(leader, "ready")
            os.write(leader, f"distlint {' '.join(typed)}\t".encode())
            assert expected in shown(leader, expected)
        finally:
            process.kill()
            os.close(leader)


def shown(leader: int, until: str) -> str:
    """What a terminal shows until a text appears, or ten seconds have gone."""
    text = ""
    end = time.monotonic() + 10
    while until not in text and time.monotonic() < end:
        if select.select([leader], [], [], 0.2)[0]:
            text += os.read(leader, 4096).decode(errors="replace").replace("\a", "")
    return text


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_every_command_is_known(shell: str, distlint: Run) -> None:
    script = distlint("completion", shell).stdout
    assert all(name in script for name in COMMANDS)
