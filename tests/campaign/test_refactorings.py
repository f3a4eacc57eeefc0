"""Refactorings that keep a script's meaning keep its verdict."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import pytest

from benchmarks.refactorings import REFACTORINGS, compare

SEED = 2
PROGRAMS = 20


def compared(numbers: range) -> tuple[list[str], Counter[str]]:
    counts: Counter[str] = Counter()
    changes = [
        f"script {change.number}, {change.refactoring}: {change.before} -> {change.after}"
        for change in compare(numbers, SEED, counts)
    ]
    return changes, counts


@pytest.mark.campaign
def test_verdicts_survive_refactoring() -> None:
    with ProcessPoolExecutor(2) as pool:
        halves = list(pool.map(compared, [range(0, PROGRAMS, 2), range(1, PROGRAMS, 2)]))
    changes = [change for found, _ in halves for change in found]
    assert not changes, "\n".join(changes)
    assert set().union(*(counts for _, counts in halves)) == {
        each.__name__ for each in REFACTORINGS
    }
