"""Repairs of random scripts keep their promises; `python -m benchmarks.repairs` runs many more."""

from __future__ import annotations

from benchmarks.repairs import run

SEED = 5
PROGRAMS = 80


def test_nothing_is_lost_and_nothing_hangs() -> None:
    results = list(run(range(PROGRAMS), seed=SEED, jobs=1))
    assert [each for each in results if each.wrong or each.verdict.startswith("invalid")] == []
    assert sum(each.verdict == "aligned" for each in results) >= 5
