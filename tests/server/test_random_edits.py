"""Whatever an editor does, it shows what a fresh check of its texts says."""

from __future__ import annotations

import pytest

from tests.server.random_edits import ENCODINGS, run


@pytest.mark.parametrize("seed", range(len(ENCODINGS)))  # which each has another encoding
@pytest.mark.campaign
def test_diagnostics_are_those_of_a_fresh_check(seed: int) -> None:
    run(seed, steps=10, rounds=3)
