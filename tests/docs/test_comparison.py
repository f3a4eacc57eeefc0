"""The table of other tools: what it says of distlint rests on tests that exist."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver
from tests.support import ROOT

PAGE = ROOT / "docs" / "comparison.md"
COLUMNS = ["", "ruff", "Fixit", "TorchFix", "pylint", "flake8", "semgrep", "distlint"]


def table() -> list[list[str]]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def rows() -> list[list[str]]:
    return [row for row in table() if row[0].startswith("**")]


def test_every_row_has_every_tool() -> None:
    assert table()[0] == COLUMNS
    assert len(rows()) >= 29
    for row in rows():
        assert len(row) == len(COLUMNS), row[0]
        assert all(row), row[0]


@lru_cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{m.name}" for m in node.body if isinstance(m, ast.FunctionDef)}
    return frozenset(found)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0].strip("*"))
def test_what_is_said_of_distlint_is_tested(row: list[str]) -> None:
    text, comment = re.fullmatch(r"(.*?) <!-- (.*) -->", row[-1]).groups()  # type: ignore[union-attr]
    if comment.startswith("none: "):
        assert text.startswith("not yet")
        return
    for name in comment.split():
        file, _, test = name.partition("::")
        assert test.rpartition("::")[2].startswith("test_")
        assert test in names_in(file), name


def test_the_five_bugs_are_reported() -> None:
    file = ROOT / "tests" / "docs" / "five_bugs.py"
    report = check_paths([file], Resolver(Overrides(isolated=True, preview=True)))
    found = {finding.code for finding in report.findings}
    assert {"DST101", "DST102", "DST201", "DST301", "DST401"} <= found
