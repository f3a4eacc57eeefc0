"""Decisions on values that were joined of several paths: found, or reported as not settled."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.analyzer.symbolic import rank_execution
from distlint.rules.find import find
from distlint.rules.found import Found
from distlint.source.document import Document
from distlint.source.incomplete import Reason
from tests.analyzer.early_stops import CASES, script


def checked(source: str) -> Found:
    path = Path("/nowhere/train.py")
    return find(Document.from_bytes(source.encode(), path), Project(path.parent))


def hangs(found: Found) -> list[str]:
    return [each.code for each in found.findings if each.code.startswith("DST1")]


@pytest.mark.parametrize("name", CASES)
def test_a_patience_on_the_loss_of_each_rank_is_found(name: str) -> None:
    assert hangs(checked(script(name)))


def test_what_is_not_settled_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_execution, "MAX_QUESTIONS", 0)
    found = checked(script("subtract"))
    assert not hangs(found)
    (incomplete,) = found.incomplete
    assert incomplete.function == "main"
    assert Reason.UNCONFIRMED in incomplete.reasons


@pytest.mark.parametrize("name", CASES)
def test_a_loss_that_was_reduced_is_no_reason(name: str) -> None:
    found = checked(script(name, agreed=True))
    assert not hangs(found)
    assert not found.incomplete
