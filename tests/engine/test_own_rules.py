"""The rules of the engine itself report their bad examples and nothing in their good ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.run import check_stdin
from distlint.engine.settings import Resolver
from distlint.rules.base import Example
from distlint.rules.registry import rules
from tests.support import expected

OWN = [rules()["DST000"], rules()["DST001"]]


def found(example: Example) -> list[tuple[int, str]]:
    report = check_stdin(example.code.encode(), Path("example.py"), Resolver())
    return [(finding.place.span.row, finding.code) for finding in report.findings]


@pytest.mark.parametrize("example", [e for rule in OWN for e in rule.good], ids=lambda e: e.title)
def test_good(project: Path, example: Example) -> None:
    assert found(example) == []


@pytest.mark.parametrize("example", [e for rule in OWN for e in rule.bad], ids=lambda e: e.title)
def test_bad(project: Path, example: Example) -> None:
    assert found(example) == expected(example.code)
