"""The analyser against the oracle on random scripts, with a fixed seed."""

from __future__ import annotations

from benchmarks.random_programs.campaign import run

SEED = 1
PROGRAMS = 2_000


def test_the_analyser_agrees_with_execution() -> None:
    results = list(run(range(PROGRAMS), seed=SEED, jobs=2, limit=200))
    wrong = [
        f"python -m benchmarks.random_programs --seed {SEED} --first {each.number} --programs 1: "
        f"{each.expected}, but found {each.found}"
        for each in results
        if each.wrong
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(each.found == "over-budget" for each in results) <= PROGRAMS / 1000
