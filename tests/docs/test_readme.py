"""What a newcomer types from the README, in a fresh clone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.blocks import Step, blocks, shell, steps
from tests.support import ROOT

README = ROOT / "README.md"


def first_steps() -> list[Step]:
    """The commands under "Use"."""
    text = README.read_text("utf-8")
    start = text.count("\n", 0, text.index("\n## Use\n"))
    end = text.count("\n", 0, text.index("\n## Where it runs\n"))
    return [
        step
        for block in blocks(README)
        if start < block.line < end and block.language == "console"
        for step in steps(block)
    ]


@pytest.mark.campaign
@pytest.mark.parametrize("step", first_steps(), ids=lambda step: step.command)
def test_a_command_works_in_a_clone(step: Step, tmp_path: Path) -> None:
    """Without a train.py, without files that an earlier command has made."""
    assert step.reason is None
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    result = shell(step.command, tmp_path)
    assert result.returncode in (0, 1), result.stderr
    assert "error:" not in result.stderr
    assert result.stdout


def test_the_first_steps_are_found() -> None:
    commands = {step.command.split()[1] for step in first_steps()}
    assert commands >= {"check", "fix", "trace", "rule", "init", "vendor"}
