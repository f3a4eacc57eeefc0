"""The analyser against the oracle on random scripts, with a fixed seed."""

from __future__ import annotations

import pytest

from benchmarks.random_programs.campaign import run

pytestmark = pytest.mark.campaign

SEED = 1
PROGRAMS = 2000
CHUNK = 100
OVER_BUDGET = frozenset({82, 456})
"""Scripts of which the analyser gives up, for all that it finds in them: one in a thousand."""


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_the_analyser_agrees_with_execution(first: int) -> None:
    results = list(run(range(first, first + CHUNK), seed=SEED, limit=200))
    wrong = {
        each.number: f"--seed {SEED} --show {each.number}: {each.expected}, found {each.found}"
        for each in results
        if each.wrong
    }
    assert not wrong, "\n".join(wrong.values())
    given_up = {each.number for each in results if each.found == "over-budget"}
    assert given_up <= OVER_BUDGET
