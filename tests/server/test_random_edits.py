"""Whatever an editor does, it shows what a fresh check of its texts says."""

from __future__ import annotations

import pytest

from tests.support import Lazy

random_edits = Lazy("tests.server.random_edits")


@pytest.mark.parametrize("seed", range(3))  # each has another of the three encodings
@pytest.mark.campaign
def test_diagnostics_are_those_of_a_fresh_check(seed: int) -> None:
    random_edits.run(seed, steps=10, rounds=3)
