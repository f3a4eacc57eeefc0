"""Refactorings that keep a script's meaning keep its verdict."""

from __future__ import annotations

from collections import Counter

from benchmarks.refactorings import REFACTORINGS, compare

SEED = 2
PROGRAMS = 60


def test_verdicts_survive_refactoring() -> None:
    counts: Counter[str] = Counter()
    changes = [
        f"script {change.number}, {change.refactoring}: {change.before} -> {change.after}"
        for change in compare(range(PROGRAMS), SEED, counts)
    ]
    assert not changes, "\n".join(changes)
    assert set(counts) == {each.__name__ for each in REFACTORINGS}
