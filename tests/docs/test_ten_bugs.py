"""The page of ten bugs: each snippet is reported as it says, and each repaired one is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver
from tests.docs.blocks import Block, blocks
from tests.support import ROOT

PAGE = ROOT / "docs" / "ten-bugs.md"
SNIPPETS = [block for block in blocks(PAGE) if block.language == "python"]
CODES = re.findall(r"^Reported as \[(DST\d{3}) ", PAGE.read_text("utf-8"), re.MULTILINE)


def reported(block: Block, folder: Path) -> list[str]:
    """The codes of a reader who has configured nothing."""
    file = folder / "train.py"
    file.write_text(block.text, "utf-8")
    report = check_paths([file], Resolver(Overrides(isolated=True)))
    return [finding.code for finding in report.findings]


def test_there_are_ten() -> None:
    assert len(CODES) == len(set(CODES)) == 10
    assert [block.title is None for block in SNIPPETS] == [False, True] * 10


@pytest.mark.parametrize(("block", "code"), list(zip(SNIPPETS[::2], CODES, strict=True)), ids=str)
def test_a_bug_is_reported(block: Block, code: str, tmp_path: Path) -> None:
    assert reported(block, tmp_path) == [code]
    assert 4 <= len([line for line in block.text.splitlines() if line.strip()]) <= 12


@pytest.mark.parametrize("block", SNIPPETS[1::2], ids=str)
def test_its_repair_is_not(block: Block, tmp_path: Path) -> None:
    assert reported(block, tmp_path) == []
