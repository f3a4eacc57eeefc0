"""The analyser against the oracle on random scripts, with a fixed seed."""

from __future__ import annotations

from benchmarks.random_programs.campaign import run

SEED = 1
PROGRAMS = 800
MOST_OVER_BUDGET = PROGRAMS // 100


def test_the_analyser_agrees_with_execution() -> None:
    results = list(run(range(PROGRAMS), seed=SEED, jobs=2, limit=200))
    wrong = {
        each.number: f"--seed {SEED} --show {each.number}: {each.expected}, found {each.found}"
        for each in results
        if each.wrong
    }
    assert not wrong, "\n".join(wrong.values())
    assert sum(each.found == "over-budget" for each in results) <= MOST_OVER_BUDGET
