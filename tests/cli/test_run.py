"""``distlint run``: its options, what it starts, and what it tells those that it starts."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from distlint import cli
from distlint.cli import run

Captured = pytest.CaptureFixture[str]

BUGGY = """\
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.barrier()
"""


class Process:
    """Stands in for the launcher."""

    status = 0
    notes: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    findings: object = None
    env: dict[str, str]

    def __init__(self, command: list[str], env: dict[str, str], **more: object) -> None:
        kind = type(self)
        kind.command, kind.env = tuple(command), env
        if run.FINDINGS in env:
            kind.findings = json.loads(Path(env[run.FINDINGS]).read_text())
        for number, status in enumerate(self.notes):
            (Path(env[run.FOLDER]) / f"{number}.status").write_text(status)

    def wait(self, timeout: float | None = None) -> int:
        return self.status


@pytest.fixture
def process(project: Path, monkeypatch: pytest.MonkeyPatch) -> type[Process]:
    """A script ``train.py`` with a bug, and a launcher that starts nothing."""
    (project / "train.py").write_text(BUGGY)
    kind = type("Started", (Process,), {})
    monkeypatch.setattr(subprocess, "Popen", kind)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return kind


def test_the_command(process: type[Process]) -> None:
    assert cli.main(["run", "-n", "3", "train.py", "--watch", "-n", "9"]) == 0
    assert process.command == (
        *(sys.executable, "-m", "distlint.runtime.agent", "--standalone", "--nproc-per-node=3"),
        *("-m", "distlint.runtime.launch", "train.py", "--watch", "-n", "9"),
    )
    assert run.WATCH not in process.env
    assert process.findings is None


def test_the_watch_is_handed_the_findings(process: type[Process]) -> None:
    options = ["--patience", "2.5", "--timeout", "60", "--watch"]
    assert cli.main(["run", *options, "train.py"]) == 0
    assert process.env[run.WATCH] == "1"
    assert process.env[run.PATIENCE] == "2.5"
    assert process.env[run.TIMEOUT] == "60.0"
    (finding,) = process.findings  # type: ignore[misc,attr-defined]
    assert finding["code"] == "DST101"
    assert finding["file"] == str(Path("train.py").absolute())
    assert finding["line"] == 4
    assert [finding["file"], 5] in finding["related"]


def test_the_strict_watch(process: type[Process]) -> None:
    assert cli.main(["run", "--watch=strict", "train.py", "strict"]) == 0
    assert process.env[run.WATCH] == "strict"
    assert process.command[-2:] == ("train.py", "strict")


def test_the_help_says_that_a_level_is_optional(capsys: Captured) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["run", "--help"])
    assert "--watch [=strict] " in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--watch", "--watch=on"])
def test_a_level_of_the_watch_may_be_left_out(process: type[Process], option: str) -> None:
    assert cli.main(["run", option, "train.py"]) == 0
    assert process.env[run.WATCH] == "1"


@pytest.mark.parametrize(
    ("launcher", "notes", "status"),
    [
        (0, ("0", "0"), 0),
        (1, ("0", "7"), 7),
        (1, (), 1),
        (-9, (), 137),
    ],
)
def test_the_status(
    process: type[Process], launcher: int, notes: tuple[str, ...], status: int
) -> None:
    process.status, process.notes = launcher, notes
    assert cli.main(["run", "train.py"]) == status


def test_a_gpu_each(process: type[Process], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,2,5")
    assert cli.main(["run", "train.py"]) == 0
    assert "--nproc-per-node=3" in process.command


def test_no_such_script(project: Path, capsys: Captured) -> None:
    assert cli.main(["run", "nowhere.py"]) == 2
    assert capsys.readouterr().err == "distlint: no such script: nowhere.py\n"


def test_without_torch(
    process: type[Process], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cli.main(["run", "train.py"]) == 2
    assert "requires torch" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-n", "0"], "invalid number of processes: 0"),
        (["--patience", "soon"], "invalid number of seconds: soon"),
        (["--timeout", "-1"], "invalid number of seconds: -1"),
        (["--watch=loose"], "invalid choice: 'loose'"),
    ],
)
def test_bad_options(options: list[str], message: str, project: Path, capsys: Captured) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["run", *options, "train.py"])
    assert message in capsys.readouterr().err
