"""Decisions on values that were joined of several ways: found, or said not to be settled."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.rules.find import find
from distlint.rules.found import Found
from distlint.source.document import Document
from distlint.source.incomplete import Reason
from tests.analyzer.early_stops import CASES, script

BEYOND = ("dict", "subtract")
"""What comes out differently only after more turns than are followed."""


def checked(source: str) -> Found:
    path = Path("/nowhere/train.py")
    return find(Document.from_bytes(source.encode(), path), Project(path.parent))


def hangs(found: Found) -> list[str]:
    return [each.code for each in found.findings if each.code.startswith("DST1")]


@pytest.mark.parametrize("name", [name for name in CASES if name not in BEYOND])
def test_a_patience_on_the_loss_of_each_rank_is_found(name: str) -> None:
    assert hangs(checked(script(name)))


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_not_settled_is_said(name: str) -> None:
    found = checked(script(name))
    assert not hangs(found)
    (incomplete,) = found.incomplete
    assert incomplete.function == "main"
    assert not {Reason.UNCONFIRMED, Reason.BUDGET}.isdisjoint(incomplete.reasons)


@pytest.mark.xfail(strict=True, reason="a count that ranks differ in after two turns only")
@pytest.mark.parametrize("name", BEYOND)
def test_a_count_of_many_turns_is_found(name: str) -> None:
    assert hangs(checked(script(name)))


@pytest.mark.parametrize("name", CASES)
def test_a_loss_that_was_reduced_is_no_reason(name: str) -> None:
    found = checked(script(name, agreed=True))
    assert not hangs(found)
    assert not found.incomplete
