"""The program as its users start it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from distlint.cli import main

BUGGY = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(1)
if dist.get_rank() == 0:
    dist.all_reduce(x)
"""
CLEAN = BUGGY.replace("dist.get_rank() == 0", "x.dim() == 1")


@dataclass(frozen=True)
class Result:
    """What a run leaves behind."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def distlint(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs the command line in this process."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Result:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            try:
                status = main(arguments)
            except SystemExit as exit_:  # how argparse refuses
                status = int(exit_.code or 0)
        output, errors = capsys.readouterr()
        return Result(status, output, errors)

    return run


@pytest.fixture
def process(project: Path) -> Run:
    """Runs the command line in a process of its own."""

    def run(*arguments: str, **environment: str) -> Result:
        result = subprocess.run(
            [sys.executable, "-m", "distlint", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, **environment},
            check=False,
        )
        return Result(result.returncode, result.stdout, result.stderr)

    return run
